import { type Broadcast, broadcastStanding, leavesFrom, paceOf } from '../../broadcasts/index.js'
import { localTime } from '../../clock/index.js'
import { exactIn, exactWithZone, timesIn } from '../format.js'
import { clockChangeTyped, clockChangeWords } from '../typed-moment.js'

/**
 * What a campaign that is under way waits for before more of it leaves, and until when, as its own page, the list and the
 * report say it; undefined: for nothing. `zone`: of who reads it.
 */
export function waitsWords(
  one: Broadcast,
  { now, zone }: { now: number; zone: string },
): string | undefined {
  const { status, reason } = broadcastStanding(one, null, now)
  if (status !== 'scheduled' && status !== 'sending') return undefined
  if (reason !== null) return timesIn(reason, zone)
  const isByOwnClock = status === 'scheduled' && one.local_zone !== null
  return isByOwnClock && one.scheduled_at !== null
    ? `It leaves at ${leavesAt(one, one.scheduled_at, zone)}`
    : undefined
}

/** When one that is scheduled leaves, in words for its page. */
export function leavesAt(found: Broadcast, at: number, zone: string): string {
  const { local_zone: local } = found
  const pace = paceOf(found)
  // By own clocks of a time that comes twice the first counts, whichever was given.
  const change =
    local === null
      ? clockChangeWords(at, zone)
      : clockChangeTyped(localTime(at, local), { zone: local, at: null })
  const also = change === undefined ? '' : `. ${change}`
  const hours = pace.window === null ? '' : ', or when its hours next begin'
  if (local !== null) return `${exactIn(at, local)}, by each recipient’s own clock${hours}${also}`
  const opens = leavesFrom(found) ?? at
  const told = exactWithZone(opens, zone)
  return opens > at ? `${told}, when its hours begin` : `${told}${also}`
}
