import type { Cut } from '../../smtp/index.js'
import type { QueueClass } from '../../store/index.js'
import type { Relay, Relays } from '../egress/index.js'
import type { EgressPool, EgressSource } from '../routing/index.js'
import { isInside } from '../routing/index.js'
import type { Held, Shaping, Site, SiteName, SiteOutcome, TakenRation } from '../shaping/index.js'

/** Room for one attempt at a site from one source address. */
export interface DeliverySlot {
  site: Site
  readonly siteKey: string
  source: EgressSource
  /**
   * Exchanges this slot for one from another source of its pool (by name). `busy`: that source has no room just
   * now; `closed`: it has none soon, or is not of the pool. The caller passes the slot itself.
   */
  readonly leaveFrom?: (slot: DeliverySlot, source: string) => 'changed' | 'busy' | 'closed'
  /** The smart host whose room it is, on the failover way. */
  readonly relay?: Relay
  /** The slot leads to servers of our own or of the operator's, which are in nobody's share. */
  readonly own?: true
  /** Other mail waits for this attempt to show whether the site answers. */
  readonly hurried?: true
  /** Breaks the attempt off when it has lasted long and others wait for its connection. */
  readonly cut?: Cut
  /** Breaks the attempt off, with these words. */
  readonly giveUp?: (why: string) => void
  /** The attempt calls this with the address that it connects to. */
  readonly goesTo?: (address: string) => void
  /** Gives the slot back: nothing began in it. */
  withdraw(): void
  /** Tells the site how the attempt ended, and gives the room back. */
  ended(outcome: SiteOutcome): void
}

/** The site key of the failover way: all sites' mail stands in one line there. */
export const smartHostsSite = 'the smart hosts'

/** The gate of one path: room for attempts, or the reason why there is none. */
export interface DeliverySlots {
  /** Takes a slot for a mail of the class, or says why there is none. */
  take(of: QueueClass): DeliverySlot | Held
}

/**
 * Places at a site from a pool's source addresses, each as often as its weight says. The turns are counted over all
 * sites: where mail comes singly, each gate by itself would begin with the first source again.
 */
export function openSiteSlots(shaping: Shaping, site: SiteName, pool: EgressPool): DeliverySlots {
  const own = isInside(site.key) && ({ own: true } as const)
  const takeFrom = (source: EgressSource, of: QueueClass): Room | Held => {
    const state = shaping.site(site, source.name)
    const held = state.mayStart(of)
    if (held !== undefined) return held
    const ration = state.started(of)
    count(pool, source, 1)
    return { state, source, ration }
  }
  const giveBack = ({ state, source, ration }: Room, of: QueueClass) => {
    state.withdraw(of, ration)
    count(pool, source, -1)
  }
  const slotFor = (first: Room, of: QueueClass): DeliverySlot => {
    let room = first
    const leaveFrom: DeliverySlot['leaveFrom'] = (slot, name) => {
      const source = pool.turns.find((one) => one.name === name)
      if (source === undefined) return 'closed'
      const other = takeFrom(source, of)
      if ('gate' in other) return other.gate === 'connections' ? 'busy' : 'closed'
      giveBack(room, of)
      room = other
      slot.site = room.state
      slot.source = room.source
      return 'changed'
    }
    return {
      site: room.state,
      siteKey: site.key,
      source: room.source,
      leaveFrom,
      withdraw: () => giveBack(room, of),
      ended: (outcome) => room.state.ended(of, outcome, room.ration),
      ...own,
    }
  }
  return {
    take(of) {
      let closed: Held | undefined
      for (const source of inTurn(pool)) {
        const room = takeFrom(source, of)
        if (!('gate' in room)) return slotFor(room, of)
        closed = soonest(closed, named(room, source))
      }
      if (closed === undefined) throw new Error(`The pool ${pool.name} has no address`)
      return closed
    },
  }
}

/** What a slot holds at its site. */
interface Room {
  state: Site
  source: EgressSource
  ration: TakenRation | undefined
}

/** Places at the smart hosts. The sources are for probes, which leave directly, as mail usually does. */
export function openRelaySlots(relays: Relays, pool: EgressPool): DeliverySlots {
  let turn = 0
  return {
    take(of) {
      const started = relays.start(of)
      if ('gate' in started) return started
      const source = pool.turns[turn++ % pool.turns.length]
      if (source === undefined) throw new Error(`The pool ${pool.name} has no address`)
      const { room } = started
      const withdraw = () => room.withdraw(of)
      const ended = (outcome: SiteOutcome) => room.ended(of, outcome)
      return {
        site: room,
        siteKey: smartHostsSite,
        source,
        relay: started,
        own: true,
        withdraw,
        ended,
      }
    },
  }
}

/** A pool has several sources, and a warm-up belongs to one of them: its name is added. */
const named = (held: Held, { name }: EgressSource): Held =>
  held.gate === 'warm-up'
    ? {
        ...held,
        why: `${held.why} (${name})`,
        plain: held.plain === undefined ? undefined : `${held.plain} (${name})`,
      }
    : held

/**
 * Of two closed gates, the one that opens first; a gate that names no time is asked again anyway. A gate that waits
 * for a ration is the one that is named: its mail is asked again when the ration has come.
 */
function soonest(one: Held | undefined, other: Held): Held {
  if (one === undefined) return other
  const first = (other.until ?? never) < (one.until ?? never) ? other : one
  const asking = [one, other].find(({ gate, until }) => gate === 'warm-up' && until === null)
  return asking === undefined ? first : { ...asking, until: first.until }
}

const never = Number.POSITIVE_INFINITY

// How often each source was taken, divided by its weight: equal numbers are fair.
const taken = new WeakMap<EgressPool, Map<EgressSource, number>>()
// How far behind a source may fall: one that had no room for long does not get all turns once it has.
const mostBehind = 10

/** The pool's sources, beginning with the one that had least for its weight. */
function inTurn(pool: EgressPool): readonly EgressSource[] {
  const counts = taken.get(pool)
  if (pool.turns.length === 1 || counts === undefined) return pool.turns
  return [...new Set(pool.turns)].sort((a, b) => (counts.get(a) ?? 0) - (counts.get(b) ?? 0))
}

/**
 * Several source addresses share a pool by their weights. One that was idle does not get all turns
 * at once afterwards: it is at most `mostBehind` behind the others.
 */
function count(pool: EgressPool, source: EgressSource, by: 1 | -1): void {
  if (pool.turns.length === 1) return
  const counts = taken.get(pool) ?? new Map<EgressSource, number>()
  taken.set(pool, counts)
  const weight = pool.turns.filter((one) => one === source).length
  const share = (counts.get(source) ?? 0) + by / weight
  counts.set(source, share)
  for (const one of pool.turns) counts.set(one, Math.max(counts.get(one) ?? 0, share - mostBehind))
}
