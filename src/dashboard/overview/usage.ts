import { type AccountBilling, dayEndsAt, monthEndsAt, type Usage } from '../../billing/index.js'

/** One counter of the plan. */
export interface UsageView {
  label: string
  used: number
  /** Undefined: there is none. */
  limit: number | undefined
  text: string
  /** The day on which the count starts again, UTC. */
  resets: string
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' })
/** A count with its thousands set apart. */
const shown = (count: number) => count.toLocaleString('en-GB')

/** What of the plan is used, with when each count starts anew. */
export function usageOf(
  { plan, marketingPlan }: AccountBilling,
  { monthMails, dayMails, monthCampaignMails }: Usage,
  now: number,
): UsageView[] {
  const counter = (
    label: string,
    used: number,
    limit: number | null,
    endsAt: number,
  ): UsageView => {
    const resets = day.format(endsAt)
    const of = limit === null ? ', no limit' : ` of ${shown(limit)}`
    return {
      label,
      used,
      limit: limit ?? undefined,
      resets,
      text: `${shown(used)}${of}. Counts again from ${resets}`,
    }
  }
  const month = monthEndsAt(now)
  return [
    counter('Mails this month', monthMails, plan.monthlyLimit, month),
    ...(plan.dailyLimit === null
      ? []
      : [counter('Mails today', dayMails, plan.dailyLimit, dayEndsAt(now))]),
    ...(marketingPlan === null
      ? []
      : [
          counter(
            'Campaign mails this month',
            monthCampaignMails,
            marketingPlan.monthlySendLimit,
            month,
          ),
        ]),
  ]
}
