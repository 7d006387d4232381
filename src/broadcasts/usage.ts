import {
  contactCeiling,
  marketingStop,
  monthEndsAt,
  type Plans,
  readBilling,
  readUsage,
} from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { contactTotal } from '../contacts/index.js'
import type { Store } from '../store/index.js'

/** interface.md, Marketing usage. Without a plan it is that of the smallest, which could be had. */
export async function marketingUsage(
  { store: { read }, clock, plans }: { store: Store; clock: Clock; plans: Plans },
  accountId: string,
) {
  const now = clock.now()
  const billing = await readBilling(read, plans, accountId)
  const { marketingPlan } = billing
  const [smallest] = plans.marketing.toSorted((a, b) => a.contacts - b.contacts)
  const plan = marketingPlan ?? smallest
  if (plan === undefined) throw new Error('There is no marketing plan')
  const ceiling = contactCeiling(plans, billing)
  const { monthCampaignMails } = await readUsage(read, accountId, now)
  const pausedReason = marketingStop(billing)
  return {
    plan: {
      id: plan.id,
      name: plan.name,
      priceNaira: plan.priceNaira,
      maxMarketingContacts: plan.contacts,
    },
    subscribed: marketingPlan !== null,
    contacts: await contactTotal(read, accountId),
    // As with the mails of plans without a limit.
    contactLimit: ceiling ?? 0,
    ...(ceiling === null ? { unlimitedContacts: true } : {}),
    monthlySendLimit: plan.monthlySendLimit,
    sentThisMonth: monthCampaignMails,
    unlimitedSends: plan.monthlySendLimit === null,
    periodEnd: new Date(monthEndsAt(now)).toISOString(),
    paused: pausedReason !== null,
    pausedReason,
  }
}
