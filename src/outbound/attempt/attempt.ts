import { type Claimed, makeReturnPaths, type Settlement } from '../../deliveries/index.js'
import { openSigner } from '../../dkim/index.js'
import { messageOf } from '../../errors/index.js'
import type { SendResult } from '../../smtp/index.js'
import { isPassing } from '../../store/index.js'
import type { DeliverySlot } from '../admission/index.js'
import { makeBottleneck, makeHeavyRoom } from '../admission/index.js'
import type { ConnectionSlots } from '../connections/index.js'
import {
  type Connections,
  type NotAcquired,
  openConnections,
  type SmtpSession,
} from '../connections/index.js'
import { MailFault, makeComposer } from '../content/index.js'
import type { OutboundDeps } from '../deps.js'
import { failureText, type Outcome, outcomeOfSend, replyText } from '../outcome.js'
import type { FindRoute } from '../routing/index.js'
import type { SiteOutcome } from '../shaping/index.js'
import {
  makePolicyFetcher,
  makeTlsPolicies,
  nothingPublished,
  type TlsDemand,
  type TlsPolicies,
  type TlsPolicy,
  tlsInWords,
  usualDemand,
} from '../tls-policy/index.js'
import { countRefused, isTlsReport, type TlsCount, watchSessions } from '../tls-sessions/index.js'
import { stopAtDeparture } from './departure.js'
import { type DetourOptions, type Mail, makeDetour } from './detour.js'
import { judgeRefusal } from './judge.js'
import { nextAttempt, type RetryPolicies } from './retry.js'

export interface Attempts {
  /** Tries one claimed delivery, start to end. Never rejects: whatever happens is a settlement. */
  attempt(claimed: Claimed, slot: DeliverySlot): Promise<Attempted>
  readonly connections: Connections
  /** When none is under way any more. */
  close(): Promise<void>
}

export interface Attempted {
  /** Undefined: our stop broke it off before any server had an answer; the mail counts as not tried. */
  settlement: Settlement | undefined
  /** Why the mail itself can never leave as it is stored: it is not settled but held, with this. */
  fault?: string | undefined
  /** What it tells about the site; undefined when it never got there. */
  site: SiteOutcome | undefined
}

/** What an attempt found out beside its outcome. */
export interface AttemptResult extends Outcome {
  remote?: string
  tls?: string | undefined
  transcript?: string
  site?: SiteOutcome | undefined
  /** Whether the site gave a new connection; undefined when none was needed. */
  reached?: boolean | undefined
  fault?: string
  /** It went by a smart host. */
  failover?: true
}

export interface Ways extends Pick<DetourOptions, 'egress' | 'relays' | 'shaping'> {
  findRoute: FindRoute
  connectionSlots: ConnectionSlots
  /** Undefined: no reports about TLS are made. */
  tlsCount: TlsCount | undefined
}

// Enough for the signer never to be idle. With hundreds of slots all would be composed at once, and wait
// for it in their order (20 sites of 20 connections: 16 % more mails a second with it, Nov 2026).
const maxComposing = 24
const maxHeavyBytes = 256 * 1024 * 1024
// For sites that nobody knows yet, while there are many of them: half of the usual, as most of those that do
// not answer are dead.
const hurriedDeadlines = { connectMs: 15_000 }

