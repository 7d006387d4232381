import type { Clock } from '../../clock/index.js'
import type { QueueClass } from '../../store/index.js'
import { type Held, keptFrom } from '../shaping/index.js'
import { askerOf, choose } from './choose.js'
import { makeConnectionShares, type ShareRefusal } from './connection-shares.js'
import type { DeliverySlot, DeliverySlots } from './delivery-slots.js'
import { classes, type Stream } from './lanes.js'
import { makeParked } from './parked.js'
import { makeTimeHeap } from './time-heap.js'

/** Streams by account, both in turn. */
export type StreamsByAccount = Map<string, Set<Stream>>

/** The way from one pool of source addresses to one site, and who stands in line there. */
export interface Path {
  readonly key: string
  /** Its site's key: what ends there makes room for all paths to it. */
  readonly site: string
  readonly gate: DeliverySlots
  /** Due streams by class and account; both the accounts and the streams of each in turn. */
  readonly due: Record<QueueClass, StreamsByAccount>
  /** Why nothing of the class may start; undefined while it stands in line. */
  readonly held: Record<QueueClass, Held | undefined>
}

export interface PathTo extends Pick<Path, 'key' | 'site'> {
  /** The gate of a path that is not there yet. */
  open(): DeliverySlots
}

export interface Admitted {
  stream: Stream
  /** One for each delivery that may start; those for which there is none are given back. */
  slots: DeliverySlot[]
}

export interface PathBounds {
  /** Attempts at once over all paths. */
  total: number
  /** The most deliveries that one claim asks for. */
  perClaim: number
  clock: Pick<Clock, 'now'>
}

/** A gate has closed; who stands before it, by account. */
export type OnHeld = (gate: Held['gate'], waiting: ReadonlyMap<string, ReadonlySet<Stream>>) => void

/**
 * Whose turn it is: transactional before automation before campaign, paths in turn within a class,
 * accounts in turn at a path, lanes in turn within an account. A path whose gate is closed leaves
 * the line until an attempt at its site ends or the gate said it would open, so a site with a
 * million waiting rows is looked at once for each slot that it has.
 */
export interface Paths {
  /** A due stream gets in line. */
  stand(stream: Stream, to: PathTo): void
  /** It has nothing due any more, or goes elsewhere. */
  leave(stream: Stream): void
  /** Everybody leaves, to get in line anew: ways have changed. */
  leaveAll(): Stream[]
  /**
   * Takes slots for what may start now. Whoever is given something goes to the end of the line.
   * `may`: of which streams, by how many slots each has been given already; by default of all.
   */
  admit(now: number, may?: (stream: Stream, slots: number) => boolean): Admitted[]
  /** An attempt has ended, after it came as far as the site. */
  ended(slot: DeliverySlot): void
  /** Nothing began in the slot, or it told nothing about the site. */
  withdrawn(slot: DeliverySlot): void
  /** Something that holds many changed (a ration came, limits were raised): all ask again. */
  reopen(gate?: Held['gate']): void
  /** How many paths of the class stand in line. */
  inLine(of: QueueClass): number
  /** At how many paths mail of the account waits for room in a share of the connections. */
  parked(of: QueueClass, accountId: string): number
  /** True when nothing more of the class may start anywhere. */
  isFull(of: QueueClass): boolean
  /** When the next closed gate opens, or an attempt has had time enough; undefined for not known. */
  wakeAt(): number | undefined
  readonly inFlight: number
  /** All that have mail due, for who looks. */
  all(): Iterable<Path>
}

