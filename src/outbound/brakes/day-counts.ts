import { dayNumber } from '../../clock/index.js'
import type { OutboundDeps } from '../deps.js'
import { addToDays, type DayCount, forgetDays } from './days.js'
import { siteKey } from './in-force.js'

/** What a thread has counted of the day, until it is written. */
export interface DayCounts {
  add(one: DayCount): void
  write(now: number): Promise<void>
}

// How many sites are counted in a minute; smaller ones have too little mail to have anything usual.
const mostCounted = 2_000
const leastCounted = 5

/** In memory: a crash loses less than a minute of it. */
export function makeDayCounts({
  store,
  thread,
}: Pick<OutboundDeps, 'store' | 'thread'>): DayCounts {
  const counts = new Map<string, DayCount>()
  let day = 0
  return {
    add(one) {
      const key = siteKey(one.site, one.source)
      const known = counts.get(key)
      if (known === undefined) {
        if (counts.size < mostCounted) counts.set(key, { ...one })
        return
      }
      known.tried += one.tried
      known.delivered += one.delivered
      known.deferred += one.deferred
      known.blocked += one.blocked
      known.busyMs += one.busyMs
    },
    async write(now) {
      const written = [...counts.values()].filter(({ tried }) => tried >= leastCounted)
      counts.clear()
      if (written.length === 0) return
      await store.write(async (tx) => {
        await addToDays(tx, written, now)
        // Once a day only, because it goes through all rows.
        if (thread === 0 && day !== dayNumber(now)) await forgetDays(tx, now)
      })
      day = dayNumber(now)
    },
  }
}
