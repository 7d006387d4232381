import { nextTurn } from '../bounded/index.js'
import { hourMs } from '../clock/index.js'
import type { Read } from '../store/index.js'
import { nextOfAudience } from './audience.js'
import type { Broadcast } from './broadcast.js'
import { audienceOf } from './dispatch-campaign.js'
import { exactLocal, nextTime, sameByClock, spanOfOwnTime, zoneOf } from './own-time.js'
import { opensFrom, paceOf } from './pace.js'

/** From when until when (ms) people get a campaign. */
export interface TimeSpan {
  first: number
  last: number
}

/**
 * When people get a campaign at one time of their own clocks, by the zones of those who were looked at; where that is out
 * of the campaign's hours, when these begin next.
 */
export interface OwnTimes {
  span: TimeSpan
  /** How many were looked at; `isAll`: all that there are. */
  people: number
  isAll: boolean
  /** How many of these have no zone that is known, and get it by the campaign's. */
  withoutZone: number
  /** Nobody in the world gets it before or after this. */
  bounds: TimeSpan
  /** The next such hour of their clocks after a moment: from the first of them to the last. */
  after(moment: number): TimeSpan
  /** When the hours of the campaign allow what is due at a moment (ms). */
  opens(at: number): number
}

// Each costs a few microseconds; a page has no time for all of a million.
const mostLookedAt = 2_000
const perPage = 500

/**
 * When the version for the rest is chosen (ms), so many hours after a test by own clocks, which begins no sooner than `from`. Of
 * an audience of which not all were looked at the last are taken to be where days end.
 */
export const choiceAfterClocks = (
  { span, bounds, isAll, opens }: Pick<OwnTimes, 'span' | 'bounds' | 'isAll' | 'opens'>,
  { hours, from }: { hours: number; from: number },
): number => opens(Math.max(from, isAll ? span.last : bounds.last)) + hours * hourMs

/** Undefined for a campaign that goes by no clocks, or has no time or nobody yet. Throws as `nextOfAudience` does. */
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
