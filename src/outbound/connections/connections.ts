import { setMaxListeners } from 'node:events'
import type { Clock } from '../../clock/index.js'
import type { MxHost } from '../../dns/index.js'
import type { Log } from '../../log/index.js'
import {
  type ConnectFailure,
  type ConnectResult,
  connectSmtp,
  type Deadlines,
  type SmtpConnection,
} from '../../smtp/index.js'
import { failureText } from '../outcome.js'
import type { InsideServer } from '../routing/index.js'
import { bindTo, type EgressSource } from '../routing/index.js'
import {
  failureBy,
  meets,
  type TlsDemand,
  type TlsFailure,
  tlsOptions,
} from '../tls-policy/index.js'
import type { ConnectionSlot, ConnectionSlots } from './connection-slots.js'

/** A session with one of a site's hosts, in use by one delivery at a time. */
export interface SmtpSession {
  connection: SmtpConnection
  /** `mx.example.com [192.0.2.1]`, for the record. */
  remote: string
  exchange: string
  address: string
  /** Which sessions are alike: same site, same source, same hosts. */
  key: string
  connectionSlot: ConnectionSlot
  maxMessages: number
  /** What it was opened to meet; a delivery with other demands may find that it meets those too. */
  demand: TlsDemand
  /** It has carried a message before: that it turns out closed then says nothing about the site. */
  reused: boolean
  /** What was tried in vain before it, in lines. */
  before: readonly string[]
  /** Why it is in the clear where TLS is offered. */
  tlsFailed: InTheClear | undefined
  localAddress: string | undefined
  /** The domains that it was counted for, beside the one that it was opened for. */
  countedFor: Set<string>
}

/** Why there is no TLS: in words, and as reports tell it. */
export interface InTheClear {
  why: string
  failure: TlsFailure
}

/** What came of one connection to one of the hosts. */
export interface TriedHost {
  exchange: string
  address: string
  demand: TlsDemand
  result: ConnectResult
  /** It was tried without TLS, or opened so, for this. */
  clear?: InTheClear | undefined
}

export interface Connections {
  /**
   * An idle session with one of the hosts that meets what `demandOf` it says, or a new one with the
   * first that answers and does. A host without a demand is not to be used.
   */
  acquire(target: SessionTarget): Promise<Acquired>
  /** Gives a session back after its message; one that is not reusable is ended. */
  release(session: SmtpSession, reusable: boolean): void
  /** Ends idle sessions now and busy ones when they are released. */
  close(): void
  /** Ends everything at once. */
  destroy(): void
}

export interface SessionTarget {
  source: EgressSource
  hosts: readonly MxHost[]
  demandOf(exchange: string): TlsDemand | undefined
  /** Whose limits these are. */
  site: string
  maxConnections: number
  messagesPerConnection: number
  /** Servers of our own: another port, from whichever address. */
  inside?: InsideServer | undefined
  /** Other than the usual ones. */
  deadlines?: Partial<Deadlines> | undefined
  /** Gives up when it is aborted, with its reason. */
  signal?: AbortSignal | undefined
  /** Told each address before it is connected to, and that of an idle session that is taken. */
  goesTo?: ((address: string) => void) | undefined
  /** Told what came of each connection; not of an idle session that is taken. */
  tried?: ((tried: TriedHost) => void) | undefined
}

type OpenedSession = Pick<
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

export type Acquired = { session: SmtpSession } | NotAcquired
/** The last host's failure, and what was demanded of it. */
export interface NotAcquired {
  failure: ConnectFailure
  remote: string
  demand: TlsDemand
  /** Those before it, a line each. */
  before: readonly string[]
}

export interface SessionOptions {
  clock: Clock
  log: Log
  port: number
  connectionSlots: ConnectionSlots
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string
}

// KumoMTA's figure (`notes/mta.md` §1, 7).
const idleMs = 60_000
// RFC 5321 §5.1: each address in turn until one takes the mail (the route has five at most). A server
// that says no at once costs little; of those that leave us waiting Postfix's ceiling is two.
const maxSilent = 2
// How long a host whose TLS is broken is talked to in the clear (KumoMTA).
const plainMs = 3 * 86_400_000
const maxPlainHosts = 10_000
const inTheClear: TlsDemand = { mode: 'off', by: '' }

