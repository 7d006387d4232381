import type { AccountBilling } from './billing.js'
import type { Plans } from './plan.js'

/**
 * How many contacts an account may hold; null for any number. Without a marketing plan it is what
 * the smallest one allows, but for a self-hoster, whose own plan has no limits.
 */
export function contactCeiling(
  { marketing }: Plans,
  { marketingPlan, plan }: AccountBilling,
): number | null {
  if (marketingPlan !== null) return marketingPlan.contacts
  return plan.monthlyLimit === null ? null : Math.min(...marketing.map(({ contacts }) => contacts))
}
