import {
  type Broadcast,
  beginOf,
  choiceAfterClocks,
  draftVersions,
  leavingTimes,
  type OwnTimes,
  ownTimesOf,
  paceOf,
  type SendWindow,
  type TimeSpan,
  testSize,
  type VariantTest,
} from '../broadcasts/index.js'
import { hourMs, openWindow } from '../clock/index.js'
import type { RehearsalPlan } from '../outbound/index.js'
import type { Read } from '../store/index.js'

/** When a campaign begins, and its mails are made. */
export interface CampaignLeaving extends Pick<RehearsalPlan, 'startsAt' | 'leavesAt' | 'opensAt'> {
  /** How many mails leave: all, or those of a test if somebody chooses the version for the rest afterwards. */
  mails: number
  test: RehearsedTest | null
}

/** The part of the audience on which versions are tried first. */
export interface RehearsedTest {
  recipients: number
  /** When the version for the rest is chosen (ms); null: whenever somebody chooses it. */
  chosenAt: number | null
}

/** When a campaign's mails are made if it begins that much later (ms). Nothing leaves before `notBefore`. */
export async function leavingOf(
  read: Read,
  draft: Broadcast,
  { people, notBefore }: { people: number; notBefore: number },
): Promise<(later: number) => CampaignLeaving> {
  const { rate, window } = paceOf(draft)
  const opensAt = makeOpensAt(window)
  const own = await ownTimesOf(read, draft)
  const { test: usual } = await draftVersions(read, draft)
  const test = draft.variant_test === null ? undefined : usual
  return (later) => {
    const from = notBefore + later
    if (own !== undefined) {
      return { opensAt, ...byClocks(own, { people, test, from, later, rate, window }) }
    }
    const startsAt = Math.max(notBefore, beginOf(draft) ?? 0) + later
    return { opensAt, ...atPace(startsAt, { people, test, rate, window }) }
  }
}

interface Given {
  people: number
  test: VariantTest | undefined
}

const triedOf = ({ people, test }: Given) =>
  test === undefined ? people : Math.min(people, testSize(people, test))

/** All mails at once, or at the campaign's rate in its hours. */
function atPace(
  startsAt: number,
  { people, test, rate, window }: Given & ReturnType<typeof paceOf>,
): Omit<CampaignLeaving, 'opensAt'> {
  const from = (start: number) =>
    rate === null
      ? { leavesAt: () => start, haveLeft: () => start }
      : leavingTimes(start, { rate, window })
  const tried = triedOf({ people, test })
  const { leavesAt, haveLeft } = from(startsAt)
  if (test === undefined || tried >= people)
    return { startsAt, leavesAt, mails: people, test: null }
  const made = haveLeft(tried)
  if (test.decideAfter === 'by hand' || made === undefined) {
    return { startsAt, leavesAt, mails: tried, test: { recipients: tried, chosenAt: null } }
  }
  const chosenAt = made + test.decideAfter * hourMs
  const { leavesAt: rest } = from(chosenAt)
  return {
    startsAt,
    leavesAt: (n) => (n < tried ? leavesAt(n) : rest(n - tried)),
    mails: people,
    test: { recipients: tried, chosenAt },
  }
}

/**
 * Each mail at one time of its recipient's clock, and no more than the rate allows. Recipients are assumed to be spread
 * over the zones as evenly as zones over the day.
 */
function byClocks(
  own: OwnTimes,
  {
    people,
    test,
    from,
    later,
    rate,
    window,
  }: Given & { from: number; later: number } & ReturnType<typeof paceOf>,
): Omit<CampaignLeaving, 'opensAt'> {
  const startsAt = own.opens(Math.max(from, own.span.first + later))
  const spread = ({ first, last }: TimeSpan, of: number) => {
    const begins = Math.max(startsAt, later + first)
    const paced = rate === null ? undefined : leavingTimes(begins, { rate, window })
    return (n: number) => {
      const due = Math.max(startsAt, later + first + ((last - first) * n) / Math.max(1, of))
      return Math.max(due, paced?.leavesAt(n) ?? 0)
    }
  }
  const tried = triedOf({ people, test })
  const leavesAt = spread(own.span, tried)
  if (test === undefined || tried >= people)
    return { startsAt, leavesAt, mails: people, test: null }
  if (test.decideAfter === 'by hand') {
    return { startsAt, leavesAt, mails: tried, test: { recipients: tried, chosenAt: null } }
  }
  const chosenAt = choiceAfterClocks(own, { hours: test.decideAfter, from: from - later }) + later
  const rest = spread(own.after(chosenAt - later), people - tried)
  return {
    startsAt,
    leavesAt: (n) => (n < tried ? leavesAt(n) : rest(n - tried)),
    mails: people,
    test: { recipients: tried, chosenAt },
  }
}

/** When mail may leave, by a campaign's hours; a day's answer is kept for the next question. */
function makeOpensAt(window: SendWindow | null): (now: number) => number {
  if (window === null) return (now) => now
  let known = { opens: 0, closes: 0 }
  return (now) => {
    if (now < known.opens || now >= known.closes) known = openWindow(window, window.zone, now)
    return Math.max(now, known.opens)
  }
}