export function openConnections(options: SessionOptions): Connections {
  const { connectionSlots, ca } = options
  const idle = new Map<string, SmtpSession[]>()
  const idleTimers = new Map<SmtpSession, () => void>()
  const open = new Set<SmtpSession>()
  const plainUntil = new Map<string, InTheClear & { at: number }>()
  const dying = new AbortController()
  // A listener for each connection that is being opened; Node's warning means leaks.
  setMaxListeners(0, dying.signal)
  let closing = false

  const leaveIdle = (session: SmtpSession) => {
    idleTimers.get(session)?.()
    idleTimers.delete(session)
    const waiting = idle.get(session.key)
    const at = waiting?.indexOf(session) ?? -1
    if (waiting === undefined || at < 0) return
    waiting.splice(at, 1)
    if (waiting.length === 0) idle.delete(session.key)
  }
  const end = (session: SmtpSession) => {
    leaveIdle(session)
    session.connectionSlot.leave()
  }
  const takeIdle = (key: string, demandOf: SessionTarget['demandOf']): SmtpSession | undefined => {
    // The one used last: the others may age out.
    const session = idle.get(key)?.findLast(({ connection, demand, exchange }) => {
      return connection.alive && meets({ tls: connection.tls, demand }, demandOf(exchange))
    })
    if (session === undefined) return undefined
    leaveIdle(session)
    session.connectionSlot.inUse()
    return session
  }
  const track = (session: SmtpSession): SmtpSession => {
    open.add(session)
    session.connectionSlot.opened(session.connection)
    // The server may leave first, or its room be needed.
    void session.connection.closed.then(() => {
      leaveIdle(session)
      open.delete(session)
    })
    return session
  }

  const connect = (from: ConnectFrom, address: string, exchange: string, demand: TlsDemand) => {
    return connectSmtp({
      host: address,
      servername: exchange,
      ...from,
      tls: { ...tlsOptions(demand, () => options.clock.now(), exchange), ...(ca && { ca }) },
      signal: dying.signal,
    })
  }

  /** Opportunistic TLS that turns out broken is worth one try without (RFC 7435 §3). */
  const connectHost = async (
    from: ConnectFrom,
    address: string,
    exchange: string,
    demand: TlsDemand,
    before: string[],
  ): Promise<ConnectResult & { clear?: InTheClear }> => {
    // Where anybody asks for TLS there is no way back into the clear.
    if (demand.mode !== 'opportunistic') return await connect(from, address, exchange, demand)
    const now = options.clock.now()
    const plain = plainUntil.get(exchange)
    if (plain !== undefined && plain.at > now) {
      return { ...(await connect(from, address, exchange, inTheClear)), clear: plain }
    }
    const result = await connect(from, address, exchange, demand)
    if (result.kind === 'ready' || result.tlsFailed !== true) return result
    const why = `TLS failed: ${result.cause}`
    const clear = { why, failure: failureBy(result.code, result.cause) }
    before.push(`${exchange} [${address}]: ${why}`, result.transcript)
    const second = await connect(from, address, exchange, inTheClear)
    if (second.kind === 'ready') {
      if (plainUntil.size >= maxPlainHosts) plainUntil.clear()
      plainUntil.set(exchange, { at: now + plainMs, ...clear })
      // Somebody on the way may have broken it on purpose.
      const { phase, cause } = result
      options.log.warn(
        { exchange, address, phase, cause },
        'TLS is broken there, mail goes without',
      )
    }
    return { ...second, clear }
  }

  /** The hosts in turn, one socket at a time. */
  const connectFirst = async (target: SessionTarget): Promise<OpenedSession | NotAcquired> => {
    const { source, hosts, demandOf } = target
    const before: string[] = []
    let silent = 0
    let last: NotAcquired | undefined
    for (const { exchange, addresses } of hosts) {
      const demand = demandOf(exchange)
      if (demand === undefined) continue
      for (const address of addresses) {
        const remote = `${exchange} [${address}]`
        const bind = target.inside ? {} : bindTo(source, address)
        // Another address than the source's own would be one that nobody expects mail from.
        if (bind === undefined) continue
        const port = target.inside?.port ?? options.port
        const { deadlines } = target
        const { heloName } = source
        const from = {
          ...bind,
          heloName,
          port,
          cut: target.signal,
          ...(deadlines && { deadlines }),
        }
        target.goesTo?.(address)
        if (last !== undefined) before.push(`${last.remote}: ${failureText(last.failure)}`)
        const result = await connectHost(from, address, exchange, demand, before)
        target.tried?.({ exchange, address, demand, result, clear: result.clear })
        if (result.kind === 'ready') {
          const { connection, clear: tlsFailed, localAddress } = result
          const of = { connection, remote, exchange, address, demand, before }
          return { ...of, tlsFailed, localAddress }
        }
        last = { failure: result, remote, demand, before }
        if (result.phase !== 'connect' && result.reply === undefined) silent++
        const isOver = dying.signal.aborted || target.signal?.aborted === true
        if (silent >= maxSilent || isOver) return last
      }
    }
    return last ?? noneOfFamily(source, hosts)
  }

  return {
    async acquire(target) {
      const { source, hosts, site, maxConnections: limit, messagesPerConnection } = target
      const key = `${site} ${source.name} ${namesOf(hosts)}`
      const waiting = takeIdle(key, target.demandOf)
      if (waiting !== undefined) {
        waiting.reused = true
        target.goesTo?.(waiting.address)
        return { session: waiting }
      }
      const connectionSlot = connectionSlots.take({ site, source: source.name, limit })
      let opened: OpenedSession | NotAcquired | undefined
      try {
        opened = await connectFirst(target)
      } finally {
        if (opened === undefined || 'failure' in opened) connectionSlot.free()
      }
      if ('failure' in opened) return opened
      const countedFor = new Set<string>()
      const of = {
        key,
        connectionSlot,
        maxMessages: messagesPerConnection,
        reused: false,
        countedFor,
      }
      return { session: track({ ...opened, ...of }) }
    },
    release(session, reusable) {
      const spent = session.connection.sent >= session.maxMessages
      if (!reusable || spent || closing || !session.connection.alive) return end(session)
      idleTimers.set(
        session,
        options.clock.after(idleMs, () => end(session)),
      )
      session.connectionSlot.idle()
      const waiting = idle.get(session.key)
      if (waiting === undefined) idle.set(session.key, [session])
      else waiting.push(session)
    },
    close() {
      closing = true
      for (const session of [...idleTimers.keys()]) end(session)
    },
    destroy() {
      closing = true
      dying.abort()
      for (const session of open) {
        leaveIdle(session)
        session.connection.destroy()
      }
    },
  }
}

// Of a route that many mails take.
const names = new WeakMap<readonly MxHost[], string>()

function namesOf(hosts: readonly MxHost[]): string {
  const known = names.get(hosts)
  if (known !== undefined) return known
  const text = hosts
    .map(({ exchange }) => exchange)
    .sort()
    .join(' ')
  names.set(hosts, text)
  return text
}

interface ConnectFrom {
  port: number
  localAddress?: string
  heloName: string
  cut: AbortSignal | undefined
  deadlines?: Partial<Deadlines>
}

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
