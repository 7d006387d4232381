import type { Clock } from '../../clock/index.js'
import type { QueueClass } from '../../store/index.js'
import { type Held, keptFrom } from '../shaping/index.js'
import { askerOf, choose } from './choose.js'
import { makeConnectionShares } from './connection-shares.js'
import type { DeliverySlot, DeliverySlots } from './delivery-slots.js'
import { makePathLines, type OnHeld } from './path-lines.js'
import { classes, type Path, type Stream, type StreamsByAccount } from './waiting.js'

/** A path, and how to open its gate if nothing stands there yet. */
export interface PathTo extends Pick<Path, 'key' | 'site'> {
  /** The gate of a path that is not there yet. */
  open(): DeliverySlots
}

/** A stream that may start, with the slots that were taken for it. */
export interface Admitted {
  stream: Stream
  /** One for each delivery that may start; a slot without a delivery is given back. */
  slots: DeliverySlot[]
}

/** What bounds all paths of the thread together. */
export interface PathBounds {
  /** Attempts at once over all paths. */
  total: number
  /** The most deliveries that one claim asks for. */
  perClaim: number
  /** True when so many of the class wait for the processor that no more need to start. */
  isCrowded: (of: QueueClass) => boolean
  clock: Pick<Clock, 'now'>
}

/**
 * Whose turn it is. Transactional mail goes before automations' mail, and that before campaigns'; within a class
 * the paths take turns, at a path the accounts, within an account the lanes. A path whose gate is closed leaves the
 * line until an attempt at its site ends or until the time that the gate named, so a site with a million waiting
 * rows is looked at once for each slot that it has.
 */
export interface Paths {
  /** A due stream gets in line. */
  stand(stream: Stream, to: PathTo): void
  /** It has nothing due any more, or goes elsewhere. */
  leave(stream: Stream): void
  /** Takes all streams out of line, to get in line anew: ways have changed. */
  leaveAll(): Stream[]
  /**
   * Takes slots for what may start now. A path that is given something goes to the end of the line. `may` says
   * whether a stream may have one more slot, given how many it has already; by default all may.
   */
  admit(now: number, may?: (stream: Stream, slots: number) => boolean): Admitted[]
  /** An attempt has ended, after it came as far as the site. */
  ended(slot: DeliverySlot): void
  /** Nothing began in the slot, or it told nothing about the site. */
  withdrawn(slot: DeliverySlot): void
  /** Room at the site that was taken outside of the line was given back: all paths to the site ask again. */
  roomAt(site: string): void
  /** All that wait for an attempt to end, or for a ration, ask again, in case a return of room was not told. */
  askAgain(): void
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
  /** All paths that have mail due, for the operator's view. */
  all(): Iterable<Path>
}

/**
 * A path is a pool of source addresses and a site. Streams stand in line there, one turn an
 * account, so that an account with a million mails waits no less than one with a single mail (as in
 * Postfix's queue manager, but by account and not by message).
 */
