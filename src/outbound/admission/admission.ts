import type { Clock } from '../../clock/index.js'
import type { LiveGate, StreamDue, StreamKey } from '../../deliveries/index.js'
import type { Log } from '../../log/index.js'
import type { Meter } from '../../metrics/index.js'
import type { QueueClass } from '../../store/index.js'
import type { Routes } from '../routing/index.js'
import type { Shaping, ShapingData, SiteName, SiteOutcome } from '../shaping/index.js'
import type { ComposingRoom } from './composing.js'
import type { DeliverySlot } from './delivery-slots.js'
import { type DestinationOptions, isStale, locate, makePathFinder } from './destination.js'
import { explainGate } from './explain.js'
import { makeLanes } from './lanes.js'
import { type Admitted, makePaths } from './paths.js'
import { makeSiteLookups } from './site-lookups.js'
import { type OutboundStanding, standingSites } from './standing.js'
import type { Stream } from './waiting.js'

/**
 * Whether mail may start now, and if not, why and until when; README.md has the drawing. Nothing here starts
 * mail by itself: `onOpened` says that some may start that could not, and `admit` hands out what may.
 */
export interface Admission {
  /** Learns that a stream has, or may have, a delivery that falls due then. */
  note(due: StreamDue): void
  /**
   * Takes delivery slots for the mail that may start now. `may` says whether a stream may have one more slot, given
   * how many it has in this turn; by default all may. The caller gives each slot to `ended` or to `withdraw`.
   */
  admit(may?: (stream: Stream, slots: number) => boolean): AdmittedTurn
  /** An attempt in the slot came as far as the site. */
  ended(slot: DeliverySlot, outcome: SiteOutcome): void
  /** Nothing began in the slot, or it told nothing about the site. */
  withdraw(slot: DeliverySlot): void
  /** Room that `admit` had not handed out was given back at a site (by its key): the site's mail asks again. */
  roomAt(site: string): void
  /** A claim took all that was due of the stream: nothing more before then (undefined: nothing). */
  exhausted(stream: Stream, nextDueAt: number | undefined): void
  /** Called between two claims of a stream: a site that was found long ago is looked up again first. */
  refreshSite(stream: Stream, now: number): void
  /**
   * True when the stream's gate has closed or its site is being looked up: what is claimed of it cannot leave soon.
   */
  isHeld(stream: Stream): boolean
  /** When something may start next; infinite for not known. */
  wakeAt(): number
  /** The gate at which mail of the stream waits; undefined when nothing of the stream is due here. */
  explain(key: StreamKey, isClaiming: (stream: Stream) => boolean): LiveGate | undefined
  /** The busiest sites and accounts; `connections`: sockets by site. */
  standing(connections: ReadonlyMap<string, number>): OutboundStanding
  /** The operator wants mail of these lanes tried now: a suspended site is tried with one mail. */
  tryNow(lanes: readonly string[] | 'all'): Promise<void>
  /** A ration of the warm-up has come. */
  rationCame(): void
  /** Campaign mail to some sites goes faster, or slower, than before. */
  brakesChanged(): void
  /** Ways or sites have changed: all that is due gets in line anew. */
  standAnew(): void
  /** New shaping files: limits change at once, and the site of each domain is worked out anew. */
  reshape(data: ShapingData): void
  /** Forgets lanes that had nothing for a while; what waits without a time asks again. */
  sweep(): void
}

/** What came of asking once. */
export interface AdmittedTurn {
  admitted: Admitted[]
  /** Streams before which a gate has closed in this turn, by account. */
  closed: readonly ReadonlyMap<string, ReadonlySet<Stream>>[]
}

/** What the admission decides by. */
export interface AdmissionOptions extends Routes, DestinationOptions {
  clock: Clock
  log: Log
  meter: Meter
  /** Attempts at once (`outbound.max_connections`, this thread's part). */
  total: number
  composing: Pick<ComposingRoom, 'isCrowded'>
  /** Something may start that could not before. */
  onOpened: () => void
}

// Deliveries that one claim asks for at most: the write that leases them stays short.
const maxPerClaim = 100
// How many destinations are looked up ahead of their turn: not those of a whole queue.
const routedAhead = 100
// While an account waits for room in its share, its lanes are looked up until so many of its paths are parked, so
// that those behind them are found.
const mostParked = 1_000

/**
 * Everything that decides whether mail may start now is behind this one interface. The loop that
 * claims asks it, and so does `posthorn queue show`: two answers to one question would sooner or
 * later differ.
 */
