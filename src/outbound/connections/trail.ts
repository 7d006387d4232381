import type { ConnectFailure, SendResult } from '../../smtp/index.js'
import type { TlsDemand } from '../tls-policy/index.js'
import type { Host } from './connect-host.js'
import type { SessionTarget } from './session.js'

/**
 * What one attempt has done so far: the hosts that did not take the mail, and how far its bounds are used up.
 *
 *   host ──no connection, no session──▶ the next one
 *     └──session──▶ mail ──taken, refused with 5yz, or lost after the final dot──▶ the attempt ends
 *                    └──put off with 4yz, lost before, declined by EHLO──▶ the next one
 */
export interface Trail {
  /** Addresses that failed this mail in earlier attempts, the longest ago first. They are tried last. */
  readonly earlier: readonly string[]
  readonly failed: FailedHost[]
  /** Connections that were opened for the attempt. */
  connections: number
  /** Hosts that left us waiting in vain. */
  silent: number
  /** Hosts that were offered the mail and did not take it. */
  offered: number
}

/** A host that did not take the mail. */
interface FailedHost extends Host {
  how: 'unreached' | 'TLS' | 'put off'
}

/** A host to try, and what it must prove. */
export interface Candidate extends Host {
  demand: TlsDemand
}

// RFC 5321 §5.1: each address in turn until one takes the mail. The bounds are Postfix's (smtp_mx_address_limit,
// smtp_mx_session_limit): each wait for a host may last for minutes.
const maxConnections = 5
const maxSilent = 2
const maxOffered = 2
// A route has fifty addresses at most; nearly all have five.
const maxRemembered = 20

/** An attempt at its beginning. */
export const makeTrail = (earlier: readonly string[]): Trail => ({
  earlier,
  failed: [],
  connections: 0,
  silent: 0,
  offered: 0,
})

/** Whether the attempt is over, whichever hosts are left. */
export const isSpent = ({ connections, silent, offered }: Trail) =>
  connections >= maxConnections || silent >= maxSilent || offered >= maxOffered

/** The hosts that may have the mail, in the order to try them. */
export function candidatesOf(
  { hosts, demandOf }: Pick<SessionTarget, 'hosts' | 'demandOf'>,
  { earlier }: Trail,
): Candidate[] {
  const all: Candidate[] = []
  for (const { exchange, addresses } of hosts) {
    const demand = demandOf(exchange)
    if (demand === undefined) continue
    for (const address of addresses) all.push({ exchange, address, demand })
  }
  if (earlier.length === 0) return all
  const turnOf = ({ address }: Candidate) => earlier.indexOf(address)
  return all.sort((a, b) => turnOf(a) - turnOf(b))
}

/**
 * Whether an address is yet to be tried. One at which TLS alone has failed may have another certificate under
 * another name (RFC 6066 §3).
 */
export const isLeft = ({ failed }: Trail, { exchange, address }: Host) =>
  !failed.some((one) => one.address === address && (one.exchange === exchange || one.how !== 'TLS'))

/** A host gave no session. */
export function noSession(trail: Trail, host: Host, failure: ConnectFailure): void {
  const { phase, reply, tlsFailed } = failure
  if (phase !== 'connect' && reply === undefined) trail.silent++
  trail.failed.push({ ...host, how: tlsFailed ? 'TLS' : 'unreached' })
}

/** A host gave a session but did not take the mail, or nobody knows whether it did. */
export function putOff(trail: Trail, { exchange, address }: Host, sent: SendResult): void {
  // A mail that the host's EHLO declined was not offered to it.
  if (sent.kind === 'lost' || sent.local !== true) trail.offered++
  if (sent.kind === 'lost' && sent.code === 'ETIMEDOUT') trail.silent++
  trail.failed.push({ exchange, address, how: 'put off' })
}

/** Whether this mail's sessions are with hosts that other mail would not begin with. */
export const isOffTheTrack = ({ earlier, failed }: Trail) =>
  earlier.length > 0 || failed.some(({ how }) => how === 'put off')

/**
 * `earlier` of the next attempt: hosts that put the mail off come last, so that another host is tried next time.
 */
export function behindNextTime({ earlier, failed }: Trail): string[] {
  const put = failed.filter(({ how }) => how === 'put off')
  const now = [...failed.filter(({ how }) => how !== 'put off'), ...put]
  const addresses = [...earlier, ...now.map(({ address }) => address)]
  return addresses.filter((one, i) => addresses.lastIndexOf(one) === i).slice(-maxRemembered)
}
