import { counted } from '../../amounts/index.js'
import {
  type Broadcast,
  beginOf,
  draftVersions,
  lastLeavesAt,
  paceOf,
  spanOfOwnTime,
  type VariantTest,
} from '../../broadcasts/index.js'
import { hourMs } from '../../clock/index.js'
import type { Read } from '../../store/index.js'
import { exactIn } from '../format.js'
import { shown } from './words.js'

/** When a draft will be done, at its own rate or as fast as the last one left; undefined: nothing tells. */
export async function forecastWords(
  read: Read,
  draft: Broadcast,
  { people, now, zone }: { people: number; now: number; zone: string },
): Promise<string | undefined> {
  const { local_zone: ownZone, scheduled_at: moment } = draft
  const words = (at: number) => `${exactIn(at, zone)} (${zone})`
  if (ownZone !== null && moment !== null) {
    const { first, last } = spanOfOwnTime(moment, ownZone)
    return `By each recipient’s own clock: the first get it from ${words(Math.max(now, first))} on, the last by ${words(Math.max(now, last))}.`
  }
  const { rate: own, window } = paceOf(draft)
  const usual = own === null ? await lastRate(read, draft.account_id) : own
  if (usual === undefined) return undefined
  const start = Math.max(now, beginOf(draft) ?? 0)
  const by = `${own === null ? 'as fast as your last one' : 'at its rate'} of ${shown(Math.round(usual))} an hour`
  const pace = { rate: usual, window }
  const { test } = await draftVersions(read, draft)
  if (test !== undefined && draft.variant_test !== null && test.share < 100) {
    return testWords(start, { people, test, pace, by, words })
  }
  const end = lastLeavesAt(start, { people, ...pace })
  if (end === undefined) return never
  return `Done at about ${words(end)}: ${counted(people, 'mail')}, ${by}.`
}

const never = 'It will not be done within a year, at this rate in these hours.'

/** Of one that is tried on a part of its audience: the test, the decision, and the rest. */
function testWords(
  start: number,
  {
    people,
    test: { share, decideAfter },
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
  const tried = Math.round((people * share) / 100)
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
