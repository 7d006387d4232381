import type { Clock } from '../../clock/index.js'
import type { SmtpConnection } from '../../smtp/index.js'
import type { ConnectionSlot } from './connection-slots.js'

/** A session that carries one mail after another, in use by one at a time. */
export interface PooledSession {
  readonly connection: SmtpConnection
  readonly connectionSlot: ConnectionSlot
  /** Sessions with the same key are alike: only mail for the same key may take one. */
  readonly key: string
  readonly maxMessages: number
  /** True when it has carried a mail before: if it turns out closed, that says nothing about the server. */
  reused: boolean
}

/** Sessions that are open, and how long each may idle. Whoever opens them keeps to the limits. */
export interface SessionPool<Session extends PooledSession> {
  /** A session that was just opened, which its caller uses first. */
  add(session: Session): Session
  /** Takes the idle session of the key that fits and was used last, so that the others may age out. */
  takeIdle(key: string, fits?: (session: Session) => boolean): Session | undefined
  /** Keeps a session for the next mail, unless it is not reusable, has carried its share or the pool is closed. */
  giveBack(session: Session, reusable: boolean): void
  /** Ends idle sessions now and busy ones when they are given back. */
  close(): void
  /** Ends everything at once. */
  destroy(): void
}

// KumoMTA's figure (`notes/mta.md` §1, 7).
const idleMs = 60_000

/** Keeps sessions that are idle for the next mail to the same hosts, each for at most a minute. */
export function openSessionPool<Session extends PooledSession>(clock: Clock): SessionPool<Session> {
  const open = new Set<Session>()
  const idle = new Map<string, Session[]>()
  /** The functions that cancel the end of an idle time. */
  const idleTimers = new Map<Session, () => void>()
  let closing = false

  const leaveIdle = (session: Session) => {
    idleTimers.get(session)?.()
    idleTimers.delete(session)
    const waiting = idle.get(session.key)
    const at = waiting?.indexOf(session) ?? -1
    if (waiting === undefined || at < 0) return
    waiting.splice(at, 1)
    if (waiting.length === 0) idle.delete(session.key)
  }
  const end = (session: Session) => {
    leaveIdle(session)
    session.connectionSlot.leave()
  }

  return {
    add(session) {
      open.add(session)
      session.connectionSlot.opened(session.connection)
      // The server may leave first, or the session's room may be needed.
      void session.connection.closed.then(() => {
        leaveIdle(session)
        open.delete(session)
      })
      return session
    },
    takeIdle(key, fits = () => true) {
      const session = idle.get(key)?.findLast((one) => one.connection.alive && fits(one))
      if (session === undefined) return undefined
      leaveIdle(session)
      session.connectionSlot.inUse()
      session.reused = true
      return session
    },
    giveBack(session, reusable) {
      const { connection, key, maxMessages } = session
      const isSpent = connection.sent >= maxMessages
      if (!reusable || isSpent || closing || !connection.alive) return end(session)
      idleTimers.set(
        session,
        clock.after(idleMs, () => end(session)),
      )
      session.connectionSlot.idle()
      const waiting = idle.get(key)
      if (waiting === undefined) idle.set(key, [session])
      else waiting.push(session)
    },
    close() {
      closing = true
      for (const session of [...idleTimers.keys()]) end(session)
    },
    destroy() {
      closing = true
      for (const session of open) {
        leaveIdle(session)
        session.connection.destroy()
      }
    },
  }
}
