import type { Clock } from '../../clock/index.js'
import type { SmtpConnection } from '../../smtp/index.js'

/** A session with a smart host, in use by one mail at a time. */
export interface Session {
  readonly connection: SmtpConnection
  readonly remote: string
  /** It has carried a mail before: that it turns out closed then says nothing. */
  reused: boolean
}

/** One smart host's sessions. Whoever takes them keeps to its limit; idle ones count as taken once. */
export interface Sessions<Failure extends object> {
  take(): Promise<Session | Failure>
  giveBack(session: Session, reusable: boolean): void
  /** Ends idle sessions now and busy ones when they are given back. */
  close(): void
  /** Ends all at once. */
  destroy(): void
}

// KumoMTA's figure (`notes/mta.md` §1, 7).
const idleMs = 60_000

export function openSessions<Failure extends object>(options: {
  clock: Clock
  connect: () => Promise<Pick<Session, 'connection' | 'remote'> | Failure>
  messagesPerConnection: number
  /** How many are open now. */
  onCount: (open: number) => void
}): Sessions<Failure> {
  const open = new Set<Session>()
  /** With what takes the end of its idle time back; the one used last is the last. */
  const idle = new Map<Session, () => void>()
  let closing = false

  const leaveIdle = (session: Session) => {
    idle.get(session)?.()
    idle.delete(session)
  }
  const end = (session: Session) => {
    leaveIdle(session)
    if (open.delete(session)) options.onCount(open.size)
    session.connection.quit()
  }

  return {
    async take() {
      const waiting = [...idle.keys()].at(-1)
      if (waiting !== undefined) {
        leaveIdle(waiting)
        waiting.reused = true
        return waiting
      }
      const made = await options.connect()
      if (!('connection' in made)) return made
      const session = { ...made, reused: false }
      options.onCount(open.add(session).size)
      // The server may leave first.
      void session.connection.closed.then(() => end(session))
      return session
    },
    giveBack(session, reusable) {
      const { connection } = session
      const spent = connection.sent >= options.messagesPerConnection
      if (!reusable || spent || closing || !connection.alive) return end(session)
      const cancel = options.clock.after(idleMs, () => end(session))
      idle.set(session, cancel)
    },
    close() {
      closing = true
      for (const session of [...idle.keys()]) end(session)
    },
    destroy() {
      closing = true
      for (const session of [...open]) {
        leaveIdle(session)
        session.connection.destroy()
      }
      open.clear()
    },
  }
}
