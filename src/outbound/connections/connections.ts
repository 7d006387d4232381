import { setMaxListeners } from 'node:events'
import type { Clock } from '../../clock/index.js'
import type { MxHost } from '../../dns/index.js'
import type { Log } from '../../log/index.js'
import { meets } from '../tls-policy/index.js'
import { makeConnectHost } from './connect-host.js'
import type { ConnectionSlots } from './connection-slots.js'
import { type OpenedSession, openSession } from './open-session.js'
import type { NotAcquired, SessionTarget, SmtpSession } from './session.js'
import { openSessionPool } from './session-pool.js'

/** The sessions with recipients' servers, from the first connection to the last QUIT. */
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

/** A session in use, or why there is none. */
export type Acquired = { session: SmtpSession } | NotAcquired

/** What opening sessions needs. */
export interface SessionOptions {
  clock: Clock
  log: Log
  port: number
  connectionSlots: ConnectionSlots
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string
}

/** The connections to the servers of recipients; it opens none before one is asked for. */
export function openConnections(options: SessionOptions): Connections {
  const { connectionSlots, port } = options
  const pool = openSessionPool<SmtpSession>(options.clock)
  const dying = new AbortController()
  // A listener for each connection that is being opened; Node's warning means leaks.
  setMaxListeners(0, dying.signal)
  const { signal } = dying
  const opening = { port, signal, connectHost: makeConnectHost({ ...options, signal }) }

  return {
    async acquire(target) {
      const { source, hosts, site, maxConnections: limit, messagesPerConnection } = target
      const key = `${site} ${source.name} ${namesOf(hosts)}`
      const waiting = pool.takeIdle(key, ({ connection, demand, exchange }) =>
        meets({ tls: connection.tls, demand }, target.demandOf(exchange)),
      )
      if (waiting !== undefined) {
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
      return { session: pool.add({ ...opened, ...of }) }
    },
    release: pool.giveBack,
    close: pool.close,
    destroy() {
      dying.abort()
      pool.destroy()
    },
  }
}

// The names of a route's hosts as one text, made once: many mails take the same route.
const names = new WeakMap<readonly MxHost[], string>()

/** The names of these hosts, in an order of their own: a shuffle makes no other key. */
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
