import { counted } from '../amounts/index.js'
import { isoTime } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Read, Tx } from '../store/index.js'
import type { AccountBilling } from './billing.js'
import { addUsage, dayEndsAt, readUsage, subtractUsage } from './usage.js'

/*
 * Each function runs inside the transaction that accepts the mail. It counts first and looks then. When a cap is passed
 * the count is undone, by the store with the rest of the work, or here. Writes run one after another, so that no two
 * can take the same last place.
 */

/** Mails that are counted all or not at all. */
interface Count {
  billing: AccountBilling
  mails: number
  now: number
  /** Whether the refusal is told as that of a batch. */
  isBatch: boolean
  /** They are mails of a test key, which have the same caps but a count of their own. */
  isTest?: boolean
}

/**
 * Counts what several requests send, in one statement for each account and day. Resolves with the 402 or 429 of those
 * that are refused, whose mails are not counted; a smaller request behind such a one may still pass.
 */
export async function countTogether<One extends Count>(
  tx: Tx,
  counts: readonly One[],
): Promise<ReadonlyMap<One, ApiError>> {
  const refusals = new Map<One, ApiError>()
  const groups = new Map<string, One[]>()
  for (const count of counts) {
    if (count.mails === 0) continue
    const name = `${dayEndsAt(count.now)} ${count.isTest === true} ${count.billing.accountId}`
    // Requests share a group commit, so that several of one account may come together.
    const alike = groups.get(name)
    if (alike === undefined) groups.set(name, [count])
    else alike.push(count)
  }
  for (const alike of groups.values()) await countAlike(tx, alike, refusals)
  return refusals
}

/** Counts the requests of one account and day. */
async function countAlike<One extends Count>(
  tx: Tx,
  counts: readonly One[],
  refusals: Map<One, ApiError>,
): Promise<void> {
  const [first] = counts
  if (first === undefined) return
  const { now, billing, isTest } = first
  const { accountId, plan } = billing
  const sum = counts.reduce((sum, { mails }) => sum + mails, 0)
  const after = await addUsage(tx, accountId, now, { mails: sum, campaignMails: 0, isTest })
  const caps: Cap[] = []
  // The monthly cap first: waiting until tomorrow does not help whoever has passed it.
  if (plan.monthlyLimit !== null) {
    caps.push({ cap: 'monthly', limit: plan.monthlyLimit, used: after.monthMails - sum })
  }
  if (plan.dailyLimit !== null) {
    caps.push({ cap: 'daily', limit: plan.dailyLimit, used: after.dayMails - sum })
  }
  let refused = 0
  for (const count of counts) {
    const { mails } = count
    const passed = caps.find(({ limit, used }) => used + mails > limit)
    if (passed === undefined) {
      for (const cap of caps) cap.used += mails
    } else {
      // An account that came from a larger plan may have used more than it now has.
      const canSend = Math.max(0, Math.min(...caps.map(({ limit, used }) => limit - used)))
      refusals.set(count, refusalOf(count, passed, canSend))
      refused += mails
    }
  }
  if (refused > 0) await subtractUsage(tx, accountId, { at: now, mails: refused, isTest })
}

/** Counts mails to `mails` recipients, or throws the 402 or 429 of a single send. */
export async function countMails(
  tx: Tx,
  billing: AccountBilling,
  mails: number,
  now: number,
): Promise<void> {
  const refusals = await countTogether(tx, [{ billing, mails, now, isBatch: false }])
  for (const refusal of refusals.values()) throw refusal
}

/** The error of the contract for this cap, for a single send or a batch. */
function refusalOf({ billing, mails, now, isBatch }: Count, passed: Cap, canSend: number) {
  const { cap, used, limit } = passed
  const plan = billing.plan.name
  const code = cap === 'monthly' ? 'monthly_quota_exceeded' : 'daily_quota_exceeded'
  const told = cap === 'monthly' ? monthlyMessage(passed) : dailyMessage(passed)
  const headers = cap === 'monthly' ? {} : { headers: untilTomorrow(now) }
  if (isBatch) {
    const what = counted(mails, 'mail')
    const message = `The batch has ${what} (one for each recipient), and ${canSend} can be sent now. ${told}`
    return new ApiError(code, message, { fields: { canSend }, ...headers })
  }
  const resetsAt = isoTime(dayEndsAt(now))
  const fields =
    cap === 'monthly'
      ? { limit, used, plan }
      : { dailyLimit: limit, dailySent: used, resetsAt, plan }
  return new ApiError(code, told, { fields, ...headers })
}

/** Takes a scheduled mail out of the count, in the periods in which it was accepted. */
export async function giveBack(
  tx: Tx,
  accountId: string,
  mails: number,
  acceptedAt: number,
  isTest = false,
): Promise<void> {
  if (mails > 0) await subtractUsage(tx, accountId, { at: acceptedAt, mails, isTest })
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
  // Counts first and looks then; the throw takes the count back with the transaction.
  if (limit === null || after.monthCampaignMails <= limit) return
  const used = after.monthCampaignMails - mails
  throw campaignCap(used, limit, marketingPlan?.name ?? null)
}

/** The 402 of the campaigns' own cap. */
const campaignCap = (used: number, limit: number, plan: string | null) =>
  new ApiError('plan_limit_exceeded', `${used} of ${limit} campaign mails of this month are used`, {
    status: 402,
    fields: { limit, used, plan },
  })

/** Throws the 402 of `countCampaignMails` without counting, so that a campaign is refused before the work for it. */
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
  if (mails > 0) await subtractUsage(tx, accountId, { at: countedAt, mails, of: 'campaign_mails' })
}

/** A cap and how far it is used. */
interface Cap {
  cap: 'monthly' | 'daily'
  limit: number
  /** How much was used before this request. */
  used: number
}

/** The message says when the cap ends, so that a client knows whether waiting helps. */
const monthlyMessage = ({ used, limit }: Cap) =>
  `${used} of the ${limit} mails of this month are used; the count starts again on the 1st of the month, UTC`

/** What is told where the cap of the day is reached. */
const dailyMessage = ({ used, limit }: Cap) =>
  `${used} of the ${limit} mails of today are used; the count starts again at midnight UTC`

/** In whole seconds, never less than one. */
const untilTomorrow = (now: number) => ({
  'retry-after': String(Math.ceil((dayEndsAt(now) - now) / 1_000)),
})
