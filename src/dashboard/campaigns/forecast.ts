import { counted } from '../../amounts/index.js'
import {
  type Broadcast,
  beginOf,
  choiceAfterClocks,
  draftVersions,
  lastLeavesAt,
  type OwnTimes,
  ownTimesOf,
  paceOf,
  type TimeSpan,
  testSize,
  type VariantTest,
} from '../../broadcasts/index.js'
import { hourMs } from '../../clock/index.js'
import type { Rehearsal } from '../../rehearsals/index.js'
import type { Read } from '../../store/index.js'
import { minuteWithZone } from '../format.js'
import { shown } from './words.js'

/** When a draft will be done, at its own rate or as fast as the last one left; undefined: nothing tells. */
export async function forecastWords(
  read: Read,
  draft: Broadcast,
  {
    people,
    from,
    zone,
    rehearsed,
  }: {
    people: number
    /** Nothing leaves before (ms). */
    from: number
    zone: string
    /** How it would go, at its sites. */
    rehearsed?: Rehearsed
  },
): Promise<string | undefined> {
  const words = (at: number) => minuteWithZone(at, zone)
  const { rate, window } = paceOf(draft)
  // At its own rate it may take as long as it likes; whatever else holds it up is told before all.
  if (rehearsed?.doneAt === null && (rate === null || rehearsed.heldUp?.gate !== 'pace')) {
    return `It would not be done within 30 days.${whyWords(rehearsed)}`
  }
  const own = await ownTimesOf(read, draft)
  if (own !== undefined) return await ownTimeWords(read, draft, { own, people, from, words })
  if (rate === null && draft.variant_test === null && rehearsed !== undefined) {
    return rehearsedWords(rehearsed, { people, words })
  }
  const usual = rate ?? (await lastRate(read, draft.account_id))
  if (usual === undefined) return rehearsed && rehearsedWords(rehearsed, { people, words })
  const start = Math.max(from, beginOf(draft) ?? 0)
  const by = `${rate !== null ? 'at its rate' : 'as fast as your last one'} of ${shown(Math.round(usual))} an hour`
  const pace = { rate: usual, window }
  const { test } = await draftVersions(read, draft)
  if (test !== undefined && draft.variant_test !== null && test.share < 100) {
    return testWords(start, { people, test, pace, by, words })
  }
  const end = lastLeavesAt(start, { people, ...pace })
  if (end === undefined) return never
  return `Done at about ${words(end)}: ${counted(people, 'mail')}, ${by}.`
}

type Rehearsed = Pick<Rehearsal, 'doneAt' | 'heldUp' | 'test'>

// The rehearsal sends it to nobody, with the limits of each provider as they are now.
const asTried = 'at the rates that mailbox providers take now'

const whyWords = ({ heldUp }: Rehearsed) =>
  heldUp === null ? '' : ` It waits most for ${heldUp.site}: ${heldUp.says}.`

/** Of one that its sites hold up, and nothing else. */
function rehearsedWords(
  of: Rehearsed,
  { people, words }: { people: number; words: (at: number) => string },
): string {
  const { test } = of
  const end = words(Date.parse(of.doneAt ?? ''))
  const why = whyWords(of)
  if (test === null) return `Done at about ${end}: ${counted(people, 'mail')}, ${asTried}.${why}`
  const first = `Its test, ${counted(test.recipients, 'mail')},`
  if (test.chosenAt === null) {
    return `${first} has left at about ${end}, ${asTried}. The other ${shown(people - test.recipients)} wait until you choose a version.${why}`
  }
  const chosen = words(Date.parse(test.chosenAt))
  return `${first} leaves first; the version for the rest is chosen at about ${chosen}. Done at about ${end}: ${counted(people, 'mail')} in all, ${asTried}.${why}`
}

/** Of one that each gets at one time of their own clock. */
async function ownTimeWords(
  read: Read,
  draft: Broadcast,
  {
    own,
    people,
    from: earliest,
    words,
  }: { own: OwnTimes; people: number; from: number; words: (at: number) => string },
): Promise<string> {
  const { span, people: looked, isAll, bounds, after, opens } = own
  const { rate, window } = paceOf(draft)
  const soonAt = (at: number) => opens(Math.max(earliest, at))
  const soon = (at: number) => words(soonAt(at))
  /** When so many who get it from then on have it, where its rate lets no more leave. */
  const lastOf = ({ first, last }: TimeSpan, mails: number) => {
    if (rate === null) return words(soonAt(last))
    const end = lastLeavesAt(soonAt(first), { people: mails, rate, window })
    return end === undefined ? 'more than a year later' : words(Math.max(soonAt(last), end))
  }
  const { test } = await draftVersions(read, draft)
  const isTried = draft.variant_test !== null && test.share < 100
  const tried = isTried ? testSize(people, test) : people
  const clocks =
    window === null
      ? 'By each recipient’s own clock'
      : 'By each recipient’s own clock, or when its hours next begin'
  const of = isAll ? '' : ` of the ${shown(looked)} people who were looked at`
  const from = `the first${of} get it from ${soon(span.first)} on, the last by ${lastOf(span, tried)}`
  const world = isAll
    ? ''
    : `; nobody gets it before ${soon(bounds.first)} or after ${soon(bounds.last)}`
  if (!isTried) return `${clocks}: ${from}${world}.`
  const begun = `${clocks}. Its test, ${shown(tried)} mails: ${from}${world}`
  if (test.decideAfter === 'by hand') {
    return `${begun}. The other ${shown(people - tried)} wait until you choose a version, and get it when their clocks next show that hour.`
  }
  const decided = choiceAfterClocks(own, { hours: test.decideAfter, from: earliest })
  const rest = after(decided)
  return `${begun}; the version for the rest is chosen at about ${words(decided)}. The rest get it when their clocks next show that hour, from ${words(rest.first)} to ${lastOf(rest, people - tried)}.`
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