export function makePaths(bounds: PathBounds, onHeld: OnHeld): Paths {
  const paths = new Map<string, Path>()
  const bySite = new Map<string, Set<Path>>()
  const lines: Record<QueueClass, Set<Path>> = { 0: new Set(), 1: new Set(), 2: new Set() }
  const shares = makeConnectionShares(bounds.total, bounds.clock)
  const parked = makeParked()
  /** Paths that are in line again as a share had room. */
  const woken: Record<QueueClass, Map<Path, string>> = { 0: new Map(), 1: new Map(), 2: new Map() }
  const opening = makeTimeHeap<{ path: Path; of: QueueClass }>()
  let inFlight = 0

  const line = (path: Path, of: QueueClass) => {
    parked.remove(path, of)
    if (path.due[of].size > 0) lines[of].add(path)
  }
  const wakeOne = (share: string) => {
    const next = parked.next(share)
    if (next === undefined) return
    line(next.path, next.of)
    woken[next.of].set(next.path, share)
  }
  /** It has left the line: the room for which it was woken is the next one's, unless it was used. */
  const passOn = (path: Path, of: QueueClass, isUsed = (_share: string) => false) => {
    const share = woken[of].get(path)
    woken[of].delete(path)
    if (share !== undefined && !isUsed(share)) wakeOne(share)
  }
  const hold = (path: Path, of: QueueClass, held: Held) => {
    lines[of].delete(path)
    const before = path.held[of]
    path.held[of] = held
    if (before?.gate !== held.gate) onHeld(held.gate, path.due[of])
    if (held.until !== null && before?.until !== held.until) opening.push(held.until, { path, of })
  }
  const park = (path: Path, of: QueueClass, refused: ReadonlyMap<string, ShareRefusal>) => {
    const [{ why } = { why: '' }] = refused.values()
    hold(path, of, { gate: 'connections', until: null, why })
    const waited = new Map([...refused].map(([account, { share }]) => [account, share]))
    parked.add(path, of, waited)
    passOn(path, of, (share) => [...waited.values()].includes(share))
  }
  const isWaiting = () =>
    !parked.isEmpty() || classes.some((of) => lines[of].size > 0 && isFull(of))
  const finish = (slot: DeliverySlot, tried: boolean) => {
    inFlight--
    const roomier = shares.ended(slot, tried)
    // Those who waited for it come before more of the same site.
    if (!parked.isEmpty()) for (const share of roomier) wakeOne(share)
    for (const path of bySite.get(slot.siteKey) ?? []) for (const of of classes) line(path, of)
  }
  const wake = (now: number) => {
    for (let first = opening.first(); first && first.at <= now; first = opening.first()) {
      opening.pop()
      const { path, of } = first.item
      if (path.held[of]?.until !== first.at) continue
      path.held[of] = undefined
      line(path, of)
    }
  }
  const isFull = (of: QueueClass) => {
    return inFlight >= bounds.total - keptFrom(of, bounds.total)
  }
  const leave = (stream: Stream) => {
    const { path } = stream
    if (path === undefined) return
    stream.path = undefined
    const accounts = path.due[stream.class]
    const streams = accounts.get(stream.accountId)
    streams?.delete(stream)
    if (streams?.size === 0) {
      accounts.delete(stream.accountId)
      parked.forget(path, stream.class, stream.accountId)
    }
    if (accounts.size > 0) return
    lines[stream.class].delete(path)
    passOn(path, stream.class)
    if (classes.some((of) => path.due[of].size > 0)) return
    paths.delete(path.key)
    const others = bySite.get(path.site)
    others?.delete(path)
    if (others?.size === 0) bySite.delete(path.site)
  }

  return {
    stand(stream, { key, site, open }) {
      let path = paths.get(key)
      if (path === undefined) {
        const held = { 0: undefined, 1: undefined, 2: undefined }
        path = { key, site, gate: open(), due: makeDue(), held }
        paths.set(key, path)
        bySite.set(site, (bySite.get(site) ?? new Set()).add(path))
      }
      const accounts = path.due[stream.class]
      const streams = accounts.get(stream.accountId) ?? new Set()
      accounts.set(stream.accountId, streams.add(stream))
      stream.path = path
      // Where others have no room in their shares, it may have some in its own.
      const wasParked = parked.remove(path, stream.class)
      if (wasParked || path.held[stream.class] === undefined) lines[stream.class].add(path)
    },
    leave,
    leaveAll() {
      const all = [...paths.values()].flatMap(({ due }) =>
        classes.flatMap((of) => [...due[of].values()].flatMap((streams) => [...streams])),
      )
      for (const stream of all) leave(stream)
      return all
    },
    admit(now, may = () => true) {
      wake(now)
      const wants = new Map<Stream, Admitted>()
      let left = bounds.perClaim
      for (const of of classes) {
        for (const path of lines[of]) {
          if (left === 0 || isFull(of)) break
          const isAsked = (one: Stream) => may(one, wants.get(one)?.slots.length ?? 0)
          if (!isAnyAsked(path.due[of], isAsked)) continue
          const free = path.gate.take(of)
          if ('gate' in free) {
            hold(path, of, free)
            passOn(path, of)
            continue
          }
          const { stream, refused } = choose(shares, path.due[of], free, isAsked)
          if (stream === undefined) {
            free.withdraw()
            if (refused !== undefined) park(path, of, refused)
            continue
          }
          const slot = free.own ? free : shares.started(free, askerOf(stream, free))
          path.held[of] = undefined
          toTheEnd(path.due[of], stream)
          const want = wants.get(stream) ?? { stream, slots: [] }
          want.slots.push(slot)
          wants.set(stream, want)
          inFlight++
          left--
          // To the end of the line, which this loop comes to in turn.
          lines[of].delete(path)
          lines[of].add(path)
        }
      }
      if (isWaiting()) shares.cut()
      return [...wants.values()]
    },
    ended: (slot) => finish(slot, true),
    withdrawn: (slot) => finish(slot, false),
    reopen(gate) {
      for (const path of paths.values()) {
        for (const of of classes) {
          if (gate === undefined || path.held[of]?.gate === gate) line(path, of)
        }
      }
    },
    inLine: (of) => lines[of].size,
    parked: parked.count,
    isFull,
    wakeAt() {
      const at = Math.min(opening.first()?.at ?? never, isWaiting() ? shares.cutAt() : never)
      return at === never ? undefined : at
    },
    get inFlight() {
      return inFlight
    },
    all: () => paths.values(),
  }
}

const makeDue = (): Path['due'] => ({ 0: new Map(), 1: new Map(), 2: new Map() })

const never = Number.POSITIVE_INFINITY

function isAnyAsked(accounts: StreamsByAccount, isAsked: (stream: Stream) => boolean): boolean {
  for (const streams of accounts.values()) {
    for (const stream of streams) if (isAsked(stream)) return true
  }
  return false
}

/** Both the account and the stream go to the end of their turns. */
function toTheEnd(accounts: StreamsByAccount, stream: Stream): void {
  const streams = accounts.get(stream.accountId)
  if (streams === undefined) return
  accounts.delete(stream.accountId)
  accounts.set(stream.accountId, streams)
  streams.delete(stream)
  streams.add(stream)
}
