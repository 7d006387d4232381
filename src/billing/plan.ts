import type { Config } from '../config/index.js'
import { OperatorError } from '../errors/index.js'

/** How many of each kind an account may have (`[ceilings]`). */
export type Ceilings = Config['ceilings']

/** What both kinds of plans have. `priceNaira` is a month's price, shown and not charged here. */
interface AnyPlan {
  /** UUID, lower case: it keeps an account's plan when names and limits change. */
  id: string
  name: string
  priceNaira: number
  paymentProviderPlanCode: string | null
}

/** What an account's applications may send. A limit of null is none. */
export interface EmailPlan extends AnyPlan {
  monthlyLimit: number | null
  /** floor(monthlyLimit / 30) where the plan has a daily cap. */
  dailyLimit: number | null
  /** Mails handed in within a clock hour, and within a clock minute. */
  perHour: number | null
  perMinute: number | null
  /** Mails that may come in within a day (UTC) and a clock hour, and how large each may be. */
  receivedPerDay: number | null
  receivedPerHour: number | null
  receivedMib: number
  retentionDays: number
  domains: number | null
  /** Files, templates and campaigns together. */
  storedBytes: number | null
  webhooks: boolean
  features: readonly string[]
}

/** What an account's campaigns may reach. */
export interface MarketingPlan extends AnyPlan {
  contacts: number
  /** Campaign mails a month. */
  monthlySendLimit: number | null
}

/** `plans.toml`, checked, and what is the same in all plans. */
export interface Plans {
  email: readonly EmailPlan[]
  marketing: readonly MarketingPlan[]
  /** What an account has until it is given another. */
  firstAccount: EmailPlan
  otherAccounts: EmailPlan
  /** What holds for all accounts, whatever their plan; a setting. */
  ceilings: Ceilings
}

/** By id or by name in any case, as an operator types it. */
export function findPlan<P extends AnyPlan>(plans: readonly P[], idOrName: string): P {
  const wanted = idOrName.trim().toLowerCase()
  const found = plans.find(({ id, name }) => id === wanted || name.toLowerCase() === wanted)
  if (found !== undefined) return found
  const names = plans.map(({ name }) => `"${name}"`).join(', ')
  throw new OperatorError(`No plan "${idOrName}"; there are ${names}`)
}