export function makeAdmission(options: AdmissionOptions): Admission {
  const { clock, log, meter, total, shaping, findRoute, forgetRoutes, onOpened } = options
  const { isCrowded } = options.composing
  const lanes = makeLanes()
  const pathTo = makePathFinder(options)
  const closed: ReadonlyMap<string, ReadonlySet<Stream>>[] = []
  let admittedAt = clock.now()
  const paths = makePaths({ total, perClaim: maxPerClaim, isCrowded, clock }, (gate, waiting) => {
    meter.count('posthorn_throttled_total', { gate })
    // Where only connections are missing, one is free soon.
    if (gate !== 'connections') closed.push(waiting)
  })
  const standAt = (stream: Stream, site: SiteName) => paths.stand(stream, pathTo(stream, site))
  const lookups = makeSiteLookups({
    findRoute,
    log,
    onRouted(lane, site, addresses, streams) {
      locate(lane, { site, addresses, now: clock.now() })
      // A claim that was under way may have emptied one of the streams.
      for (const stream of streams) if (stream.state === 'due') standAt(stream, site)
      onOpened()
    },
  })
  const stand = (stream: Stream, now: number) => {
    const { lane } = stream
    if (lane.site === undefined || isStale(lane, now)) lookups.add(stream)
    else standAt(stream, lane.site)
  }
  const isLookupWanted = (of: QueueClass, accountId: string) => {
    const isAhead = paths.inLine(of) >= routedAhead || paths.parked(of, accountId) >= mostParked
    return !paths.isFull(of) && !isAhead
  }
  const standAnew = () => {
    const now = clock.now()
    for (const stream of paths.leaveAll()) stand(stream, now)
    onOpened()
  }

  return {
    note: lanes.note,
    admit(may) {
      const now = clock.now()
      // The clock was set back: a gate that was to open at a time opens sooner than it said.
      if (now < admittedAt) paths.reopen()
      admittedAt = now
      for (const stream of lanes.wake(now)) stand(stream, now)
      lookups.pump(isLookupWanted)
      const admitted = paths.admit(now, may)
      return { admitted, closed: closed.length === 0 ? none : closed.splice(0) }
    },
    ended(slot, outcome) {
      slot.ended(outcome)
      paths.ended(slot)
    },
    withdraw(slot) {
      slot.withdraw()
      paths.withdrawn(slot)
    },
    roomAt: paths.roomAt,
    exhausted(stream, nextDueAt) {
      stream.claiming = false
      paths.leave(stream)
      lanes.exhausted(stream, nextDueAt)
    },
    refreshSite(stream, now) {
      if (stream.path === undefined || !isStale(stream.lane, now)) return
      paths.leave(stream)
      lookups.add(stream)
    },
    isHeld({ path, class: of }) {
      const held = path?.held[of]
      return held === undefined ? path === undefined : held.gate !== 'connections'
    },
    wakeAt: () => Math.min(lanes.wakeAt() ?? never, paths.wakeAt() ?? never),
    explain({ lane, class: of, accountId }, isClaiming) {
      const stream = lanes.find(lane, of, accountId)
      if (stream?.state !== 'due') return undefined
      const thread = { isRouting: lookups.has(stream), isClaiming: isClaiming(stream) }
      return explainGate(stream, { ...thread, isFull: paths.isFull(of), total })
    },
    standing: (connections) =>
      standingSites({ paths: paths.all(), connections, limitsOf: shaping.limitsOf }),
    async tryNow(names) {
      if (names === 'all') shaping.tryNow()
      else await Promise.all(names.map((name) => tryLane(name, lanes.siteOf(name), options)))
      paths.reopen()
    },
    rationCame() {
      paths.reopen('warm-up')
      onOpened()
    },
    brakesChanged() {
      paths.reopen('brake')
      onOpened()
    },
    standAnew,
    reshape(data) {
      shaping.reload(data)
      // The new files may put a domain into another site, so sites are worked out anew, also for mail in line.
      forgetRoutes()
      lanes.forgetSites()
      standAnew()
    },
    sweep() {
      lanes.sweep(clock.now())
      paths.askAgain()
    },
  }
}

const never = Number.POSITIVE_INFINITY
const none: AdmittedTurn['closed'] = []

/** Ends a suspension of the site at which the lane's mail stands in line, and of the one to which it goes. */
async function tryLane(
  lane: string,
  stands: SiteName | undefined,
  { shaping, findRoute }: { shaping: Shaping; findRoute: Routes['findRoute'] },
): Promise<void> {
  if (stands !== undefined) shaping.tryNow(stands.key)
  const { site } = await findRoute(lane)
  if (site.key !== stands?.key) shaping.tryNow(site.key)
}
