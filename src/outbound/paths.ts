import type { QueueClass } from '../store/index.js'
import { classes, type Stream } from './lanes.js'
import type { Gate, Place } from './places.js'
import { type Held, keptFrom } from './shaping/index.js'
import { makeTimeHeap } from './time-heap.js'
import { makeUntried } from './untried.js'

/** The way from one pool of source addresses to one site, and who stands in line there. */
export interface Path {
  readonly key: string
  /** Its site's key: what ends there makes room for all paths to it. */
  readonly site: string
  readonly gate: Gate
  /** Due streams by class and account; both the accounts and the streams of each in turn. */
  readonly due: Record<QueueClass, Map<string, Set<Stream>>>
  /** Why nothing of the class may start; undefined while it stands in line. */
  readonly held: Record<QueueClass, Held | undefined>
}

export interface Destination extends Pick<Path, 'key' | 'site'> {
  /** The gate of a path that is not there yet. */
  open(): Gate
}

export interface Want {
  stream: Stream
  /** One for each delivery that may start; those for which there is none are given back. */
  places: Place[]
}

export interface PathBounds {
  /** Attempts at once over all paths. */
  total: number
  /** The most deliveries that one claim asks for. */
  perClaim: number
}

/** A gate has closed; who stands before it, by account. */
export type OnHeld = (gate: Held['gate'], waiting: ReadonlyMap<string, ReadonlySet<Stream>>) => void

/**
 * Whose turn it is: transactional before automation before campaign, paths in turn within a class,
 * accounts in turn at a path, lanes in turn within an account. A path whose gate is closed leaves
 * the line until an attempt at its site ends or the gate said it would open, so a site with a
 * million waiting rows is looked at once for each place that it has.
 */
export interface Paths {
  /** A due stream gets in line. */
  stand(stream: Stream, to: Destination): void
  /** It has nothing due any more, or goes elsewhere. */
  leave(stream: Stream): void
  /** Everybody leaves, to get in line anew: ways have changed. */
  leaveAll(): Stream[]
  /**
   * Takes places for what may start now. Whoever is given something goes to the end of the line.
   * `may`: of which streams, by how many places each has been given already; by default of all.
   */
  wanted(now: number, may?: (stream: Stream, places: number) => boolean): Want[]
  /** An attempt has ended, or no delivery was there for the place. */
  ended(place: Place): void
  /** Something that holds many changed (a ration came, limits were raised): all ask again. */
  reopen(gate?: Held['gate']): void
  /** How many paths of the class stand in line. */
  inLine(of: QueueClass): number
  /** How many wait until fewer attempts are under way at sites that have not answered yet. */
  parked(of: QueueClass): number
  /** True when nothing more of the class may start anywhere. */
  isFull(of: QueueClass): boolean
  /** When the next closed gate opens; undefined for not known. */
  wakeAt(): number | undefined
  readonly inFlight: number
}

