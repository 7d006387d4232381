import type { Clock } from '../../clock/index.js'
import type { SmtpConnection } from '../../smtp/index.js'
import type { Berth } from '../berths.js'

/** A session with a smart host, in use by one mail at a time. */
export interface Session {
  readonly connection: SmtpConnection
  readonly remote: string
  readonly berth: Berth
  /** It has carried a mail before: that it turns out closed then says nothing. */
  reused: boolean
}

/** One smart host's sessions. Whoever takes them keeps to its limit. */
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
  takeBerth: () => Berth
  connect: () => Promise<Pick<Session, 'connection' | 'remote'> | Failure>
  messagesPerConnection: number
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
    session.berth.leave()
  }

  return {
    async take() {
      const waiting = [...idle.keys()].findLast(({ connection }) => connection.alive)
      if (waiting !== undefined) {
        leaveIdle(waiting)
        waiting.berth.inUse()
        waiting.reused = true
        return waiting
      }
      const berth = options.takeBerth()
      let made: Awaited<ReturnType<typeof options.connect>> | undefined
      try {
        made = await options.connect()
      } finally {
        if (made === undefined || !('connection' in made)) berth.free()
      }
      if (!('connection' in made)) return made
      const session = { ...made, berth, reused: false }
      open.add(session)
      berth.opened(session.connection)
      // The server may leave first, or its room be needed.
      void session.connection.closed.then(() => {
        leaveIdle(session)
        open.delete(session)
      })
      return session
    },
    giveBack(session, reusable) {
      const { connection } = session
      const spent = connection.sent >= options.messagesPerConnection
      if (!reusable || spent || closing || !connection.alive) return end(session)
      const cancel = options.clock.after(idleMs, () => end(session))
      idle.set(session, cancel)
      session.berth.idle()
    },
    close() {
      closing = true
      for (const session of [...idle.keys()]) end(session)
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
