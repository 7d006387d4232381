import { setMaxListeners } from 'node:events'
import type { Clock } from '../../clock/index.js'
import type { MxHost } from '../../dns/index.js'
import type { Log } from '../../log/index.js'
import type { Loss } from '../../smtp/index.js'
import { meets } from '../tls-policy/index.js'
import { brokenTls, makeHostConnector } from './connect-host.js'
import type { ConnectionSlots } from './connection-slots.js'
import { type ClearCandidate, type OpenedSession, openSession } from './open-session.js'
import type { NotAcquired, SessionTarget, SmtpSession } from './session.js'
import { openSessionPool } from './session-pool.js'
import { candidatesOf, isLeft, isOffTheTrack, type Trail } from './trail.js'

/** The sessions with recipients' servers, from the first connection to the last QUIT. */
export interface Connections {
  /**
   * An idle session with one of the hosts that meets the demand that `demandOf` names, or a new one with the first
   * host that answers and meets it. A host without a demand must not be used. Undefined: all hosts of this attempt
   * were tried.
   */
  acquire(target: SessionTarget, trail: Trail): Promise<Acquired | undefined>
  /** A new session in the clear, with the host of a session whose TLS broke. */
  reopenInTheClear(
    target: SessionTarget,
    trail: Trail,
    lost: LostTls,
  ): Promise<Acquired | undefined>
  /** A session in the clear took a mail, or refused it: the host is talked to in the clear for three days. */
  stayInTheClear(session: SmtpSession): void
  /** A session in the clear was told that the host takes no mail without TLS. */
  tryTlsAgain(session: SmtpSession): void
  /** Gives a session back after its message; one that is not reusable is ended. */
  release(session: SmtpSession, reusable: boolean): void
  /** Ends idle sessions now and busy ones when they are released. */
  close(): void
  /** Ends everything at once. */
  destroy(): void
}

/** A session in use, or why there is none. */
export type Acquired = { session: SmtpSession } | NotAcquired

/** A session whose TLS broke after it was opened, and how. */
export interface LostTls {
  session: SmtpSession
  loss: Loss
}

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
  // Each connection that is being opened has a listener here; Node's warning is about leaks.
  setMaxListeners(0, dying.signal)
  const { signal } = dying
  const hostConnector = makeHostConnector({ ...options, signal })
  const opening = { port, signal, hostConnector }

  const openNew = async (target: SessionTarget, trail: Trail, inClear?: ClearCandidate) => {
    const { source, site, maxConnections: limit, messagesPerConnection } = target
    const connectionSlot = connectionSlots.take({ site, source: source.name, limit })
    let opened: OpenedSession | NotAcquired | undefined
    try {
      opened = await openSession(target, opening, trail, inClear)
    } finally {
      if (opened === undefined || 'failure' in opened) connectionSlot.free()
    }
    if (opened === undefined || 'failure' in opened) return opened
    const of = {
      key: keyOf(target, trail),
      connectionSlot,
      maxMessages: messagesPerConnection,
      reused: false,
      countedFor: new Set<string>(),
    }
    return { session: pool.add({ ...opened, ...of }) }
  }

  return {
    async acquire(target, trail) {
      const waiting = pool.takeIdle(keyOf(target, trail), (session) =>
        mayHave(session, target, trail),
      )
      if (waiting !== undefined) {
        target.goesTo?.(waiting.address)
        return { session: waiting }
      }
      if (trail.failed.length > 0) {
        // After we break off ourselves no other host is tried. No room is made for a session that nobody opens.
        const isAnyLeft = candidatesOf(target, trail).some((one) => isLeft(trail, one))
        if (signal.aborted || !isAnyLeft) return undefined
      }
      return await openNew(target, trail)
    },
    async reopenInTheClear(target, trail, { session, loss }) {
      const { exchange, address, demand } = session
      return await openNew(target, trail, { exchange, address, demand, clear: brokenTls(loss) })
    },
    stayInTheClear(session) {
      if (session.tlsFailed !== undefined) hostConnector.stayInTheClear(session, session.tlsFailed)
    },
    tryTlsAgain: hostConnector.tryTlsAgain,
    release: pool.giveBack,
    close: pool.close,
    destroy() {
      dying.abort()
      pool.destroy()
    },
  }
}

/** The key of sessions that may carry the mail: those with the same hosts, tried from the same one on. */
const keyOf = ({ site, source, hosts }: SessionTarget, trail: Trail) =>
  `${site} ${source.name} ${namesOf(hosts)}${isOffTheTrack(trail) ? ' (others first)' : ''}`

/** Whether an idle session meets the mail's demand, and no other host comes before its host. */
function mayHave(
  { connection, demand, exchange, address }: SmtpSession,
  target: SessionTarget,
  trail: Trail,
): boolean {
  if (!meets({ tls: connection.tls, demand }, target.demandOf(exchange))) return false
  if (!isLeft(trail, { exchange, address })) return false
  if (!trail.earlier.includes(address)) return true
  return candidatesOf(target, trail).find((one) => isLeft(trail, one))?.address === address
}

// The names of a route's hosts as one text. It is made once, because many mails take the same route.
const names = new WeakMap<readonly MxHost[], string>()

/** The names of these hosts, sorted, so that a shuffle makes no other key. */
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
