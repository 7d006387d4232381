import type { MxHost } from '../../dns/index.js'
import { failureText } from '../outcome.js'
import { bindTo, type EgressSource } from '../routing/index.js'
import { type ConnectFrom, type ConnectHost, inTheClear } from './connect-host.js'
import type { NotAcquired, SessionTarget, SmtpSession } from './session.js'

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

/** What opening a session needs beside its target. */
export interface OpenOptions {
  /** The port of the recipients' servers. */
  port: number
  connectHost: ConnectHost
  /** Aborted when all is broken off. */
  signal: AbortSignal
}

// RFC 5321 §5.1: each address in turn until one takes the mail (the route has five at most). A server
// that says no at once costs little; of those that leave us waiting Postfix's ceiling is two.
const maxSilent = 2

/** Opens a session with the first host that answers and meets its demand: in turn, one socket at a time. */
export async function openSession(
  target: SessionTarget,
  { port, connectHost, signal }: OpenOptions,
): Promise<OpenedSession | NotAcquired> {
  const { source, hosts, demandOf } = target
  const before: string[] = []
  let silent = 0
  let last: NotAcquired | undefined
  for (const { exchange, addresses } of hosts) {
    const demand = demandOf(exchange)
    if (demand === undefined) continue
    for (const address of addresses) {
      const remote = `${exchange} [${address}]`
      const from = fromSource(target, address, port)
      // Another address than the source's own would be one that nobody expects mail from.
      if (from === undefined) continue
      target.goesTo?.(address)
      if (last !== undefined) before.push(`${last.remote}: ${failureText(last.failure)}`)
      const result = await connectHost({ exchange, address }, from, demand, before)
      target.tried?.({ exchange, address, demand, result, clear: result.clear })
      if (result.kind === 'ready') {
        const { connection, clear: tlsFailed, localAddress } = result
        const of = { connection, remote, exchange, address, demand, before }
        return { ...of, tlsFailed, localAddress }
      }
      last = { failure: result, remote, demand, before }
      if (result.phase !== 'connect' && result.reply === undefined) silent++
      const isOver = signal.aborted || target.cut?.why !== undefined
      if (silent >= maxSilent || isOver) return last
    }
  }
  return last ?? noneOfFamily(source, hosts)
}

/** Undefined: the source has no address of the family. */
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
