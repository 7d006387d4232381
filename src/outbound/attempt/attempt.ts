import type { Claimed, Settlement } from '../../deliveries/index.js'
import { openSigner } from '../../dkim/index.js'
import { internalFault } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import { isPassing, isTestId, lookUpTogether, wordsOfCause } from '../../store/index.js'
import type { ComposingRoom, DeliverySlot } from '../admission/index.js'
import { type ConnectionSlots, type Connections, openConnections } from '../connections/index.js'
import { MailFault } from '../content/index.js'
import type { OutboundDeps } from '../deps.js'
import type { Relay } from '../egress/index.js'
import { type FindRoute, isInside, type MailRoute } from '../routing/index.js'
import type { SiteOutcome } from '../shaping/index.js'
import { makePolicyFetcher, makeTlsPolicies } from '../tls-policy/index.js'
import type { TlsCount } from '../tls-sessions/index.js'
import { saidAgainstUs } from './against-us.js'
import { makeSendBySmartHost, type SendBySmartHost } from './by-smart-host.js'
import { stopAtDeparture } from './departure.js'
import { type Detour, type DetourOptions, type DirectProbe, makeDetour } from './detour.js'
import { makeSendDirect, type SendDirect } from './direct.js'
import { makePrepare, Uncomposable } from './prepare.js'
import type { AttemptResult } from './result.js'
import { settlementOf } from './settlement.js'

/** Attempts of one thread, and the connections that they use. */
export interface Attempts {
  /** Tries one claimed delivery, start to end. Never rejects: whatever happens is a settlement. */
  attempt(claimed: Claimed, slot: DeliverySlot): Promise<Attempted>
  readonly connections: Pick<Connections, 'close' | 'destroy'>
  /** Resolves when no attempt is under way any more. */
  close(): Promise<void>
}

/** What came of an attempt. */
export interface Attempted {
  /**
   * Undefined when the mail counts as not tried: our stop broke the attempt off before any server had answered, or
   * the storage could not be read.
   */
  settlement: Settlement | undefined
  /** How long a mail without a settlement rests before its next attempt, where it is not tried again at once. */
  restMs?: number
  /** Why the mail can never leave as it is stored: it is not settled but held, with this reason. */
  fault?: string | undefined
  /** What it tells about the site; undefined when it never got there. */
  site: SiteOutcome | undefined
}

/** The parts of the thread that an attempt needs. */
export interface AttemptParts extends DetourOptions {
  findRoute: FindRoute
  connectionSlots: ConnectionSlots
  composing: ComposingRoom
  /** Undefined: no reports about TLS are made. */
  tlsCount: TlsCount | undefined
}

// A mail rests for so long when it could not be read: reads may go on failing while rows can be claimed.
const awayMs = 5_000

// Mails whose departure is judged in one query, all of one turn of the event loop: a millisecond of
// looking up.
const mostLeaving = 64

/**
 * One attempt from its claim to its outcome as a value: which way, the connection, the
 * conversation, and what is concluded. Nothing here writes to the database; the caller settles the
 * outcome.
 */
export function makeAttempts(deps: OutboundDeps, parts: AttemptParts): Attempts {
  const { clock, config, log, store, bounceRules } = deps
  const { findRoute, connectionSlots, tlsCount, composing, relays } = parts
  const signer = openSigner(clock)
  const prepare = makePrepare(deps, { signer, composing })
  const ca = deps.tls?.ca
  const sessionOptions = { clock, log, connectionSlots, port: config.port }
  const connections = openConnections({ ...sessionOptions, ...(ca === undefined ? {} : { ca }) })
  const stop = new AbortController()
  const tlsPolicies = openTlsPolicies(deps, stop.signal)
  const { read } = store
  const ways: Ways = {
    detour: makeDetour(parts),
    sendDirect: makeSendDirect({ read, connections, tlsPolicies, tlsCount, prepare }),
    sendBySmartHost: makeSendBySmartHost(relays, prepare),
  }
  const stopOf = lookUpTogether(
    (leaving: readonly Claimed[]) => stopAtDeparture(read, leaving),
    mostLeaving,
  )
  const settling = { retry: { ...config.retry, random: deps.random }, bounceRules }

  const tryOnce = async (claimed: Claimed, slot: DeliverySlot): Promise<AttemptResult> => {
    const stopped = await stopOf(claimed)
    if (stopped !== undefined) return stopped
    const route = await findRoute(claimed.lane)
    // Whatever has become of its row, the mail of a test key never gets onto the wire, not by a smart host either.
    if (isTestId(claimed.emailId) && (!isInside(route.site.key) || slot.relay !== undefined)) {
      throw new MailFault('It is a mail of a test key, which goes to the test inbox alone')
    }
    return await send(ways, claimed, slot, route)
  }

  return {
    connections: {
      close: connections.close,
      destroy() {
        stop.abort()
        connections.destroy()
      },
    },
    close: signer.close,
    async attempt(claimed, slot) {
      const startedAt = clock.now()
      let isAway = false
      const result = await tryOnce(claimed, slot).catch((error: unknown) => {
        isAway = isPassing(error)
        return resultOfError(error, claimed, log)
      })
      // The mail is not to blame. It leaves when the storage is back, and not by the retry times of a deferred
      // mail.
      if (isAway) return { settlement: undefined, site: undefined, restMs: awayMs }
      const { site, fault } = result
      // A mail counts as not tried only where no server may have it and none has answered.
      const isToldNothing = result.kind === 'deferred' && !result.doubt && !site?.reply
      const isBrokenOff = stop.signal.aborted && isToldNothing
      const times = { startedAt, now: clock.now(), source: slot.source.name }
      const settlement = isBrokenOff ? undefined : settlementOf(claimed, result, times, settling)
      return { settlement, site: judgedSite(site, settlement), fault }
    },
  }
}

