import { counted } from '../../amounts/index.js'
import {
  type Broadcast,
  beginOf,
  draftVersions,
  lastLeavesAt,
  type OwnTimes,
  ownTimesOf,
  paceOf,
  testSize,
  type VariantTest,
} from '../../broadcasts/index.js'
import { hourMs } from '../../clock/index.js'
import type { Rehearsal } from '../../rehearsals/index.js'
import type { Read } from '../../store/index.js'
import { exactWithZone } from '../format.js'
import { shown } from './words.js'

/** When a draft will be done, at its own rate or as fast as the last one left; undefined: nothing tells. */
export async function forecastWords(
  read: Read,
  draft: Broadcast,
  {
    people,
    now,
    zone,
    rehearse,
  }: {
    people: number
    now: number
    zone: string
    /** How it would go; asked for one that nothing but its sites holds up. */
    rehearse?: () => Promise<Pick<Rehearsal, 'doneAt' | 'heldUp'>>
  },
): Promise<string | undefined> {
  const words = (at: number) => exactWithZone(at, zone)
  const own = await ownTimesOf(read, draft)
  if (own !== undefined) return await ownTimeWords(read, draft, { own, people, now, words })
  const { rate, window } = paceOf(draft)
  if (rate === null && draft.variant_test === null && rehearse !== undefined) {
    const { doneAt, heldUp } = await rehearse()
    const why = heldUp === null ? '' : ` What holds it up most: ${heldUp.site}, ${heldUp.says}.`
    if (doneAt === null) return `It would not be done within 30 days.${why}`
    return `Done at about ${words(Date.parse(doneAt))}: ${counted(people, 'mail')}, as rehearsed.${why}`
  }
  const last = rate ?? (await lastRate(read, draft.account_id))
  const usual = last ?? (await rehearsedRate(rehearse, { people, now }))
  if (usual === undefined) return undefined
  const start = Math.max(now, beginOf(draft) ?? 0)
  const by = `${rate !== null ? 'at its rate' : last === undefined ? 'as fast as rehearsed' : 'as fast as your last one'} of ${shown(Math.round(usual))} an hour`
  const pace = { rate: usual, window }
  const { test } = await draftVersions(read, draft)
  if (test !== undefined && draft.variant_test !== null && test.share < 100) {
    return testWords(start, { people, test, pace, by, words })
  }
  const end = lastLeavesAt(start, { people, ...pace })
  if (end === undefined) return never
  return `Done at about ${words(end)}: ${counted(people, 'mail')}, ${by}.`
}

/** Of one that each gets at one time of their own clock. */
async function ownTimeWords(
  read: Read,
  draft: Broadcast,
  {
    own: { span, people: looked, isAll, bounds, after },
    people,
    now,
    words,
  }: { own: OwnTimes; people: number; now: number; words: (at: number) => string },
): Promise<string> {
  const soon = (at: number) => words(Math.max(now, at))
  const of = isAll ? '' : ` of the ${shown(looked)} people who were looked at`
  const from = `the first${of} get it from ${soon(span.first)} on, the last by ${soon(span.last)}`
  const world = isAll
    ? ''
    : `; nobody gets it before ${soon(bounds.first)} or after ${soon(bounds.last)}`
  const { test } = await draftVersions(read, draft)
  if (draft.variant_test === null || test.share === 100) {
    return `By each recipient’s own clock: ${from}${world}.`
  }
  const tried = testSize(people, test)
  const begun = `By each recipient’s own clock. Its test, ${shown(tried)} mails: ${from}${world}`
  if (test.decideAfter === 'by hand') {
    return `${begun}. The other ${shown(people - tried)} wait until you choose a version, and get it when their clocks next show that hour.`
  }
  const decided = Math.max(now, isAll ? span.last : bounds.last) + test.decideAfter * hourMs
  const rest = after(decided)
  return `${begun}; the version for the rest is chosen at about ${words(decided)}. The rest get it when their clocks next show that hour, from ${words(rest.first)} to ${words(rest.last)}.`
}

/** Mails an hour as a rehearsal has them, where no campaign of the account tells it. */
async function rehearsedRate(
  rehearse: (() => Promise<Pick<Rehearsal, 'doneAt'>>) | undefined,
  { people, now }: { people: number; now: number },
): Promise<number | undefined> {
  const doneAt = (await rehearse?.())?.doneAt ?? null
  if (doneAt === null) return undefined
  return (people * hourMs) / Math.max(leastMs, Date.parse(doneAt) - now)
}

const never = 'It will not be done within a year, at this rate in these hours.'

/** Of one that is tried on a part of its audience: the test, the decision, and the rest. */
function testWords(
  start: number,
  {
    people,
    test,
    pace,
    by,
    words,
  }: {
    people: number
    test: VariantTest
    pace: { rate: number } & Pick<ReturnType<typeof paceOf>, 'window'>
    by: string
    words: (at: number) => string
  },
): string {
  const { decideAfter } = test
  const tried = testSize(people, test)
  const made = lastLeavesAt(start, { people: tried, ...pace })
  if (made === undefined) return never
  const first = `Its test, ${shown(tried)} mails, has left at about ${words(made)}`
  if (decideAfter === 'by hand') {
    return `${first}, ${by}. The other ${shown(people - tried)} wait until you choose a version.`
  }
  const decided = made + decideAfter * hourMs
  const end = lastLeavesAt(decided, { people: people - tried, ...pace })
  if (end === undefined) return never
  return `${first}; the version for the rest is chosen at about ${words(decided)}. Done at about ${words(end)}: ${shown(people)} mails in all, ${by}.`
}

// A shorter one says nothing of how fast a large one leaves.
const leastMails = 100
const leastMs = 60_000

/** Mails an hour of the account's last campaign that was sent to its end. */
async function lastRate(read: Read, accountId: string): Promise<number | undefined> {
  const last = await read
    .selectFrom('broadcasts')
    .select(['recipients', 'sent_at', 'ended_at'])
    .where('account_id', '=', accountId)
    .where('status', '=', 'sent')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (last?.sent_at == null || last.ended_at === null || last.recipients < leastMails)
    return undefined
  return (last.recipients * hourMs) / Math.max(leastMs, last.ended_at - last.sent_at)
}
