import { OperatorError } from '../errors/index.js'
import type { Read, SubscriptionRow, Tx } from '../store/index.js'
import type { BillingState, PauseReason } from './billing.js'
import type { EmailPlan, MarketingPlan, Plans } from './plan.js'

/** Called in the transaction that makes an account; the first account has a default of its own. */
export async function openSubscription(tx: Tx, accountId: string): Promise<void> {
  const other = await tx
    .selectFrom('accounts')
    .select('id')
    .where('id', '<>', accountId)
    .limit(1)
    .executeTakeFirst()
  await tx
    .insertInto('subscriptions')
    .values({ ...unchanged(accountId), first_account: other === undefined ? 1 : 0 })
    .execute()
}

/** Takes effect on the next request. What is used stays used. */
export const setPlan = (tx: Tx, accountId: string, plan: EmailPlan) =>
  change(tx, accountId, { plan_id: plan.id })

/** Null ends marketing. */
export const setMarketingPlan = (tx: Tx, accountId: string, plan: MarketingPlan | null) =>
  change(tx, accountId, { marketing_plan_id: plan?.id ?? null })

/** `past_due` forbids adding, `expired` also sending. */
export const setBillingState = (tx: Tx, accountId: string, state: BillingState) =>
  change(tx, accountId, { billing_state: state })

/** Stops all sending and adding until `unsuspend`; the reason is for operators. */
export async function suspend(tx: Tx, accountId: string, reason: string): Promise<void> {
  const trimmed = reason.trim()
  if (!/^\P{Cc}{1,500}$/u.test(trimmed)) {
    throw new OperatorError('The reason must have 1 to 500 characters and no control characters')
  }
  await change(tx, accountId, { suspended_reason: trimmed })
}

/** Lets the account send and add again. */
export const unsuspend = (tx: Tx, accountId: string) =>
  change(tx, accountId, { suspended_reason: null })

/** Stops all mail of the account, until `clearPauses`. */
export const pauseSending = (tx: Tx, accountId: string, reason: PauseReason) =>
  change(tx, accountId, { paused: reason })

/** Stops campaigns, automations and marketing sends. */
export const pauseMarketing = (tx: Tx, accountId: string, reason: PauseReason) =>
  change(tx, accountId, { marketing_paused: reason })

/** A surge waits for a decision, or none does. No surge is looked for until `unbrakedUntil`. */
export const setSurge = (
  tx: Tx,
  accountId: string,
  { surgeId, unbrakedUntil = null }: { surgeId: string | null; unbrakedUntil?: number | null },
) => change(tx, accountId, { surge_id: surgeId, unbraked_until: unbrakedUntil })

/** Ends both pauses, whoever made them. */
export const clearPauses = (tx: Tx, accountId: string) =>
  change(tx, accountId, { paused: null, marketing_paused: null })

/**
 * Notes that something has changed elsewhere that decides whether the account's mails may be made: a domain was
 * verified.
 */
export const noteChange = (tx: Tx, accountId: string) => change(tx, accountId, {})

/** At the start: a plan that an account has must not be missing from `plans.toml`. */
export async function refuseUnknownPlans(read: Read, plans: Plans): Promise<void> {
  const unknown = await findUnknownPlans(read, plans)
  if (unknown.length === 0) return
  const list = unknown.map(
    ({ accountId, missing }) => `\n  account ${accountId}: ${missing.join(', ')}`,
  )
  throw new OperatorError(
    `plans.toml lacks plans that accounts have; put them back by their id, or give these accounts others by 'posthorn account set-plan':${list.join('')}`,
  )
}

/** Accounts with plans that are not among these, with the plans' ids; ten at most. */
export async function findUnknownPlans(
  read: Read,
  plans: Plans,
): Promise<{ accountId: string; missing: string[] }[]> {
  const ids = [...plans.email, ...plans.marketing].map(({ id }) => id)
  const rows = await read
    .selectFrom('subscriptions')
    .select(['account_id as accountId', 'plan_id', 'marketing_plan_id'])
    .where((eb) => eb.or([eb('plan_id', 'not in', ids), eb('marketing_plan_id', 'not in', ids)]))
    .limit(10)
    .execute()
  return rows.map(({ accountId, plan_id, marketing_plan_id }) => ({
    accountId,
    missing: [plan_id, marketing_plan_id].flatMap((id) => (id && !ids.includes(id) ? [id] : [])),
  }))
}

/**
 * Changes the row, or makes it where there is none. The revision rises with each change: the waiting runs of
 * automations are found by it.
 */
async function change(
  tx: Tx,
  accountId: string,
  values: Partial<Omit<SubscriptionRow, 'account_id' | 'first_account' | 'revision'>>,
): Promise<void> {
  await tx
    .insertInto('subscriptions')
    .values({ ...unchanged(accountId), ...values, revision: 1 })
    .onConflict((conflict) =>
      conflict.column('account_id').doUpdateSet((eb) => ({
        ...values,
        revision: eb('subscriptions.revision', '+', 1),
      })),
    )
    .execute()
}

/** The row of an account to which nothing has happened. */
const unchanged = (accountId: string): SubscriptionRow => ({
  account_id: accountId,
  first_account: 0,
  plan_id: null,
  marketing_plan_id: null,
  billing_state: 'active',
  suspended_reason: null,
  paused: null,
  marketing_paused: null,
  revision: 0,
  woken_revision: 0,
  surge_id: null,
  unbraked_until: null,
})
