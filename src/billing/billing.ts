import { prepared, type Read, type SubscriptionRow } from '../store/index.js'
import type { EmailPlan, MarketingPlan, Plans } from './plan.js'

/** How the subscription stands: `past_due` sends on but adds nothing, `expired` only looks. */
export type BillingState = SubscriptionRow['billing_state']
/** What account protection has paused for; clients are told it too. */
export type PauseReason = 'bounce' | 'complaint'

/** All that decides whether an account may send, as it stands now. */
export interface AccountBilling {
  accountId: string
  plan: EmailPlan
  marketingPlan: MarketingPlan | null
  state: BillingState
  /** Why an operator has suspended it. */
  suspended: string | null
  /** Account protection has stopped everything, or marketing alone. */
  paused: PauseReason | null
  marketingPaused: PauseReason | null
  /** The surge that waits for somebody's decision, and until when no surge is looked for. */
  surgeId: string | null
  unbrakedUntil: number | null
  /** Rises with each change of the above, and of the account's verified domains. */
  revision: number
}

/** One row by its key; read it for every request, never keep it. */
export async function readBilling(
  read: Read,
  plans: Plans,
  accountId: string,
): Promise<AccountBilling> {
  const [row] = await subscriptionOf(read, { accountId })
  return billingOf(plans, accountId, row)
}

/** The rows of some accounts, for a list. */
export async function readBillings(
  read: Read,
  plans: Plans,
  accountIds: readonly string[],
): Promise<Map<string, AccountBilling>> {
  const rows = await read
    .selectFrom('subscriptions')
    .selectAll()
    .where('account_id', 'in', accountIds)
    .execute()
  const byAccount = new Map(rows.map((row) => [row.account_id, row]))
  return new Map(accountIds.map((id) => [id, billingOf(plans, id, byAccount.get(id))]))
}

/** An account without a row is like a row of `openSubscription`, but never the first account. */
function billingOf(
  plans: Plans,
  accountId: string,
  row: SubscriptionRow | undefined,
): AccountBilling {
  return {
    accountId,
    plan: planOf(plans, row),
    marketingPlan: marketingPlanOf(plans, row),
    state: row?.billing_state ?? 'active',
    suspended: row?.suspended_reason ?? null,
    paused: row?.paused ?? null,
    marketingPaused: row?.marketing_paused ?? null,
    surgeId: row?.surge_id ?? null,
    unbrakedUntil: row?.unbraked_until ?? null,
    revision: row?.revision ?? 0,
  }
}

/** By the primary key; a prepared statement, as every request runs it. */
const subscriptionOf = prepared<{ accountId: string }, SubscriptionRow>((db, { accountId }) =>
  db.selectFrom('subscriptions').selectAll().where('account_id', '=', accountId),
)

/**
 * The plan that was given to the account, or the default: the first account's own, or that of all
 * others.
 */
function planOf(plans: Plans, row: SubscriptionRow | undefined): EmailPlan {
  const { firstAccount, otherAccounts, email } = plans
  if (row?.plan_id == null) return row?.first_account ? firstAccount : otherAccounts
  const id = row.plan_id
  const found = email.find((plan) => plan.id === id)
  return found ?? { ...otherAccounts, ...unread(id), ...losesNothing }
}

/** Null: no marketing plan was bought, so marketing mail is refused. */
function marketingPlanOf(
  { marketing }: Plans,
  row: SubscriptionRow | undefined,
): MarketingPlan | null {
  const id = row?.marketing_plan_id
  if (id == null) return null
  const found = marketing.find((plan) => plan.id === id)
  if (found !== undefined) return found
  const [smallest = null] = marketing.toSorted((a, b) => a.contacts - b.contacts)
  return smallest && { ...smallest, ...unread(id) }
}

/*
 * The start refuses a `plans.toml` that lacks a plan in use, but an account may have been given a plan that was written
 * there after the start. Then it has the caps of an account that was given none, or of the smallest marketing plan, and
 * its operator is told (`findUnknownPlans`). An error would hold up mail that was delivered, as its webhooks could not
 * be made.
 */
const unread = (id: string) => ({ id, name: `Unknown (${id})` })

/** What an unknown plan may allow: nothing is deleted, and no webhook left out, that could not be made up for later. */
const losesNothing = { retentionDays: 36_500, webhooks: true }

/**
 * How many contacts an account may hold; null for any number. Without a marketing plan it is what the smallest one
 * allows, except for a self-hoster, whose own plan has no limits.
 */
export function contactCeiling(
  { marketing }: Plans,
  { marketingPlan, plan }: AccountBilling,
): number | null {
  if (marketingPlan !== null) return marketingPlan.contacts
  return plan.monthlyLimit === null ? null : Math.min(...marketing.map(({ contacts }) => contacts))
}
