import type { Clock } from '../../clock/index.js'
import {
  type ConnectionSlot,
  openSessionPool,
  type PooledSession,
  type SessionPool,
} from '../connections/index.js'

/** A session with a smart host. */
export interface RelaySession extends PooledSession {
  readonly remote: string
}

/** One smart host's sessions. Whoever takes them keeps to its limit. */
export interface RelaySessions<Failure extends object>
  extends Omit<SessionPool<RelaySession>, 'add' | 'takeIdle'> {
  take(): Promise<RelaySession | Failure>
}

/** Sessions are kept for further mails, since opening one costs TLS and a login. */
export function openRelaySessions<Failure extends object>(options: {
  clock: Clock
  takeConnectionSlot: () => ConnectionSlot
  connect: () => Promise<Pick<RelaySession, 'connection' | 'remote'> | Failure>
  messagesPerConnection: number
}): RelaySessions<Failure> {
  const pool = openSessionPool<RelaySession>(options.clock)
  // One smart host's sessions are all alike.
  const alike = { key: '', maxMessages: options.messagesPerConnection }
  const { giveBack, close, destroy } = pool
  return {
    giveBack,
    close,
    destroy,
    async take() {
      const waiting = pool.takeIdle(alike.key)
      if (waiting !== undefined) return waiting
      const connectionSlot = options.takeConnectionSlot()
      let made: Awaited<ReturnType<typeof options.connect>> | undefined
      try {
        made = await options.connect()
      } finally {
        if (made === undefined || !('connection' in made)) connectionSlot.free()
      }
      if (!('connection' in made)) return made
      return pool.add({ ...made, ...alike, connectionSlot, reused: false })
    },
  }
}
