import type { Claimed } from '../../deliveries/index.js'
import type { Offered, Relay, Relays } from '../egress/index.js'
import { envelopeOf, type Prepare } from './prepare.js'
import type { AttemptResult } from './result.js'

/** Offers one mail to the smart hosts, where room was taken at this one. */
export type SendBySmartHost = (claimed: Claimed, relay: Relay) => Promise<AttemptResult>

/** `relays` undefined: there is no smart host, and nothing leads here. */
export function makeSendBySmartHost(relays: Relays | undefined, prepare: Prepare): SendBySmartHost {
  return async (claimed, relay) => {
    if (relays === undefined) throw new Error('A relay without relays')
    const { composed, done } = await prepare(claimed)
    const envelope = envelopeOf(claimed, composed)
    return resultOf(
      await relays.deliver(relay, claimed.class, envelope, composed.message).finally(done),
    )
  }
}

/**
 * A smart host that takes a mail has only promised to try (RFC 5321 §6.1 makes it responsible): the
 * mail is `relayed` and not delivered.
 */
const kinds = {
  relayed: 'relayed',
  bounced: 'bounced',
  'not taken': 'deferred',
  'in doubt': 'deferred',
} as const

/**
 * In doubt means that the connection broke after the final dot. The mail may have been taken, so it
 * is tried again with the same Message-ID.
 */
function resultOf({ verdict, reply, remote, tls, site, ...offered }: Offered): AttemptResult {
  const transcript = `${remote}:\n${offered.transcript}`
  const doubt = verdict === 'in doubt'
  const cause = doubt ? 'in-doubt' : undefined
  return {
    kind: kinds[verdict],
    doubt,
    cause,
    reply,
    remote,
    tls,
    transcript,
    site,
    failover: true,
  }
}
