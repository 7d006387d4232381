import {
  type Broadcast,
  draftVersions,
  lastLeavesAt,
  ownTimesOf,
  paceOf,
  type SendWindow,
  testSize,
} from '../broadcasts/index.js'
import { hourMs, openWindow } from '../clock/index.js'
import type { RehearsalPlan } from '../outbound/index.js'
import type { Read } from '../store/index.js'

/** When a campaign's mails are made, for a run that begins then. */
export async function leavingOf(
  read: Read,
  draft: Broadcast,
  { people, startsAt }: { people: number; startsAt: number },
): Promise<Pick<RehearsalPlan, 'leavesAt' | 'opensAt'>> {
  const { rate, window } = paceOf(draft)
  const opensAt = makeOpensAt(window)
  const own = await ownTimesOf(read, draft)
  if (own !== undefined) {
    const { first, last } = own.span
    // They are taken to be spread over the zones as evenly as these are over the day.
    const leavesAt = (n: number) => Math.max(startsAt, first + ((last - first) * n) / people)
    return { leavesAt, opensAt }
  }
  const from = (start: number) =>
    rate === null ? () => start : memoOf((n) => lastLeavesAt(start, { people: n, rate, window }))
  const { test } = await draftVersions(read, draft)
  const tried = test === undefined || draft.variant_test === null ? people : testSize(people, test)
  const first = from(startsAt)
  if (test === undefined || tried >= people) return { leavesAt: first, opensAt }
  const made = first(tried)
  if (test.decideAfter === 'by hand' || made === undefined) {
    return { leavesAt: (n) => (n < tried ? first(n) : undefined), opensAt }
  }
  const rest = from(made + test.decideAfter * hourMs)
  return { leavesAt: (n) => (n < tried ? first(n) : rest(n - tried)), opensAt }
}

// A mail in so many is reckoned, as calendars of zones take their time; those between lie between.
const steps = 500

/** The same, between values that were reckoned before. */
function memoOf(reckon: (n: number) => number | undefined): (n: number) => number | undefined {
  const known = new Map<number, number | undefined>()
  const at = (n: number) => {
    if (!known.has(n)) known.set(n, reckon(n))
    return known.get(n)
  }
  return (n) => {
    const below = at(n - (n % steps))
    const above = at(n - (n % steps) + steps)
    if (below === undefined || above === undefined) return undefined
    // Hours in which nothing leaves lie between: it is of the ones before or behind, and `opensAt` says when.
    return below + ((above - below) * (n % steps)) / steps
  }
}

/** When mail may leave, by the hours of a campaign; a day's are kept for the next question. */
function makeOpensAt(window: SendWindow | null): (now: number) => number {
  if (window === null) return (now) => now
  let known = { opens: 0, closes: 0 }
  return (now) => {
    if (now < known.opens || now >= known.closes) known = openWindow(window, window.zone, now)
    return Math.max(now, known.opens)
  }
}
