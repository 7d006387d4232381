import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Resolver } from '../dns/index.js'

/** Publishes a record; rejects with an AcmeProblem that says why it could not. */
export type PublishRecord = (
  change: 'add' | 'remove',
  record: string,
  value: string,
) => Promise<void>

export interface DnsRecordsDeps {
  config: Pick<Config, 'tls'>
  clock: Clock
  resolver: Resolver
  signal: AbortSignal
}

/** RFC 8555 §8.4: the name at which the directory looks. */
export const recordOf = (name: string) => `_acme-challenge.${name}`
