import type { HitKind } from './machines.js'
import type { Copy } from './token.js'

/** A request for a pixel or along a link. */
export interface Hit {
  kind: HitKind
  at: number
  /** Where a click leads. */
  target?: string
  userAgent: string
  /** The sign in the request itself that a machine asked. */
  machine?: string | undefined
}

/** The requests for one copy of a mail within about a second. */
export interface HitVisit extends Copy {
  /** How many different targets the mail has; 0 as long as none was clicked. */
  links: number
  firstAt: number
  opened: HitTally
  clicked: HitTally
  /** The different targets that were clicked. */
  targets: ReadonlySet<string>
}

export interface HitTally {
  /** The hits that may be a person's. */
  readonly people: Seen
  readonly machines: Seen
}

interface Seen {
  readonly count: number
  /** The first hits, no two at the same moment; further ones are only counted. */
  readonly hits: readonly Hit[]
}

export interface Visits {
  /** Returns false when there is no room because hits of too many copies of mail came at once. */
  note(copy: Copy & { links?: number }, hit: Hit): boolean
  /** Takes out visits that began at `before` or earlier; a time later than `now` came from a clock that was ahead. */
  take(before: number, now?: number): HitVisit[]
  /** When the longest waiting visit began; undefined: none waits. */
  readonly oldestAt: number | undefined
  readonly size: number
}

// Bounds the hits of one copy of a mail within a second; a person makes two or three.
const maxHits = 20
const maxTargets = 300

/** Gathers hits by the copy of the mail, so that a flood of one token needs only the room of one visit. */
export function makeVisits(maxVisits = 50_000): Visits {
  // In the order in which they began: a Map keeps the order of insertion.
  const visits = new Map<number, GrowingVisit>()
  return {
    note({ accountId, emailId, deliveryId, links = 0 }, hit) {
      let visit = visits.get(deliveryId)
      if (visit === undefined) {
        if (visits.size >= maxVisits) return false
        visit = {
          accountId,
          emailId,
          deliveryId,
          links,
          firstAt: hit.at,
          opened: noTally,
          clicked: noTally,
          targets: noTargets,
        }
        visits.set(deliveryId, visit)
      }
      add(visit, hit)
      if (hit.target !== undefined) {
        visit.links = links
        if (visit.targets === noTargets) visit.targets = new Set()
        if (visit.targets.size < maxTargets) visit.targets.add(hit.target)
      }
      return true
    },
    take(before, now = Number.POSITIVE_INFINITY) {
      const taken: HitVisit[] = []
      for (const [id, visit] of visits) {
        if (visit.firstAt > before && visit.firstAt <= now) break
        taken.push(visit)
        visits.delete(id)
      }
      return taken
    },
    get oldestAt() {
      for (const { firstAt } of visits.values()) return firstAt
      return undefined
    },
    get size() {
      return visits.size
    },
  }
}

interface GrowingSeen extends Seen {
  count: number
  hits: Hit[]
}
interface GrowingTally extends HitTally {
  people: GrowingSeen
  machines: GrowingSeen
}
interface GrowingVisit extends HitVisit {
  opened: GrowingTally
  clicked: GrowingTally
  targets: Set<string>
}

// Most visits are one open: they all share this empty part, which is never written to.
const noHits: GrowingSeen = { count: 0, hits: [] }
const noTally: GrowingTally = { people: noHits, machines: noHits }
const noTargets = new Set<string>()

function add(visit: GrowingVisit, hit: Hit): void {
  if (visit[hit.kind] === noTally) visit[hit.kind] = { people: noHits, machines: noHits }
  const tally = visit[hit.kind]
  const who = hit.machine === undefined ? 'people' : 'machines'
  if (tally[who] === noHits) tally[who] = { count: 0, hits: [] }
  const seen = tally[who]
  seen.count++
  if (seen.hits.length >= maxHits) return
  const last = seen.hits.at(-1)
  // Some programs ask twice.
  if (last?.at === hit.at && last.target === hit.target && last.machine === hit.machine) return
  // Hits of a visit are in order of their times, so no two have the same one.
  const isLater = last === undefined || hit.at > last.at
  seen.hits.push(isLater ? hit : { ...hit, at: last.at + 1 })
}

/** What the queue and the log know about the delivery at the time of the request. */
interface Arrival {
  /** When the last attempt ended, or at least began; null: the first is not over. */
  at: number | null
}

// A person may open three links of a newsletter at once; a filter opens all.
const allAtOnce = 4

/**
 * Why a visit as a whole is a machine's, in words, though no single request shows it: the mail had not yet arrived,
 * or only just; or all its links were followed at once.
 */
export function machineVisit(
  visit: HitVisit,
  { at }: Arrival,
  withinMs: number,
): { opened?: string; clicked?: string } {
  if (withinMs > 0) {
    if (at === null) return both('before the mail had arrived')
    const after = visit.firstAt - at
    // A visit that seems long before the arrival came after the clock was set back.
    if (Math.abs(after) < withinMs)
      return both(`${Math.max(0, after)} ms after the mail had arrived`)
  }
  const followed = visit.targets.size
  if (followed < 2 || followed < Math.min(visit.links, allAtOnce)) return {}
  return { clicked: `${followed} links at once` }
}

const both = (words: string) => ({ opened: words, clicked: words })
