import { setMaxListeners } from 'node:events'
import type { Clock } from '../../clock/index.js'
import type { MxHost } from '../../dns/index.js'
import type { Log } from '../../log/index.js'
import { meets } from '../tls-policy/index.js'
import { makeConnectHost } from './connect-host.js'
import type { ConnectionSlots } from './connection-slots.js'
import { type OpenedSession, openSession } from './open-session.js'
import type { NotAcquired, SessionTarget, SmtpSession } from './session.js'

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

export type Acquired = { session: SmtpSession } | NotAcquired

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

export function openConnections(options: SessionOptions): Connections {
  const { connectionSlots, clock, port } = options
  const idle = new Map<string, SmtpSession[]>()
  const idleTimers = new Map<SmtpSession, () => void>()
  const open = new Set<SmtpSession>()
  const dying = new AbortController()
  // A listener for each connection that is being opened; Node's warning means leaks.
  setMaxListeners(0, dying.signal)
  const { signal } = dying
  const opening = { port, signal, connectHost: makeConnectHost({ ...options, signal }) }
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
        opened = await openSession(target, opening)
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
        clock.after(idleMs, () => end(session)),
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
