import { counted } from '../../amounts/index.js'
import {
  type AutomationDefinition,
  automationWarnings,
  checkEnabling,
  dateRuleOf,
  faultsOf,
  type LiquidDeps,
  outlineOf,
  placeIn,
  surveyDates,
  validate,
} from '../../automations/index.js'
import type { AccountBilling } from '../../billing/index.js'
import { ApiError } from '../../errors/index.js'
import { namesAmong } from '../../events/index.js'
import type { Read } from '../../store/index.js'
import { durationWords } from '../automations/duration-words.js'
import { crowdNamed } from '../automations/start.js'
import { startWords, stepTitle, titleOf, type WordBook } from '../automations/words.js'
import type { CampaignCheck } from '../campaigns/check.js'
import { inQuotes } from '../shell/names.js'
import { templatePath } from '../templates/way-back.js'
import { faultWords } from './fault-words.js'
import { datedWords, unreadableWords } from './survey-words.js'
import { tooSoonWords, type Unready, unwrittenMails } from './unready-words.js'
import { mendPath } from './written.js'

/** The account of the automation, and the address of its pages. */
interface CheckedAt {
  billing: AccountBilling
  base: string
  here: string
  id: string
  isOn: boolean
}

/** What speaks for and against turning it on as it is now written. */
export async function checksOf(
  deps: LiquidDeps & { store: { read: Read } },
  { billing, base, here, id, isOn }: CheckedAt,
  definition: AutomationDefinition,
  book: WordBook,
): Promise<CampaignCheck[]> {
  const { read } = deps.store
  const outline = outlineOf(definition)
  const faults = await faultsOf(deps, billing.accountId, definition)
  const valid = faults.length > 0 ? undefined : validate(definition).definition
  const called = (key: string | null) => {
    const step = definition.steps.find((one) => one.key === key)
    return step === undefined ? '' : `${inQuotes(stepTitle(step, book, definition))}: `
  }
  const told =
    (tone: 'bad' | 'doubt') =>
    (one: Unready): CampaignCheck => ({
      tone,
      says: `${called(one.key)}${faultWords(one, titleOf(definition, book))}`,
      mend:
        one.slug === undefined
          ? { label: 'Mend it at its step', href: mendPath(here, { outline }, [one]) }
          : { label: 'Write this mail', href: templatePath(base, one.slug, id) },
    })
  const unwritten = await unwrittenMails(read, billing.accountId, definition)
  if (valid === undefined) return [...faults, ...unwritten].map(told('bad'))
  const checks: CampaignCheck[] = [
    { tone: 'none', says: `${startWords(valid, book)}. ${reentryWords(valid)}` },
    { tone: 'good', says: `All ${valid.steps.length} steps fit together.` },
  ]
  try {
    const lacking = await checkEnabling(read, billing, valid)
    checks.push(...[...lacking, ...unwritten].map(told('bad')))
    if (lacking.length === 0) {
      checks.push({
        tone: 'good',
        says: 'Its templates, senders and topics are there, and your plan has room.',
      })
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    checks.push({
      tone: 'bad',
      says:
        error.code === 'marketing_subscription_required'
          ? 'It sends news, which needs a marketing plan, and this account has none. The operator of this server gives plans.'
          : error.message,
      mend: { label: 'Your plan', href: `${base}/plan` },
    })
  }
  checks.push(...(await automationWarnings(read, billing.accountId, valid)).map(told('doubt')))
  checks.push(...tooSoonWords(valid).map(told('doubt')))
  checks.push(...(await unheard(read, billing.accountId, valid)))
  checks.push(...(await datesChecked(read, billing.accountId, valid)))
  checks.push(...(await alreadyThere(read, { billing, here, isOn }, valid)))
  return checks
}

/** Whether people have a day in the field by which it begins: the field may hold anything. */
async function datesChecked(
  read: Read,
  accountId: string,
  definition: AutomationDefinition,
): Promise<CampaignCheck[]> {
  const rule = dateRuleOf(definition)
  if (rule === undefined) return []
  const survey = await surveyDates(read, accountId, rule)
  const unreadable = unreadableWords(survey)
  return [
    { tone: survey.dated === 0 ? 'doubt' : 'none', says: datedWords(survey) },
    ...(unreadable === undefined ? [] : [{ tone: 'doubt', says: unreadable } as const]),
  ]
}

/** Whoever is already in the list or segment joined it before: nothing begins for them by itself. */
async function alreadyThere(
  read: Read,
  { billing, here, isOn }: Pick<CheckedAt, 'billing' | 'here' | 'isOn'>,
  { steps }: AutomationDefinition,
): Promise<CampaignCheck[]> {
  const trigger = steps.find((step) => step.type === 'trigger')
  if (trigger?.type !== 'trigger') return []
  const { eventName, filter } = trigger.config
  const id = placeIn(filter)
  const crowd =
    eventName === '$list.joined'
      ? { listId: id }
      : eventName === '$segment.joined'
        ? { segmentId: id }
        : undefined
  const found =
    crowd === undefined || id === '' ? undefined : await crowdNamed(read, billing.accountId, crowd)
  if (found === undefined || found.people === 0) return []
  const { name, people } = found
  const says = `${counted(people, 'person is', 'people are')} in ${inQuotes(name)} already, and ${people === 1 ? 'does' : 'do'} not enter by being there.`
  const start = 'Start for a list or segment'
  return isOn
    ? [{ tone: 'none', says, mend: { label: start, href: `${here}/start` } }]
    : [{ tone: 'none', says: `${says} Once it is on, “${start}” on its page lets them in.` }]
}

/** Events that never came: most of them are mistyped. */
async function unheard(
  read: Read,
  accountId: string,
  { steps }: AutomationDefinition,
): Promise<CampaignCheck[]> {
  const names = steps.flatMap((step) =>
    step.type === 'trigger' || step.type === 'wait_for_event' ? [step.config.eventName] : [],
  )
  const own = new Set(names.filter((name) => !name.startsWith('$')))
  if (own.size === 0) return []
  const seen = await namesAmong(read, accountId, [...own])
  return [...own]
    .filter((name) => !seen.has(name))
    .map((name) => ({
      tone: 'doubt',
      says: `The event “${name}” has never come. Look whether your application sends it under this name.`,
    }))
}

/** How often one person may go through it. */
function reentryWords({ steps }: AutomationDefinition): string {
  const trigger = steps.find((step) => step.type === 'trigger')
  const { reentry, date } = trigger?.type === 'trigger' ? trigger.config : {}
  if (date !== undefined && typeof reentry !== 'object' && reentry !== 'once') {
    return date.repeat === 'once'
      ? 'One person goes through it once for each date of theirs.'
      : 'One person goes through it each year, and never twice in a year.'
  }
  if (reentry === 'once') return 'One person goes through it once, and never again.'
  if (typeof reentry === 'object') {
    return `One person goes through it again, but not within ${durationWords(reentry.after)} of the last time it began for them.`
  }
  return 'One person may go through it again each time, once they are through.'
}