/** Adds what the site's words say against us, by the rules that judge the mail. */
function judgedSite(
  site: SiteOutcome | undefined,
  settlement: Settlement | undefined,
): SiteOutcome | undefined {
  if (site?.reply === undefined || settlement === undefined || !('verdict' in settlement)) {
    return site
  }
  if (settlement.verdict === undefined) return site
  const against = saidAgainstUs(settlement.verdict.class, site.reply)
  return against === undefined ? site : { against, ...site }
}

/** How to choose a way, and how to go each of them. */
interface Ways {
  detour: Detour
  sendDirect: SendDirect
  sendBySmartHost: SendBySmartHost
}

/** Sends by the ways that the detour decides on, one after the other. */
async function send(
  ways: Ways,
  claimed: Claimed,
  slot: DeliverySlot,
  route: MailRoute,
): Promise<AttemptResult> {
  const { detour, sendDirect, sendBySmartHost } = ways
  const first = detour.first(claimed, slot, route)
  switch (first.way) {
    case 'direct': {
      const result = await sendDirect(claimed, slot, route)
      const turned = detour.afterDirect(claimed, { slot, route, result })
      if (turned.next === 'ends') return result
      if (turned.next === 'waits') return { ...result, kind: 'deferred' }
      return { ...(await sendTurned(ways, claimed, turned.relay)), site: result.site }
    }
    case 'probe': {
      const probed = await sendProbe(ways, claimed, route, first.probe)
      // The probe tells about the site, but this slot belongs to the smart host.
      if (probed !== undefined) return { ...probed, site: undefined }
      return await sendBySmartHost(claimed, first.relay)
    }
    case 'relay':
      return await sendBySmartHost(claimed, first.relay)
    case 'nowhere':
      return first.outcome(claimed)
  }
}

/** Undefined: the mail did not get through, and is to go by the smart host. */
async function sendProbe(
  { detour, sendDirect }: Ways,
  claimed: Claimed,
  route: MailRoute,
  probe: DirectProbe,
): Promise<AttemptResult | undefined> {
  let result: AttemptResult | undefined
  let isDone = false
  try {
    result = await sendDirect(claimed, probe.slot, route)
  } finally {
    isDone = detour.afterProbe(probe, result)
  }
  return isDone ? result : undefined
}

/** By a smart host at which room was taken for this mail. */
async function sendTurned({ detour, sendBySmartHost }: Ways, claimed: Claimed, relay: Relay) {
  let site: SiteOutcome | undefined
  try {
    const result = await sendBySmartHost(claimed, relay)
    site = result.site
    return result
  } finally {
    detour.afterTurned(claimed, relay, site)
  }
}

/** The result for a mail whose attempt threw an error. */
function resultOfError(error: unknown, claimed: Claimed, log: Log): AttemptResult {
  if (error instanceof MailFault) return { kind: 'failed', reply: error.message }
  if (error instanceof Uncomposable) {
    const { lastReply, lastCause } = claimed
    return {
      kind: 'deferred',
      reply: lastReply ?? '',
      cause: lastCause ?? undefined,
      fault: error.message,
    }
  }
  if (isPassing(error)) {
    log.warn({ cause: wordsOfCause(error), deliveryId: claimed.id }, 'The mail could not be read')
    return { kind: 'deferred', reply: internalFault, class: 'unknown' }
  }
  // This is a bug and not a fault of the network: the mail keeps its place in the queue, and the log says so.
  log.error({ error, deliveryId: claimed.id, emailId: claimed.emailId }, 'Attempt failed')
  return { kind: 'deferred', reply: internalFault, class: 'unknown' }
}

/** MTA-STS (RFC 8461) and DANE (RFC 7672); tests hand in what is fetched. */
function openTlsPolicies(deps: OutboundDeps, signal: AbortSignal) {
  const { config } = deps
  const { allowPrivateAddresses, port } = config
  const fetchPolicy =
    deps.tls?.fetchPolicy ?? makePolicyFetcher({ ...deps, allowPrivateAddresses, signal })
  return makeTlsPolicies({ ...deps, settings: config.tls, port, fetchPolicy })
}
