import { dayEndsAt, hourEndsAt, type Plans, readArrived, readBilling } from '../billing/index.js'
import { isoTime } from '../clock/index.js'
import { storedBytesOf } from '../contents/index.js'
import type { Read } from '../store/index.js'
import { refusedLately, refusedWords } from './refused.js'

/** How much of the plan received mail has used, how much is left, and what was refused because of it. */
export async function usageAnswer(
  { read, plans }: { read: Read; plans: Plans },
  accountId: string,
  now: number,
) {
  const { plan } = await readBilling(read, plans, accountId)
  const arrived = await readArrived(read, accountId, now)
  const bytes = await storedBytesOf(read, accountId)
  const refused = await refusedLately(read, accountId, now)
  return {
    hour: {
      ...counter(arrived.hour, plan.receivedPerHour),
      resetsAt: isoTime(hourEndsAt(now)),
    },
    day: {
      ...counter(arrived.day, plan.receivedPerDay),
      resetsAt: isoTime(dayEndsAt(now)),
    },
    storage: counter(bytes, plan.storedBytes),
    largestMib: plan.receivedMib,
    keptDays: plan.retentionDays,
    refused: refused.map(({ why, mails, firstAt, lastAt }) => ({
      why,
      mails,
      firstAt: isoTime(firstAt),
      lastAt: isoTime(lastAt),
      words: refusedWords[why],
    })),
  }
}

/** The account may have got a smaller plan since: then nothing is left. */
const counter = (used: number, limit: number | null) => ({
  used,
  limit,
  left: limit === null ? null : Math.max(0, limit - used),
})
