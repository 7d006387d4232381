import { pause } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { programOf } from './dns-hook.js'
import { type DnsRecordsDeps, recordOf } from './dns-record.js'
import { updatesOf } from './dns-update.js'
import type { WantedName } from './names.js'

/** Publishes and removes the records by which DNS-01 (RFC 8555 §8.4) proves a name. */
export interface DnsRecords {
  add(name: string, value: string): Promise<void>
  remove(name: string, value: string): Promise<void>
}

/**
 * The operator's own names, where Posthorn can write into the operator's zones. It never writes into customers' zones.
 */
export const isByDns = ({ tls }: Pick<Config, 'tls'>, { domain }: WantedName): boolean =>
  (tls.dnsHook !== '' || tls.dnsServer !== '') && domain === undefined

// How long to look for the published record; then the directory is asked all the same.
const publishedWithinMs = 30_000
const lookEveryMs = 2_000

/** Uses the program of `tls.dns_hook`, or updates to `tls.dns_server`. */
export function makeDnsRecords(deps: DnsRecordsDeps): DnsRecords {
  const { config, clock, resolver, signal } = deps
  const publish = config.tls.dnsServer === '' ? programOf(deps) : updatesOf(deps)
  return {
    async add(name, value) {
      await publish('add', recordOf(name), value)
      const until = clock.now() + publishedWithinMs
      while (clock.now() < until && !signal.aborted) {
        const found = await resolver.txt(recordOf(name))
        if (found.kind === 'records' && found.records.some((one) => one === value)) return
        await pause(clock, lookEveryMs, signal)
      }
    },
    remove: (name, value) => publish('remove', recordOf(name), value),
  }
}
