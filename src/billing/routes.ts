import { servePublic } from '../contract/index.js'
import type { Api } from '../http/index.js'
import { listPlans } from './contract.js'
import type { EmailPlan, Plans } from './plan.js'

/** `GET /v1/billing/plans`, for anybody. */
export function billingRoutes<P>(api: Api<P>, { plans }: { plans: Plans }): void {
  // Made once: plans change with a restart only.
  const answer = { plans: plans.email.map(shown) }
  servePublic(api, listPlans, () => answer)
}

/** A plan as the contract shows it: 0 and `unlimited` for one without a limit. */
const shown = (plan: EmailPlan) => ({
  id: plan.id,
  name: plan.name,
  monthlyLimit: plan.monthlyLimit ?? 0,
  ...(plan.monthlyLimit === null ? { unlimited: true } : {}),
  perHour: plan.perHour,
  perMinute: plan.perMinute,
  receivedPerDay: plan.receivedPerDay,
  receivedPerHour: plan.receivedPerHour,
  receivedMib: plan.receivedMib,
  priceNaira: plan.priceNaira,
  paymentProviderPlanCode: plan.paymentProviderPlanCode,
  retentionDays: plan.retentionDays,
  features: plan.features,
})
