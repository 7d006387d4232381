import { type Broadcast, beginOf, paceOf } from '../../broadcasts/index.js'
import { hourMs, openWindow } from '../../clock/index.js'
import type { Read } from '../../store/index.js'
import { exactIn } from '../format.js'
import { shown } from './words.js'

// Where hours are few, further than anybody looks ahead.
const mostWindows = 400

/** When a draft will be done, at its own rate or as fast as the last one left; undefined: nothing tells. */
export async function forecastWords(
  read: Read,
  draft: Broadcast,
  { people, now, zone }: { people: number; now: number; zone: string },
): Promise<string | undefined> {
  const { rate: own, window } = paceOf(draft)
  const usual = own === null ? await lastRate(read, draft.account_id) : own
  if (usual === undefined) return undefined
  const start = Math.max(now, beginOf(draft) ?? 0)
  const end = endAt(start, { people, rate: usual, window })
  if (end === undefined) return 'It will not be done within a year, at this rate in these hours.'
  const by = own === null ? 'as fast as your last one' : 'at its rate'
  return `Done at about ${exactIn(end, zone)} (${zone}): ${shown(people)} mails, ${by} of ${shown(Math.round(usual))} an hour.`
}

/** When so many mails have left (ms), with the hours in which none may. */
export function endAt(
  start: number,
  {
    people,
    rate,
    window,
  }: { people: number; rate: number } & Pick<ReturnType<typeof paceOf>, 'window'>,
): number | undefined {
  let left = (people / rate) * hourMs
  let at = start
  for (let seen = 0; seen < mostWindows; seen++) {
    if (window === null) return at + left
    const { opens, closes } = openWindow(window, window.zone, at)
    if (opens + left <= closes) return opens + left
    left -= closes - opens
    at = closes
  }
  return undefined
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
