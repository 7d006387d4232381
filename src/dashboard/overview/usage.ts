import {
  type AccountBilling,
  type ArrivedMails,
  dayEndsAt,
  hourEndsAt,
  monthEndsAt,
  type Usage,
} from '../../billing/index.js'

/** One counter of the plan. */
export interface UsageView {
  label: string
  used: number
  /** Undefined: there is none. */
  limit: number | undefined
  text: string
  /** The day on which the count starts again, or the time of today, UTC. */
  resets: string
  /** What is refused where none is left. */
  refuses: 'sends are' | 'mail that comes in is'
}

const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' })
/** A count with its thousands set apart. */
const shown = (count: number) => count.toLocaleString('en-GB')

/** What of the plan is used, with when each count starts anew. */
export function usageOf(
  { plan, marketingPlan }: AccountBilling,
  { monthMails, dayMails, monthCampaignMails }: Usage,
  now: number,
  /** Undefined where it is of no interest: the account receives nothing. */
  arrived: ArrivedMails | undefined,
): UsageView[] {
  const counter = (
    label: string,
    used: number,
    limit: number | null,
    resets: string,
    refuses: UsageView['refuses'] = 'sends are',
  ): UsageView => {
    const of = limit === null ? ', no limit' : ` of ${shown(limit)}`
    return {
      label,
      used,
      limit: limit ?? undefined,
      resets,
      refuses,
      text: `${shown(used)}${of}. Counts again from ${resets}`,
    }
  }
  const month = day.format(monthEndsAt(now))
  const tomorrow = day.format(dayEndsAt(now))
  return [
    counter('Mails this month', monthMails, plan.monthlyLimit, month),
    ...(plan.dailyLimit === null
      ? []
      : [counter('Mails today', dayMails, plan.dailyLimit, tomorrow)]),
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
    ...arrivalsOf(counter, { plan, arrived, tomorrow, now }),
  ]
}

/** What came in. */
function arrivalsOf(
  counter: (
    label: string,
    used: number,
    limit: number | null,
    resets: string,
    refuses: UsageView['refuses'],
  ) => UsageView,
  {
    plan,
    arrived,
    tomorrow,
    now,
  }: {
    plan: AccountBilling['plan']
    arrived: ArrivedMails | undefined
    tomorrow: string
    now: number
  },
): UsageView[] {
  if (arrived === undefined) return []
  const nextHour = `${new Date(hourEndsAt(now)).toISOString().slice(11, 16)} UTC`
  const refuses = 'mail that comes in is'
  return [
    ...(plan.receivedPerHour === null
      ? []
      : [
          counter(
            'Mails that came in this hour',
            arrived.hour,
            plan.receivedPerHour,
            nextHour,
            refuses,
          ),
        ]),
    counter('Mails that came in today', arrived.day, plan.receivedPerDay, tomorrow, refuses),
  ]
}
