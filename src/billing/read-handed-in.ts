import { hourMs } from '../clock/index.js'
import type { Read } from '../store/index.js'

const minuteMs = 60_000

/**
 * How many mails an account has handed in within the present clock hour and minute, for people; `handed-in.ts` decides by
 * what its own write returns. The minute is counted only where the plan limits it.
 */
export async function readHandedIn(
  read: Read,
  accountId: string,
  now: number,
): Promise<{ hourMails: number; minuteMails: number }> {
  const begins = new Map([hourMs, minuteMs].map((span) => [span, now - (now % span)]))
  const rows = await read
    .selectFrom('handed_in')
    .select(['span', 'at', 'mails'])
    .where('holder', '=', accountId)
    .where('span', 'in', [...begins.keys()])
    .where('at', 'in', [...begins.values()])
    .execute()
  const within = (wanted: number) =>
    rows.find(({ span, at }) => span === wanted && at === begins.get(wanted))?.mails ?? 0
  return { hourMails: within(hourMs), minuteMails: within(minuteMs) }
}
