import type { MxHost } from '../../dns/index.js'
import { failureText } from '../outcome.js'
import { bindTo, type EgressSource } from '../routing/index.js'
import { type ConnectFrom, type HostConnector, inTheClear } from './connect-host.js'
import type { InTheClear, NotAcquired, SessionTarget, SmtpSession } from './session.js'
import { type Candidate, candidatesOf, isLeft, isSpent, noSession, type Trail } from './trail.js'

/** What is known of a session that was just opened. */
export type OpenedSession = Pick<
  SmtpSession,
  | 'connection'
  | 'remote'
  | 'exchange'
  | 'address'
  | 'demand'
  | 'before'
  | 'tlsFailed'
  | 'localAddress'
>

/** A host that is to be tried in the clear, and why. */
export interface ClearCandidate extends Candidate {
  clear: InTheClear
}

/** What opening a session needs beside its target. */
export interface OpenOptions {
  /** The port of the recipients' servers. */
  port: number
  hostConnector: HostConnector
  /** Aborted when all is broken off. */
  signal: AbortSignal
}

/**
 * Opens a session with the first host left that answers and meets its demand. Hosts are tried in turn, one socket at
 * a time. `inClear`: only that host is tried, in the clear. Undefined: no host is left.
 */
export async function openSession(
  target: SessionTarget,
  { port, hostConnector, signal }: OpenOptions,
  trail: Trail,
  inClear?: ClearCandidate,
): Promise<OpenedSession | NotAcquired | undefined> {
  const { source, hosts } = target
  const before: string[] = []
  let last: NotAcquired | undefined
  for (const candidate of inClear ? [inClear] : candidatesOf(target, trail)) {
    const { exchange, address, demand } = candidate
    if (!isLeft(trail, candidate)) continue
    const remote = `${exchange} [${address}]`
    const from = fromSource(target, address, port)
    // Nobody expects mail from an address that is not the source's own.
    if (from === undefined) continue
    target.goesTo?.(address)
    if (last !== undefined) before.push(`${last.remote}: ${failureText(last.failure)}`)
    const host = { exchange, address }
    const result = await hostConnector.connect(host, from, demand, before, inClear?.clear)
    trail.connections++
    target.tried?.({ exchange, address, demand, result, clear: result.clear })
    if (result.kind === 'ready') {
      const { connection, clear: tlsFailed, localAddress } = result
      const of = { connection, remote, exchange, address, demand, before }
      return { ...of, tlsFailed, localAddress }
    }
    noSession(trail, host, result)
    last = { failure: result, remote, demand, before }
    const isOver = signal.aborted || target.cut?.why !== undefined
    if (isSpent(trail) || isOver) return last
  }
  return last ?? (trail.failed.length > 0 ? undefined : noneOfFamily(source, hosts))
}

/** The source's address of the family; undefined when it has none. */
function fromSource(
  { source, inside, cut, deadlines }: SessionTarget,
  address: string,
  port: number,
): ConnectFrom | undefined {
  const bind = inside ? {} : bindTo(source, address)
  if (bind === undefined) return undefined
  const { heloName } = source
  const of = { ...bind, heloName, port: inside?.port ?? port, cut }
  return deadlines === undefined ? of : { ...of, deadlines }
}

/** The failure where the source has no address from which these hosts could be reached. */
function noneOfFamily(source: EgressSource, hosts: readonly MxHost[]): NotAcquired {
  const [host = { exchange: '', addresses: [] }] = hosts
  const cause = `${source.addresses.join(' and ')} cannot reach ${host.addresses.join(', ')}`
  return {
    failure: { kind: 'failed', phase: 'connect', cause, transient: true, transcript: '' },
    remote: host.exchange,
    demand: inTheClear,
    before: [],
  }
}
