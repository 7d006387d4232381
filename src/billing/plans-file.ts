import { loadConfig } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { readToml } from '../toml/index.js'
import type { Ceilings, EmailPlan, MarketingPlan, Plans } from './plan.js'
import {
  flag,
  limit,
  names,
  optionalLimit,
  optionalName,
  type PlanFields,
  readFields,
  uuid,
  wholeNumber,
} from './plan-fields.js'

/**
 * Reads and checks `plans.toml`; throws one OperatorError that lists every problem. `ceilings` are those of the
 * settings, and the defaults where the settings say nothing.
 */
export function loadPlans(
  file: string,
  ceilings: Ceilings = loadConfig({ env: {} }).ceilings,
): Plans {
  const content = readToml(file, 'the plans')
  const problems: string[] = []
  const email = readPlans(content.email, 'email', problems, (fields) =>
    emailPlan(fields, ceilings.storedMib),
  )
  const marketing = readPlans(content.marketing, 'marketing', problems, marketingPlan)
  refuseTwins([...email, ...marketing], problems)
  const byDefault = readDefaults(content.defaults, email, problems)
  for (const key of Object.keys(content)) {
    if (!['defaults', 'email', 'marketing'].includes(key)) {
      problems.push(`${key}: no such table; known: [defaults], [[email]], [[marketing]]`)
    }
  }
  if (problems.length > 0 || byDefault === undefined) {
    throw new OperatorError(`Bad plans (${file}):\n  ${problems.join('\n  ')}`)
  }
  return { email, marketing, ...byDefault, ceilings }
}

/**
 * One `[[email]]`. The daily cap is a thirtieth of the month, so it needs at least 30 mails and a
 * limit.
 */
function emailPlan(fields: PlanFields, usualMib: number): EmailPlan {
  const monthlyLimit = fields.take('monthly_mails', limit(1))
  const dailyCap = fields.take('daily_cap', flag)
  if (dailyCap && monthlyLimit !== null && monthlyLimit < 30) {
    fields.fault('monthly_mails', monthlyLimit, 'at least 30 with a daily cap')
  }
  if (dailyCap && monthlyLimit === null) {
    fields.fault('daily_cap', true, 'false, as the plan is unlimited')
  }
  const storedMib = fields.take('stored_mib', optionalLimit(1, usualMib))
  return {
    ...anyPlan(fields),
    monthlyLimit,
    dailyLimit: dailyCap && monthlyLimit !== null ? Math.floor(monthlyLimit / 30) : null,
    retentionDays: fields.take('retention_days', wholeNumber(1, 36_500)),
    domains: fields.take('domains', limit(1)),
    storedBytes: storedMib === null ? null : storedMib * 1024 * 1024,
    webhooks: fields.take('webhooks', flag),
    features: fields.take('features', names),
  }
}

/** One `[[marketing]]`. */
function marketingPlan(fields: PlanFields): MarketingPlan {
  return {
    ...anyPlan(fields),
    contacts: fields.take('contacts', wholeNumber(1, 1e12)),
    monthlySendLimit: fields.take('campaign_mails', limit(1)),
  }
}

/** The fields that both kinds have. */
function anyPlan(fields: PlanFields) {
  return {
    id: fields.take('id', uuid),
    name: fields.name,
    priceNaira: fields.take('price_naira', wholeNumber(0, 1e12)),
    paymentProviderPlanCode: fields.take('payment_provider_plan_code', optionalName),
  }
}

/** All plans of a kind; at least one, as every account needs one. */
function readPlans<P>(
  given: unknown,
  kind: 'email' | 'marketing',
  problems: string[],
  plan: (fields: PlanFields) => P,
): P[] {
  if (!Array.isArray(given) || given.length === 0) {
    problems.push(`${kind}: expected at least one table [[${kind}]]`)
    return []
  }
  return given.map((table, index) => readFields(table, `${kind} plan ${index + 1}`, problems, plan))
}

/** Ids and names are unique over both kinds: commands find a plan by either, in any case. */
function refuseTwins(plans: readonly { id: string; name: string }[], problems: string[]): void {
  for (const field of ['id', 'name'] as const) {
    const seen = new Set<string>()
    for (const plan of plans) {
      const value = plan[field].toLowerCase()
      if (value !== '' && seen.has(value)) {
        problems.push(
          `plan "${plan.name}": ${field}: "${plan[field]}" given, expected one that no other plan has`,
        )
      }
      seen.add(value)
    }
  }
}

/** The plans that new accounts get, by name. */
function readDefaults(given: unknown, email: readonly EmailPlan[], problems: string[]) {
  const before = problems.length
  const table = typeof given === 'object' && given !== null ? { ...given } : {}
  const fields: Record<string, unknown> = table
  const chosen = (field: string) => {
    const plan = email.find(({ name }) => name === fields[field])
    if (plan === undefined) {
      const shown = JSON.stringify(fields[field]) ?? 'nothing'
      problems.push(`defaults: ${field}: ${shown} given, expected the name of an email plan`)
    }
    return plan
  }
  const firstAccount = chosen('first_account')
  const otherAccounts = chosen('other_accounts')
  for (const field of Object.keys(fields)) {
    if (field !== 'first_account' && field !== 'other_accounts') {
      problems.push(`defaults: ${field}: no such field; known: first_account, other_accounts`)
    }
  }
  if (problems.length > before || !firstAccount || !otherAccounts) return undefined
  return { firstAccount, otherAccounts }
}
