import { type Clock, isRecent } from '../../clock/index.js'
import { authoritiesOf, type SmartHost } from '../../config/index.js'
import type { Resolver } from '../../dns/index.js'
import type { Log } from '../../log/index.js'
import type { Envelope, MessageToSend, SendResult } from '../../smtp/index.js'
import type { ConnectionSlots } from '../connections/index.js'
import { mayHaveTaken, replyText } from '../outcome.js'
import { allFrom, makeSite, type Site, type SiteOutcome, withoutBrake } from '../shaping/index.js'
import { type NotOpened, openSmartHost } from './open-smart-host.js'
import { openRelaySessions, type RelaySessions } from './sessions.js'
import { type RelayVerdict, relayVerdictOf } from './verdict.js'

/** One smart host, as one thread uses it. */
export interface Relay {
  readonly name: string
  /** Decides what may start there now, by its limits and by how it has fared. */
  readonly room: Site
  /** Offers it one mail; the caller has taken room for it. Never rejects for what a server does. */
  offer(envelope: Envelope, message: MessageToSend): Promise<Offered>
  close(): void
  destroy(): void
}

/** What became of an offer. */
export interface Offered {
  verdict: RelayVerdict
  reply: string
  remote: string
  tls?: string
  transcript: string
  /** What the offer tells about the smart host. */
  site: SiteOutcome
}

/** What using a smart host needs. */
export interface RelayOptions {
  clock: Clock
  resolver: Pick<Resolver, 'a' | 'aaaa'>
  log: Log
  connectionSlots: ConnectionSlots
  heloName: string
  random: () => number
  /** Limits are for all threads together. */
  thread: number
  threads: number
  env: Readonly<Record<string, string | undefined>>
}

// It begins with two connections, so that two failures suspend it: a client that goes on with a wrong login is locked
// out.
const firstConnections = 2
// The same as the default of shaping.
const messagesPerConnection = 100
// For so long after a refusal was logged, a success is not: the smart host takes some mails and refuses others.
const quietMs = 600_000

/**
 * A smart host is a site like any other, with limits of its own and a breaker that stops asking it
 * while it takes nothing.
 */
export function openRelay(host: SmartHost, options: RelayOptions): Relay {
  const { clock, log } = options
  const name = `${host.host}:${host.port}`
  const ca = authoritiesOf(host)
  const room = makeSite(policyOf(host, options), { clock, random: options.random })
  const dying = new AbortController()
  let inOrder = true
  let quiet = { at: 0, forMs: 0 }

  const connect = () => openSmartHost(host, { ...options, ca, signal: dying.signal })
  const sessions: RelaySessions<NotOpened> = openRelaySessions({
    clock,
    takeConnectionSlot: () =>
      options.connectionSlots.take({ site: name, source: '', limit: room.connections }),
    connect,
    messagesPerConnection,
  })
  /** Logged once and not with each mail, also where the smart host takes some and refuses others. */
  const fares = (well: boolean, reply: string, quietForMs = 0) => {
    const now = clock.now()
    if (well === inOrder || (well && isRecent(quiet.at, now, quiet.forMs))) return
    inOrder = well
    quiet = { at: now, forMs: quietForMs }
    if (well) log.warn({ smartHost: name }, 'Failover: the smart host takes mail again')
    else log.error({ smartHost: name, reply }, 'Failover: the smart host takes no mail')
  }

  return {
    name,
    room,
    async offer(envelope, message) {
      const dsn = {
        notify: ['success', 'failure'],
        returns: 'headers',
        originalRecipient: envelope.to,
      } as const
      for (;;) {
        const session = await sessions.take()
        if ('failure' in session) {
          const offered = notOpened(name, session)
          fares(false, offered.reply)
          return offered
        }
        const { connection, remote, reused } = session
        const result = await connection.send({ ...envelope, dsn }, message)
        const transcript = connection.transcript()
        const tls = connection.tls && `${connection.tls.version} ${connection.tls.cipher}`
        sessions.giveBack(session, result.kind !== 'lost' && result.reusable)
        // A session that ended while it was idle says nothing: take another one.
        if (result.kind === 'lost' && !result.offered && reused) continue
        const verdict = relayVerdictOf(result)
        const reply = replyOf(name, result, verdict)
        if (verdict === 'relayed' || verdict === 'bounced') fares(true, reply)
        else if (result.kind === 'refused' && !result.local) fares(false, reply, quietMs)
        const site = outcomeOf(result)
        return { verdict, reply, remote, ...(tls && { tls }), transcript, site }
      }
    },
    close: () => sessions.close(),
    destroy() {
      dying.abort()
      sessions.destroy()
    },
  }
}

/** The phase is told: the operator can fix a refused login, but not a refused connection. */
function notOpened(name: string, { failure, remote }: NotOpened): Offered {
  const { phase, cause, reply, code, transcript } = failure
  const words = reply ? replyText(reply) : cause
  return {
    verdict: 'not taken',
    reply: `No session with the smart host ${name} (${phase}): ${words}`,
    remote,
    transcript,
    site: { kind: 'connect-failed', cause: code === 'ETIMEDOUT' ? 'timeout' : 'refused' },
  }
}

/** What the mail's record says of an offer. */
function replyOf(name: string, result: SendResult, verdict: RelayVerdict): string {
  if (result.kind !== 'lost') {
    const words = replyText(result.reply)
    // The sentence is ours, so that nobody takes the smart host's words for the receiver's.
    return verdict === 'not taken' ? `The smart host ${name} did not take it: ${words}` : words
  }
  const doubt = result.ambiguous ? mayHaveTaken : ''
  return `Connection with the smart host ${name} lost at ${result.phase}: ${result.cause}${doubt}`
}

/** For the smart host's own limits: a refused recipient is no fault of the smart host. */
function outcomeOf(result: SendResult): SiteOutcome {
  if (result.kind === 'accepted') return { kind: 'delivered' }
  if (result.kind !== 'lost') return { kind: result.kind === 'refused' ? 'bounced' : 'deferred' }
  return result.ambiguous ? { kind: 'deferred' } : { kind: 'connect-failed', cause: 'refused' }
}

/** Each outbound thread has its part of the limits, because the threads share no counters. */
function policyOf(host: SmartHost, share: RelayOptions) {
  const connections = partOf(host.connections, share)
  return {
    connections,
    initialConnections: Math.min(firstConnections, connections),
    messagesPerConnection,
    messagesPerMinute: host.messagesPerMinute / share.threads,
    tls: 'opportunistic',
    ...withoutBrake,
    automations: [],
    from: allFrom(''),
  } as const
}

/** This thread's part of a limit; one at least. */
const partOf = (whole: number, { thread, threads }: RelayOptions) =>
  Math.max(1, Math.floor(whole / threads) + (thread < whole % threads ? 1 : 0))
