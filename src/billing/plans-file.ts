import {
  integer,
  loadConfig,
  orNothing,
  readAllKeys,
  type Setting,
  setting,
  texts,
} from '../config/index.js'
import { textLike, trueOrFalse } from '../fields/index.js'
import {
  type OperatorFile,
  openFile,
  refuseOthers,
  type Table,
  type TomlPlace,
  tableAt,
  wholeFile,
  wrongValue,
} from '../toml/index.js'
import type { Ceilings, EmailPlan, MarketingPlan, Plans } from './plan.js'

/**
 * Reads and checks `plans.toml`; throws one OperatorError that lists every problem. `ceilings` are those of the
 * settings, and the defaults where the settings say nothing.
 */
export function loadPlans(
  file: string,
  ceilings: Ceilings = loadConfig({ env: {} }).ceilings,
): Plans {
  const opened = openFile(file, 'the plans')
  const email = readPlans(opened, 'email', (given, place) =>
    emailPlan(given, place, ceilings.storedMib),
  )
  const marketing = readPlans(opened, 'marketing', marketingPlan)
  refuseTwins([...email, ...marketing])
  const plans = { email: email.map(planOf), marketing: marketing.map(planOf) }
  const byDefault = readDefaults(opened, plans.email)
  refuseOthers(wholeFile(opened), opened.content, ['defaults', 'email', 'marketing'])
  opened.refuseBad('Bad plans')
  return { ...plans, ...byDefault, ceilings }
}

/** A plan, and where it stands. */
interface Placed<P> {
  plan: P
  place: TomlPlace
}

const planOf = <P>({ plan }: Placed<P>) => plan

const oneLine = /^(?! )\P{Cc}{1,100}(?<! )$/u
const oneLineWords = 'a text of 1 to 100 characters'
const nameSetting = setting('', textLike(oneLine, oneLineWords))
/** Null for "unlimited". */
const limit = (min: number): Setting<number | null> => {
  const { read } = integer(min, min, 1e12)
  return {
    kind: 'setting',
    fallback: null,
    read(value) {
      if (value === 'unlimited') return { value: null }
      const result = read(value)
      return 'value' in result
        ? result
        : { ...result, expected: `${result.expected}, or "unlimited"` }
    },
  }
}

// The keys that both kinds have.
const anyPlan = {
  name: nameSetting,
  // Only in lower case, as rows are compared by it.
  id: setting('', textLike(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'a UUID in lower case')),
  priceNaira: integer(0, 0, 1e12),
  paymentProviderPlanCode: orNothing(nameSetting, null),
} as const

const emailSettings = (usualMib: number) =>
  ({
    ...anyPlan,
    monthlyMails: limit(1),
    dailyCap: setting(false, trueOrFalse),
    perHour: orNothing(limit(1), null),
    perMinute: orNothing(limit(1), null),
    receivedPerDay: orNothing(limit(1), null),
    receivedPerHour: orNothing(limit(1), null),
    // The most that the listener takes (`inbound/transaction.ts`).
    receivedMib: orNothing(integer(20, 1, 20), 20),
    storedMib: orNothing(limit(1), usualMib),
    retentionDays: integer(1, 1, 36_500),
    domains: limit(1),
    webhooks: setting(false, trueOrFalse),
    features: texts((item) => oneLine.test(item), `a list of texts, each ${oneLineWords}`),
  }) as const

const marketingSettings = {
  ...anyPlan,
  contacts: integer(1, 1, 1e12),
  campaignMails: limit(1),
} as const

/**
 * One `[[email]]`. The daily cap is a thirtieth of the month, so it needs at least 30 mails and a
 * limit.
 */
function emailPlan(given: Table, place: TomlPlace, usualMib: number): EmailPlan {
  const { monthlyMails, dailyCap, storedMib, ...plan } = readAllKeys(
    emailSettings(usualMib),
    given,
    place,
  )
  if (dailyCap && monthlyMails !== null && monthlyMails < 30) {
    wrongValue(place, 'monthly_mails', monthlyMails, 'at least 30 with a daily cap')
  }
  if (dailyCap && monthlyMails === null && given.monthly_mails === 'unlimited') {
    wrongValue(place, 'daily_cap', true, 'false, as the plan is unlimited')
  }
  return {
    ...plan,
    monthlyLimit: monthlyMails,
    dailyLimit: dailyCap && monthlyMails !== null ? Math.floor(monthlyMails / 30) : null,
    storedBytes: storedMib === null ? null : storedMib * 1024 * 1024,
  }
}

/** One `[[marketing]]`. */
function marketingPlan(given: Table, place: TomlPlace): MarketingPlan {
  const { campaignMails, ...plan } = readAllKeys(marketingSettings, given, place)
  return { ...plan, monthlySendLimit: campaignMails }
}

/** All plans of a kind; at least one, as every account needs one. */
function readPlans<P>(
  file: OperatorFile,
  kind: 'email' | 'marketing',
  plan: (given: Table, place: TomlPlace) => P,
): Placed<P>[] {
  const given = file.content[kind]
  if (!Array.isArray(given) || given.length === 0) {
    file.problem([kind], `${kind}: expected at least one table [[${kind}]]`)
    return []
  }
  return given.map((table: unknown, index) => {
    const number = { file, path: [kind, index], says: `${kind} plan ${index + 1}` }
    const fields = tableAt(number, table)
    const named = 'value' in nameSetting.read(fields.name) ? `plan "${fields.name}"` : number.says
    const place = { ...number, says: named }
    return { place, plan: plan(fields, place) }
  })
}

/** Ids and names are unique over both kinds: commands find a plan by either, in any case. */
function refuseTwins(plans: readonly Placed<{ id: string; name: string }>[]): void {
  for (const key of ['id', 'name'] as const) {
    const seen = new Set<string>()
    for (const { plan, place } of plans) {
      const value = plan[key].toLowerCase()
      if (value !== '' && seen.has(value)) {
        wrongValue(place, key, plan[key], 'one that no other plan has')
      }
      seen.add(value)
    }
  }
}

/** The plans that new accounts get, by name. The caller refuses a bad file before it uses them. */
function readDefaults(file: OperatorFile, email: readonly EmailPlan[]) {
  const place = { file, path: ['defaults'], says: 'defaults' }
  const given = tableAt(place, file.content.defaults)
  const chosen = (key: string): EmailPlan => {
    const plan = email.find(({ name }) => name === given[key])
    if (plan === undefined) wrongValue(place, key, given[key], 'the name of an email plan')
    return plan ?? (email[0] as EmailPlan)
  }
  refuseOthers(place, given, ['first_account', 'other_accounts'])
  return { firstAccount: chosen('first_account'), otherAccounts: chosen('other_accounts') }
}