export function makePaths(bounds: PathBounds, onHeld: OnHeld): Paths {
  const registry = makePathRegistry()
  const lines = makePathLines(onHeld)
  const shares = makeConnectionShares(bounds.total, bounds.clock)
  let inFlight = 0

  const isFull = (of: QueueClass) => inFlight >= bounds.total - keptFrom(of, bounds.total)
  const isWaiting = () =>
    lines.isAnyParked() || classes.some((of) => lines.of[of].size > 0 && isFull(of))
  const roomAt = (site: string) => {
    for (const path of registry.at(site)) for (const of of classes) lines.join(path, of)
  }
  const finish = (slot: DeliverySlot, tried: boolean) => {
    inFlight--
    // Those who waited for a share come before more of the same site.
    lines.roomIn(shares.ended(slot, tried))
    roomAt(slot.siteKey)
  }
  const leave = (stream: Stream) => {
    const { path, class: of, accountId } = stream
    if (path === undefined) return
    registry.remove(stream, path)
    if (path.due[of].has(accountId)) return
    lines.forget(path, of, accountId)
    if (path.due[of].size === 0) lines.leave(path, of)
  }
  /** Gives the next stream at the path a slot; false when nothing may start there, which takes it out of line. */
  const admitAt = (
    path: Path,
    of: QueueClass,
    isAsked: (stream: Stream) => boolean,
    admitted: Map<Stream, Admitted>,
  ): boolean => {
    const free = path.slots.take(of)
    if ('gate' in free) {
      lines.hold(path, of, free)
      return false
    }
    const { stream, refused } = choose(shares, path.due[of], free, isAsked)
    if (stream === undefined) {
      free.withdraw()
      if (refused !== undefined) lines.park(path, of, refused)
      return false
    }
    const slot = free.own ? free : shares.started(free, askerOf(stream, free))
    path.held[of] = undefined
    toTheEnd(path.due[of], stream)
    const one = admitted.get(stream) ?? { stream, slots: [] }
    one.slots.push(slot)
    admitted.set(stream, one)
    inFlight++
    return true
  }

  return {
    stand(stream, to) {
      lines.joined(registry.add(stream, to), stream.class)
    },
    leave,
    leaveAll() {
      const all = registry.streams()
      for (const stream of all) leave(stream)
      return all
    },
    admit(now, may = () => true) {
      lines.wake(now)
      const admitted = new Map<Stream, Admitted>()
      let left = bounds.perClaim
      for (const of of classes) {
        if (bounds.isCrowded(of)) break
        for (const path of lines.of[of]) {
          if (left === 0 || isFull(of)) break
          const isAsked = (one: Stream) => may(one, admitted.get(one)?.slots.length ?? 0)
          if (!isAnyAsked(path.due[of], isAsked)) continue
          if (!admitAt(path, of, isAsked, admitted)) continue
          left--
          // The path is at the end of the line, and this walk comes to it again in turn.
          lines.toTheEnd(path, of)
        }
      }
      if (isWaiting()) shares.cut()
      return [...admitted.values()]
    },
    ended: (slot) => finish(slot, true),
    withdrawn: (slot) => finish(slot, false),
    roomAt,
    askAgain() {
      for (const path of registry.all()) for (const of of classes) lines.askAgain(path, of)
    },
    reopen(gate) {
      for (const path of registry.all()) {
        for (const of of classes) {
          if (gate === undefined || path.held[of]?.gate === gate) lines.join(path, of)
        }
      }
    },
    inLine: (of) => lines.of[of].size,
    parked: lines.parked,
    isFull,
    wakeAt: () => known(Math.min(lines.opensAt() ?? never, isWaiting() ? shares.cutAt() : never)),
    get inFlight() {
      return inFlight
    },
    all: registry.all,
  }
}

const never = Number.POSITIVE_INFINITY
/** For a loop that sleeps until then: `never` is not a time. */
const known = (at: number) => (at === never ? undefined : at)
// For a site at which nothing stands.
const nowhere: ReadonlySet<Path> = new Set()

/** The paths at which streams stand, by their keys and by their sites, and the streams themselves. */
function makePathRegistry() {
  const paths = new Map<string, Path>()
  const bySite = new Map<string, Set<Path>>()
  const open = ({ key, site, open: openSlots }: PathTo): Path => {
    const known = paths.get(key)
    if (known !== undefined) return known
    const held = { 0: undefined, 1: undefined, 2: undefined }
    const due = { 0: new Map(), 1: new Map(), 2: new Map() }
    const path: Path = { key, site, slots: openSlots(), due, held }
    paths.set(key, path)
    bySite.set(site, (bySite.get(site) ?? new Set()).add(path))
    return path
  }

  return {
    add(stream: Stream, to: PathTo): Path {
      const path = open(to)
      const accounts = path.due[stream.class]
      const streams = accounts.get(stream.accountId) ?? new Set()
      accounts.set(stream.accountId, streams.add(stream))
      stream.path = path
      return path
    },
    remove(stream: Stream, path: Path) {
      stream.path = undefined
      const accounts = path.due[stream.class]
      const streams = accounts.get(stream.accountId)
      streams?.delete(stream)
      if (streams?.size === 0) accounts.delete(stream.accountId)
      if (classes.some((of) => path.due[of].size > 0)) return
      paths.delete(path.key)
      const others = bySite.get(path.site)
      others?.delete(path)
      if (others?.size === 0) bySite.delete(path.site)
    },
    at: (site: string): Iterable<Path> => bySite.get(site) ?? nowhere,
    all: () => paths.values(),
    streams: () =>
      [...paths.values()].flatMap(({ due }) =>
        classes.flatMap((of) => [...due[of].values()].flatMap((streams) => [...streams])),
      ),
  }
}

/** By account first, since most lines have few. */
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
