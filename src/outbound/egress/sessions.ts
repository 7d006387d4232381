import type { Clock } from '../../clock/index.js'
import type { SmtpConnection } from '../../smtp/index.js'
import type { ConnectionSlot } from '../connections/index.js'

/** A session with a smart host, in use by one mail at a time. */
export interface RelaySession {
  readonly connection: SmtpConnection
  readonly remote: string
  readonly connectionSlot: ConnectionSlot
  /** It has carried a mail before: that it turns out closed then says nothing. */
  reused: boolean
}

/** One smart host's sessions. Whoever takes them keeps to its limit. */
export interface RelaySessions<Failure extends object> {
  take(): Promise<RelaySession | Failure>
  giveBack(session: RelaySession, reusable: boolean): void
  /** Ends idle sessions now and busy ones when they are given back. */
  close(): void
  /** Ends all at once. */
  destroy(): void
}

// KumoMTA's figure (`notes/mta.md` §1, 7).
const idleMs = 60_000

export function openRelaySessions<Failure extends object>(options: {
  clock: Clock
  takeConnectionSlot: () => ConnectionSlot
  connect: () => Promise<Pick<RelaySession, 'connection' | 'remote'> | Failure>
  messagesPerConnection: number
}): RelaySessions<Failure> {
  const open = new Set<RelaySession>()
  /** With what takes the end of its idle time back; the one used last is the last. */
  const idle = new Map<RelaySession, () => void>()
  let closing = false

  const leaveIdle = (session: RelaySession) => {
    idle.get(session)?.()
    idle.delete(session)
  }
  const end = (session: RelaySession) => {
    leaveIdle(session)
    session.connectionSlot.leave()
  }

  return {
    async take() {
      const waiting = [...idle.keys()].findLast(({ connection }) => connection.alive)
      if (waiting !== undefined) {
        leaveIdle(waiting)
        waiting.connectionSlot.inUse()
        waiting.reused = true
        return waiting
      }
      const connectionSlot = options.takeConnectionSlot()
      let made: Awaited<ReturnType<typeof options.connect>> | undefined
      try {
        made = await options.connect()
      } finally {
        if (made === undefined || !('connection' in made)) connectionSlot.free()
      }
      if (!('connection' in made)) return made
      const session = { ...made, connectionSlot, reused: false }
      open.add(session)
      connectionSlot.opened(session.connection)
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
      session.connectionSlot.idle()
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