export function makeAttempts(
  deps: OutboundDeps,
  { findRoute, connectionSlots, tlsCount, ...ways }: Ways,
): Attempts {
  const { clock, config, log } = deps
  const signer = openSigner()
  const bottleneck = makeBottleneck(maxComposing)
  const heavyRoom = makeHeavyRoom(maxHeavyBytes, clock)
  const compose = makeComposer(deps, makeReturnPaths(deps.key), signer)
  const retry: RetryPolicies = { ...config.retry, random: deps.random }
  const connections = openConnections({
    clock,
    log,
    connectionSlots,
    port: config.port,
    ...(deps.tls?.ca === undefined ? {} : { ca: deps.tls.ca }),
  })
  const stopFetching = new AbortController()
  const tlsPolicies = openTlsPolicies(deps, stopFetching.signal)

  const tryOnce = async (claimed: Claimed, slot: DeliverySlot): Promise<AttemptResult> => {
    const stop = await stopAtDeparture(deps.store.read, claimed)
    if (stop !== undefined) return stop
    const route = await findRoute(claimed.lane)
    const { relay } = slot
    if (relay === undefined) return await detour.primary(claimed, slot, route)
    return await detour.byRelay(claimed, slot, relay, route)
  }

  const prepare = async (claimed: Claimed, giveUp?: DeliverySlot['giveUp']): Promise<Mail> => {
    for (;;) {
      const { returnPath, smtpUtf8, message, heldBytes } = await bottleneck(claimed.class, () =>
        compose(claimed).catch((error: unknown) => {
          throw isPassing(error) || error instanceof MailFault ? error : new Uncomposable(error)
        }),
      )
      const { accountId } = claimed
      const done = heavyRoom.enter({ bytes: heldBytes, accountId, giveUp })
      if (done !== undefined) {
        const envelope = { from: returnPath, to: claimed.recipient, smtpUtf8 }
        return { envelope, message, done }
      }
      // What was composed is dropped: it would take the room that it waits for.
      await heavyRoom.untilFree(accountId)
    }
  }

  /** Straight to the recipient's servers. */
  const tryPrimary: DetourOptions['tryPrimary'] = async (
    claimed,
    { site, source, hurried, signal, goesTo, giveUp },
    route,
  ) => {
    if ('outcome' in route) {
      const outcome = route.outcome(claimed)
      const isDown = outcome.kind === 'deferred' && route.site.key !== 'nowhere'
      if (!isDown) return outcome
      return { ...outcome, site: { kind: 'connect-failed', cause: 'dns', why: outcome.reply } }
    }
    const { messagesPerConnection, tls, from } = site.policy
    const requiredBy = tls === 'required' ? from.tls : undefined
    const isFree = route.inside !== undefined || (await isTlsReport(deps.store.read, claimed))
    const policy: TlsPolicy = isFree
      ? { hosts: route.hosts, demandOf: () => usualDemand, publishedFor: () => nothingPublished }
      : await tlsPolicies.policyFor(claimed.lane, route.hosts, requiredBy)
    const count = isFree ? undefined : tlsCount
    if ('deferred' in policy) {
      if (count !== undefined) countRefused(count, claimed.lane, policy)
      return { kind: 'deferred', reply: policy.deferred }
    }
    const { hosts, demandOf, publishedFor } = policy
    const watch = count && watchSessions(count, claimed.lane, publishedFor)
    const { inside } = route
    const maxConnections = site.connections
    const limits = { site: route.site.key, maxConnections, messagesPerConnection, inside }
    const deadlines = hurried ? hurriedDeadlines : undefined
    const given = { source, hosts, demandOf, ...limits, deadlines, signal, goesTo }
    const target = { ...given, tried: watch?.tried }
    let mail: Mail | undefined
    try {
      for (;;) {
        const acquired = await connections.acquire(target)
        if ('failure' in acquired) return describeFailure(acquired, claimed.lane)
        const { session } = acquired
        if (session.reused) watch?.reused(session)
        else session.countedFor.add(claimed.lane)
        const demand = demandOf(session.exchange) ?? usualDemand
        // Not sooner: thousands of slots where nobody answers cost no message each.
        mail ??= await prepare(claimed, giveUp).catch((error: unknown) => {
          connections.release(session, true)
          throw error
        })
        const result = await session.connection.send(mail.envelope, mail.message, signal)
        const reached = session.reused ? undefined : true
        const finding = { ...describe(session, result, demand), reached }
        connections.release(session, result.kind !== 'lost' && result.reusable)
        // A session that ended while it was idle says nothing about this mail: take another one.
        const isUntried = result.kind === 'lost' && !result.offered && session.reused
        if (isUntried && signal?.aborted !== true) continue
        return finding
      }
    } finally {
      mail?.done()
    }
  }

  const detour = makeDetour({ ...ways, tryPrimary, prepare })

  const settle = (claimed: Claimed, startedAt: number, finding: AttemptResult): Settlement => {
    const isNone = finding.kind === 'suppressed' || finding.fault !== undefined
    const attempts = claimed.attempts + (isNone ? 0 : 1)
    const base = {
      id: claimed.id,
      emailId: claimed.emailId,
      accountId: claimed.accountId,
      class: claimed.class,
      recipient: claimed.recipient,
      startedAt,
      attempts,
      reply: finding.reply,
      remote: finding.remote ?? null,
      tls: finding.tls ?? null,
      transcript: finding.transcript ?? '',
      failover: finding.failover ?? false,
    }
    if (finding.kind !== 'bounced' && finding.kind !== 'deferred') {
      return { ...base, kind: finding.kind }
    }
    const { again, verdict, ending, atLeastMs } = judgeRefusal(deps.bounceRules(), finding, {
      attempts,
      lastReply: claimed.lastReply,
    })
    const delivery = { ...claimed, attempts }
    const dueAt = again ? nextAttempt(retry, delivery, clock.now(), atLeastMs) : undefined
    if (dueAt !== undefined) return { ...base, kind: 'deferred', dueAt, verdict }
    if (finding.kind === 'bounced') return { ...base, kind: verdict.event, verdict: ending }
    const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`
    const reply = `Given up after ${times}. The last one: ${finding.reply}`
    return { ...base, kind: 'failed', reply, verdict: ending }
  }

  return {
    connections: {
      ...connections,
      destroy() {
        stopFetching.abort()
        connections.destroy()
      },
    },
    close: signer.close,
    async attempt(claimed, slot) {
      const startedAt = clock.now()
      const finding = await tryOnce(claimed, slot).catch((error: unknown): AttemptResult => {
        if (error instanceof MailFault) return { kind: 'failed', reply: error.message }
        if (error instanceof Uncomposable) {
          return { kind: 'deferred', reply: claimed.lastReply ?? '', fault: error.message }
        }
        // A bug, not the world: the mail keeps its place in the queue and somebody is told.
        log.error({ error, deliveryId: claimed.id, emailId: claimed.emailId }, 'Attempt failed')
        const reply = `Internal error: ${messageOf(error).slice(0, 200)}`
        return { kind: 'deferred', reply, class: 'unknown' }
      })
      const { site, fault } = finding
      // What a server may have, or has spoken of, is not as it was.
      const isToldNothing = finding.kind === 'deferred' && !finding.doubt && !site?.reply
      const isBrokenOff = stopFetching.signal.aborted && isToldNothing
      const settlement = isBrokenOff ? undefined : settle(claimed, startedAt, finding)
      return { settlement, site, fault }
    },
  }
}

/** What is stored of the mail, or of what goes into it, is broken: the next attempt would find it so too. */
class Uncomposable extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause })
  }
}

function openTlsPolicies(deps: OutboundDeps, signal: AbortSignal): TlsPolicies {
  const { config } = deps
  const { allowPrivateAddresses, port } = config
  const fetchPolicy =
    deps.tls?.fetchPolicy ?? makePolicyFetcher({ ...deps, allowPrivateAddresses, signal })
  return makeTlsPolicies({ ...deps, settings: config.tls, port, fetchPolicy })
}

function describe(session: SmtpSession, result: SendResult, demand: TlsDemand): AttemptResult {
  const { connection, remote, reused, tlsFailed } = session
  const words = tlsInWords(connection.tls, demand)
  const tls = tlsFailed === undefined ? words : `${words ?? 'none'}: ${tlsFailed.why}`
  const before = reused ? [] : session.before
  const transcript = inFull(connection.transcript(), { before, remote, demand })
  return { ...outcomeOfSend(result), remote, tls, transcript, site: siteOutcomeOf(result) }
}

function siteOutcomeOf(result: SendResult): SiteOutcome {
  // Our own judgement, and words that are ours.
  if (result.kind !== 'lost' && result.local) return { kind: 'deferred' }
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', reply: replyText(result.reply) }
    case 'refused':
      return { kind: 'bounced', reply: replyText(result.reply) }
    case 'deferred':
      return { kind: 'deferred', reply: replyText(result.reply) }
    case 'lost':
      if (result.reply) return { kind: 'deferred', reply: replyText(result.reply) }
      // After the final dot the mail may have gone through: that the site is ill is not said.
      if (result.ambiguous) return { kind: 'deferred' }
      return {
        kind: 'connect-failed',
        cause: causeOf(result.code),
        why: `The sessions with its servers break off (${result.phase}): ${result.cause}`,
      }
  }
}

function describeFailure(last: NotAcquired, domain: string): AttemptResult {
  const { failure, remote, demand } = last
  const { phase, cause, reply, tlsFailed, transcript } = failure
  const unmet = `TLS policy of ${domain} (${demand.by}) is not met by ${remote}: ${cause}`
  // One domain's policy says nothing about a site that it shares with others.
  const isUnmet = tlsFailed === true && demand.by !== ''
  const site: SiteOutcome = {
    kind: 'connect-failed',
    cause: causeOf(failure.code),
    reply: reply && replyText(reply),
    // They did take the connection.
    ...(phase !== 'connect' && {
      why: `Its servers begin no session: ${reply ? replyText(reply) : `${cause} (${phase})`}`,
    }),
  }
  return {
    kind: 'deferred',
    reply: isUnmet ? unmet : failureText(failure),
    remote,
    tls: demand.by === '' ? undefined : `none (${demand.by})`,
    transcript: inFull(transcript, last),
    ...(isUnmet ? {} : { site }),
    reached: reachedBy(failure),
  }
}

/**
 * Nothing came back: that may be our own way out. A server that said anything was reached. A connection
 * that is closed, or silent, before its banner shows no server: providers that block the port answer in
 * the receivers' place like this, and receivers that close on a listed address without a word are a
 * reason for the other way too. One that does so by itself moves nothing, as others are reached then.
 */
function reachedBy({ phase, code, reply }: NotAcquired['failure']): boolean | undefined {
  if (reply !== undefined) return true
  // What we broke off ourselves.
  if (code === 'ABORT_ERR') return undefined
  // Later there was a banner, of whomever: a session that ends then tells neither.
  return phase === 'connect' || phase === 'banner' ? false : undefined
}

const causeOf = (code: string | undefined) => (code === 'ETIMEDOUT' ? 'timeout' : 'refused')

/** What was said and to whom, behind the hosts that were tried before; with the policy that counted. */
function inFull(
  transcript: string,
  { before, remote, demand }: Pick<NotAcquired, 'before' | 'remote' | 'demand'>,
): string {
  const policy = demand.by === '' ? [] : [`TLS policy: ${demand.by}`]
  return [...before, `${remote}:`, ...policy, transcript].join('\n')
}