export function makePaths(bounds: PathBounds, onHeld: OnHeld): Paths {
  const paths = new Map<string, Path>()
  const bySite = new Map<string, Set<Path>>()
  const lines: Record<QueueClass, Set<Path>> = { 0: new Set(), 1: new Set(), 2: new Set() }
  /** Out of line for nothing but `untried`. */
  const parked: typeof lines = { 0: new Set(), 1: new Set(), 2: new Set() }
  const untried = makeUntried(bounds.total)
  const tooMany: Held = {
    gate: 'connections',
    until: null,
    why: `${untried.most} at most to places that have not answered yet`,
  }
  const opening = makeTimeHeap<{ path: Path; of: QueueClass }>()
  let inFlight = 0

  const line = (path: Path, of: QueueClass) => {
    parked[of].delete(path)
    if (path.due[of].size > 0) lines[of].add(path)
  }
  /** One of those that may go, for a place is free, or whoever had the last one makes no use of it. */
  const unpark = () => {
    for (const of of classes) {
      for (const path of parked[of]) {
        const accounts = [...path.due[of].keys()]
        if (accounts.some((account) => untried.mayStart(of, account))) return line(path, of)
      }
    }
  }
  /** The place as it is taken; undefined, and it is given back, when it is one too many. */
  const admit = (place: Place, of: QueueClass, accountId: string): Place | undefined => {
    if (place.relay !== undefined || place.site.answers) return place
    if (!untried.mayStart(of, accountId)) {
      place.withdraw()
      return undefined
    }
    const taken = untried.isCrowded() ? { ...place, hurried: true as const } : place
    untried.started(taken, accountId)
    return taken
  }
  const hold = (path: Path, of: QueueClass, held: Held) => {
    lines[of].delete(path)
    const before = path.held[of]
    path.held[of] = held
    if (before?.gate !== held.gate) onHeld(held.gate, path.due[of])
    if (held.until !== null && before?.until !== held.until) opening.push(held.until, { path, of })
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
    if (streams?.size === 0) accounts.delete(stream.accountId)
    if (accounts.size > 0) return
    parked[stream.class].delete(path)
    if (lines[stream.class].delete(path)) unpark()
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
      if (path.held[stream.class] === undefined) lines[stream.class].add(path)
    },
    leave,
    leaveAll() {
      const all = [...paths.values()].flatMap(({ due }) =>
        classes.flatMap((of) => [...due[of].values()].flatMap((streams) => [...streams])),
      )
      for (const stream of all) leave(stream)
      return all
    },
    wanted(now, may = () => true) {
      wake(now)
      const wants = new Map<Stream, Want>()
      let left = bounds.perClaim
      for (const of of classes) {
        for (const path of lines[of]) {
          if (left === 0 || isFull(of)) break
          const stream = nextIn(path.due[of], (one) => may(one, wants.get(one)?.places.length ?? 0))
          if (stream === undefined) continue
          const free = path.gate.start(of)
          if ('gate' in free) {
            hold(path, of, free)
            unpark()
            continue
          }
          const place = admit(free, of, stream.accountId)
          if (place === undefined) {
            hold(path, of, tooMany)
            parked[of].add(path)
            continue
          }
          path.held[of] = undefined
          toTheEnd(path.due[of], stream)
          const want = wants.get(stream) ?? { stream, places: [] }
          want.places.push(place)
          wants.set(stream, want)
          inFlight++
          left--
          // To the end of the line, which this loop comes to in turn.
          lines[of].delete(path)
          lines[of].add(path)
        }
      }
      return [...wants.values()]
    },
    ended(place) {
      inFlight--
      // Those who waited for it come before more of the same site.
      if (untried.ended(place)) unpark()
      for (const path of bySite.get(place.siteKey) ?? []) for (const of of classes) line(path, of)
    },
    reopen(gate) {
      for (const path of paths.values()) {
        for (const of of classes) {
          if (gate === undefined || path.held[of]?.gate === gate) line(path, of)
        }
      }
    },
    inLine: (of) => lines[of].size,
    parked: (of) => parked[of].size,
    isFull,
    wakeAt: () => opening.first()?.at,
    get inFlight() {
      return inFlight
    },
  }
}

const makeDue = (): Path['due'] => ({ 0: new Map(), 1: new Map(), 2: new Map() })

/** The next account's next stream of those that may. */
function nextIn(
  accounts: Map<string, Set<Stream>>,
  may: (stream: Stream) => boolean,
): Stream | undefined {
  for (const streams of accounts.values()) {
    for (const stream of streams) if (may(stream)) return stream
  }
  return undefined
}

/** Both the account and the stream go to the end of their turns. */
function toTheEnd(accounts: Map<string, Set<Stream>>, stream: Stream): void {
  const streams = accounts.get(stream.accountId)
  if (streams === undefined) return
  accounts.delete(stream.accountId)
  accounts.set(stream.accountId, streams)
  streams.delete(stream)
  streams.add(stream)
}
