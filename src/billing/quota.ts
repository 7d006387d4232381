import { ApiError } from '../errors/index.js'
import type { Read, Tx } from '../store/index.js'
import type { AccountBilling } from './billing.js'
import { addUsage, dayEndsAt, readUsage, subtractUsage } from './usage.js'

/*
 * Each function runs inside the transaction that accepts the mail. It counts first and looks then:
 * when a cap is passed it throws, and the store undoes the count with the rest of the work. Writes
 * run one after another, so that no two can take the same last place.
 */

/** Counts one mail to `mails` recipients, or throws the 402 or 429 of a single send. */
export async function countMails(
  tx: Tx,
  billing: AccountBilling,
  mails: number,
  now: number,
): Promise<void> {
  const excess = await count(tx, billing, mails, now)
  if (excess === undefined) return
  const { cap, used, limit } = excess
  const plan = billing.plan.name
  if (cap === 'monthly') {
    throw new ApiError('monthly_quota_exceeded', monthlyMessage(excess), {
      fields: { limit, used, plan },
    })
  }
  throw new ApiError('daily_quota_exceeded', dailyMessage(excess), {
    fields: {
      dailyLimit: limit,
      dailySent: used,
      resetsAt: new Date(dayEndsAt(now)).toISOString(),
      plan,
    },
    headers: untilTomorrow(now),
  })
}

/** Counts all the mails of a batch or none: throws the 402 or 429 of a batch. */
export async function countBatch(
  tx: Tx,
  billing: AccountBilling,
  mails: number,
  now: number,
): Promise<void> {
  const excess = await count(tx, billing, mails, now)
  if (excess === undefined) return
  const { cap, canSend } = excess
  const message = `The batch has ${mails} ${mails === 1 ? 'mail' : 'mails'}, each recipient's counted, and ${canSend} can be sent now. ${
    cap === 'monthly' ? monthlyMessage(excess) : dailyMessage(excess)
  }`
  if (cap === 'monthly')
    throw new ApiError('monthly_quota_exceeded', message, { fields: { canSend } })
  throw new ApiError('daily_quota_exceeded', message, {
    fields: { canSend },
    headers: untilTomorrow(now),
  })
}

/** Gives back what a scheduled mail was counted for, in the periods in which it was accepted. */
export async function giveBack(
  tx: Tx,
  accountId: string,
  mails: number,
  acceptedAt: number,
): Promise<void> {
  if (mails > 0) await subtractUsage(tx, accountId, acceptedAt, mails)
}

/** Counts campaign mails, which have a monthly cap of their own on the free marketing plan. */
export async function countCampaignMails(
  tx: Tx,
  { accountId, marketingPlan }: AccountBilling,
  mails: number,
  now: number,
): Promise<void> {
  if (mails === 0) return
  const after = await addUsage(tx, accountId, now, { mails: 0, campaignMails: mails })
  const limit = marketingPlan === null ? 0 : marketingPlan.monthlySendLimit
  if (limit === null || after.monthCampaignMails <= limit) return
  const used = after.monthCampaignMails - mails
  throw campaignCap(used, limit, marketingPlan?.name ?? null)
}

const campaignCap = (used: number, limit: number, plan: string | null) =>
  new ApiError('plan_limit_exceeded', `${used} of ${limit} campaign mails of this month are used`, {
    status: 402,
    fields: { limit, used, plan },
  })

/** Throws the 402 of `countCampaignMails` without counting: before what would only then be refused. */
export async function refuseCampaignMails(
  read: Read,
  { accountId, marketingPlan }: AccountBilling,
  mails: number,
  now: number,
): Promise<void> {
  const limit = marketingPlan?.monthlySendLimit ?? null
  if (limit === null) return
  const { monthCampaignMails: used } = await readUsage(read, accountId, now)
  if (used + mails > limit) throw campaignCap(used, limit, marketingPlan?.name ?? null)
}

/** Gives back what a campaign was counted for beyond the mails that it then had. */
export async function giveBackCampaignMails(
  tx: Tx,
  accountId: string,
  mails: number,
  countedAt: number,
): Promise<void> {
  if (mails > 0) await subtractUsage(tx, accountId, countedAt, mails, 'campaign_mails')
}

interface Cap {
  cap: 'monthly' | 'daily'
  limit: number
  /** Before this request. */
  used: number
}

async function count(
  tx: Tx,
  { accountId, plan }: AccountBilling,
  mails: number,
  now: number,
): Promise<(Cap & { canSend: number }) | undefined> {
  if (mails === 0) return undefined
  const after = await addUsage(tx, accountId, now, { mails, campaignMails: 0 })
  const caps: Cap[] = []
  // The monthly cap first: who has passed it is not helped by waiting until tomorrow.
  if (plan.monthlyLimit !== null) {
    caps.push({ cap: 'monthly', limit: plan.monthlyLimit, used: after.monthMails - mails })
  }
  if (plan.dailyLimit !== null) {
    caps.push({ cap: 'daily', limit: plan.dailyLimit, used: after.dayMails - mails })
  }
  const passed = caps.find(({ limit, used }) => used + mails > limit)
  // An account that came from a larger plan may have used more than it now has.
  const canSend = Math.max(0, Math.min(...caps.map(({ limit, used }) => limit - used)))
  return passed && { ...passed, canSend }
}

const monthlyMessage = ({ used, limit }: Cap) =>
  `${used} of the ${limit} mails of this month are used; the count starts anew on the 1st, UTC`

const dailyMessage = ({ used, limit }: Cap) =>
  `${used} of the ${limit} mails of today are used; the count starts anew at midnight UTC`

/** In whole seconds, never less than one. */
const untilTomorrow = (now: number) => ({
  'retry-after': String(Math.ceil((dayEndsAt(now) - now) / 1_000)),
})
