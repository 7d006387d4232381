import type { QueueClass } from '../store/index.js'
import type { Relay, Relays } from './egress/index.js'
import type { Pool, Source } from './pools.js'
import type { Site } from './route.js'
import type { Held, Shaping, Site as SiteState } from './shaping/index.js'

/** Room for one attempt at a site from one source address. */
export interface Place {
  readonly site: SiteState
  readonly siteKey: string
  readonly source: Source
  /** The smart host whose room it is, on the failover way. */
  readonly relay?: Relay
  /** Others wait for it to be told whether the site answers. */
  readonly hurried?: true
}

/** The site key of the failover way: all sites' mail stands in one line there. */
export const smartHosts = 'the smart hosts'

export interface Gate {
  /** Takes a place for a mail of the class, or says why there is none. */
  start(of: QueueClass): Place | Held
}

/** Places at a site from a pool's source addresses in turn, each as often as its weight says. */
export function openGate(shaping: Shaping, site: Site, pool: Pool): Gate {
  let turn = 0
  return {
    start(of) {
      let closed: Held | undefined
      for (let i = 0; i < pool.turns.length; i++) {
        const at = (turn + i) % pool.turns.length
        const source = pool.turns[at]
        if (source === undefined) break
        const state = shaping.site(site, source.name)
        const held = state.mayStart(of)
        if (held === undefined) {
          state.started(of)
          turn = at + 1
          return { site: state, siteKey: site.key, source }
        }
        closed = soonest(closed, named(held, source))
      }
      if (closed === undefined) throw new Error(`The pool ${pool.name} has no address`)
      return closed
    },
  }
}

/** Places at the smart hosts. The sources are for probes, which leave from them as mail usually does. */
export function openRelayGate(relays: Relays, pool: Pool): Gate {
  let turn = 0
  return {
    start(of) {
      const started = relays.start(of)
      if ('gate' in started) return started
      const source = pool.turns[turn++ % pool.turns.length]
      if (source === undefined) throw new Error(`The pool ${pool.name} has no address`)
      return { site: started.room, siteKey: smartHosts, source, relay: started }
    },
  }
}

/** A pool has several sources, and a warm-up is of one. */
const named = (held: Held, { name }: Source): Held =>
  held.gate === 'warm-up' ? { ...held, why: `${held.why} (${name})` } : held

/** Of several closed gates the one that opens first; one that names no time is asked again anyway. */
function soonest(one: Held | undefined, other: Held): Held {
  if (one === undefined || one.until === null) return other
  return other.until !== null && other.until < one.until ? other : one
}
