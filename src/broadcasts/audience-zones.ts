import { nextTurn } from '../bounded/index.js'
import { hourMs } from '../clock/index.js'
import type { Read } from '../store/index.js'
import { nextOfAudience } from './audience.js'
import type { Broadcast } from './broadcast.js'
import { exactLocal, nextTime, sameByClock, spanOfOwnTime, zoneOf } from './own-time.js'
import { opensFrom, paceOf } from './pace.js'
import { audienceOf } from './standing.js'

/** The first and the last moment (ms) at which people get a campaign. */
export interface TimeSpan {
  first: number
  last: number
}

/**
 * When people get a campaign at one time of their own clocks, by the zones of those who were looked at. A time outside
 * of the campaign's hours becomes the next beginning of these.
 */
export interface OwnTimes {
  span: TimeSpan
  /** How many people were looked at; `isAll`: there are no others. */
  people: number
  isAll: boolean
  /** How many of these have no known zone, and get it by the campaign's. */
  withoutZone: number
  /** Nobody in the world gets it before or after this. */
  bounds: TimeSpan
  /** The next such time of their clocks after a moment: from the first person to the last. */
  after(moment: number): TimeSpan
  /** When the campaign's hours allow what is due at a moment (ms). */
  opens(at: number): number
}

// Each person costs a few microseconds; a page has no time for a million.
const mostLookedAt = 2_000
const perPage = 500

/**
 * When the version for the rest is chosen (ms): so many hours after a test by own clocks, which begins no sooner than
 * `from`. If not all of the audience were looked at, the last ones are assumed to be where days end.
 */
export const choiceAfterClocks = (
  { span, bounds, isAll, opens }: Pick<OwnTimes, 'span' | 'bounds' | 'isAll' | 'opens'>,
  { hours, from }: { hours: number; from: number },
): number => opens(Math.max(from, isAll ? span.last : bounds.last)) + hours * hourMs

/** Undefined for a campaign that does not use clocks, or has no time or nobody yet. Throws as `nextOfAudience` does. */
export async function ownTimesOf(read: Read, broadcast: Broadcast): Promise<OwnTimes | undefined> {
  const { scheduled_at: moment, local_zone: zone } = broadcast
  if (moment === null || zone === null) return undefined
  const zones = new Set<string>()
  let people = 0
  let withoutZone = 0
  let isAll = false
  for (let cursor = ''; !isAll && people < mostLookedAt; ) {
    const page = await nextOfAudience(read, audienceOf(broadcast), cursor, perPage)
    for (const member of page.reachable) {
      const own = zoneOf(member)
      if (own === undefined) withoutZone++
      zones.add(own ?? zone)
    }
    people += page.reachable.length
    cursor = page.after
    isAll = page.done
    await nextTurn()
  }
  if (people === 0) return undefined
  const local = exactLocal(moment, zone)
  const pace = paceOf(broadcast)
  const opens = (at: number) => opensFrom(pace, at)
  const opened = ({ first, last }: TimeSpan): TimeSpan => ({
    first: opens(first),
    last: opens(last),
  })
  const spanOf = (at: (zone: string) => number): TimeSpan => {
    const times = [...zones].map(at)
    return opened({ first: Math.min(...times), last: Math.max(...times) })
  }
  return {
    span: spanOf((one) => sameByClock(moment, zone, one) ?? moment),
    people,
    isAll,
    withoutZone,
    bounds: opened(spanOfOwnTime(moment, zone)),
    after: (from) => spanOf((one) => nextTime(local, one, from)),
    opens,
  }
}
