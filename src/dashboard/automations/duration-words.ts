import { durationMs } from '../../rules/index.js'
import { plural } from '../format.js'

const units = [
  ['week', 7 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** An ISO 8601 duration as people say it: `3 days`, `1 day 12 hours`; `some time` for anything else. */
export function durationWords(duration: string): string {
  let left = durationMs(duration)
  if (left === undefined || left <= 0) return 'some time'
  const parts: string[] = []
  // Weeks only where nothing is left over: nobody calls a wait of ten days '1 week 3 days'.
  for (const [name, ms] of units) {
    if (name === 'week' && left % ms !== 0) continue
    const count = Math.floor(left / ms)
    left -= count * ms
    if (count > 0) parts.push(plural(count, name))
  }
  return parts.length === 0 ? 'no time' : parts.join(' ')
}
