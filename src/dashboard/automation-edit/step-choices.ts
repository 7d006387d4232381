import { dateEvent, type SeenEvent, type StepDefinition } from '../../automations/index.js'
import { listContactFields } from '../../contact-fields/index.js'
import { listPage } from '../../contacts/index.js'
import { listForms } from '../../forms/index.js'
import { comparisonsOf, type Rule } from '../../rules/index.js'
import { listSegments } from '../../segments/index.js'
import type { Read } from '../../store/index.js'
import { listTemplates } from '../../templates/index.js'
import { listTopics } from '../../topics/index.js'
import { listEndpoints } from '../../webhooks/index.js'
import { shortName } from '../automations/step-names.js'
import { engagements } from '../automations/words.js'
import { type FieldChoice, fieldChoices } from '../segments/choices.js'
import { namedOptions } from '../shell/named-options.js'
import { inQuotes } from '../shell/names.js'

/** What the fields of a step offer. */
export interface StepChoices {
  /** Each with its subject. */
  templates: (FieldChoice & { subject: string })[]
  lists: FieldChoice[]
  segments: FieldChoice[]
  forms: FieldChoice[]
  topics: FieldChoice[]
  endpoints: FieldChoice[]
  /** Events that really came, or that another automation hears. */
  events: string[]
  /** The account's fields of contacts that hold a day. */
  dates: FieldChoice[]
  /** What a condition may be about: the contact, events, and earlier mails. */
  fields: FieldChoice[]
}

// As many as a page has room for.
const mostTemplates = 100
const mostLists = 50

/** The choices of one step; only what its type asks for is looked up. */
export async function stepChoices(
  read: Read,
  accountId: string,
  {
    step,
    steps,
    before,
    events,
    asked,
  }: {
    step: StepDefinition | undefined
    steps: readonly StepDefinition[]
    /** The keys of the steps that may come before it; undefined: any. */
    before: ReadonlySet<string> | undefined
    events: readonly SeenEvent[]
    /** The label of a rule's field. */
    asked: (field: string) => string
  },
): Promise<StepChoices> {
  const is = (...types: StepDefinition['type'][]) => step !== undefined && types.includes(step.type)
  const hears = is('trigger', 'wait_for_event')
  const isDated = step?.type === 'trigger' && step.config.eventName === dateEvent
  const [templates, lists, segments, forms, topics, endpoints, contactFields] = await Promise.all([
    is('send_email') ? listTemplates(read, accountId, { limit: mostTemplates }) : [],
    hears ? listPage(read, accountId, { limit: mostLists }).then(({ page }) => page) : [],
    hears ? listSegments(read, accountId) : [],
    hears ? listForms(read, accountId) : [],
    is('send_email') ? listTopics(read, accountId) : [],
    is('webhook') ? listEndpoints(read, accountId) : [],
    isDated ? listContactFields(read, accountId) : [],
  ])
  const fields =
    step === undefined
      ? []
      : await ruleFields(read, accountId, { step, steps, before, events, asked })
  return {
    templates: templates.map(({ slug, subject }) => ({
      value: slug,
      label: `${slug}: ${subject}`,
      subject,
    })),
    lists: namedOptions(lists),
    segments: namedOptions(segments),
    forms: namedOptions(forms),
    topics: namedOptions(topics),
    endpoints: endpoints.map(({ id, url }) => ({ value: id, label: url })),
    events: events.map(({ name }) => name),
    dates: contactFields
      .filter(({ type }) => type === 'date')
      .map(({ name, label }) => ({ value: name, label })),
    fields,
  }
}

/** What rules of a step may be about: the account's contacts, what began the run, heard events, and earlier mails. */
async function ruleFields(
  read: Read,
  accountId: string,
  {
    step,
    steps,
    before,
    events,
    asked,
  }: {
    step: StepDefinition
    steps: readonly StepDefinition[]
    before: ReadonlySet<string> | undefined
    events: readonly SeenEvent[]
    asked: (field: string) => string
  },
): Promise<FieldChoice[]> {
  if (step.type !== 'condition' && step.type !== 'trigger' && step.type !== 'wait_for_event')
    return []
  const propertiesOf = (name: string) => events.find((one) => one.name === name)?.properties ?? []
  const rule = ruleOf(step)
  const used = rule === undefined ? [] : comparisonsOf(rule).map(({ field }) => field)
  // Rules of automations may ask less about a contact than those of segments.
  const known = (await fieldChoices(read, accountId)).filter(({ value }) =>
    /^(contact\.|segment\.|broadcast\.[^.]+\.(opened|clicked|left)$)/.test(value),
  )
  const own =
    step.type === 'condition'
      ? []
      : propertiesOf(step.config.eventName).map((name) => ({
          value: `event.${name}`,
          label: `“${name}” of the event`,
        }))
  const others =
    step.type === 'trigger'
      ? []
      : steps
          .filter(({ key }) => before?.has(key) ?? true)
          .flatMap((one) => fieldsOf(one, { self: step, steps, propertiesOf }))
  const choices = [...own, ...others, ...known]
  const values = new Set(choices.map(({ value }) => value))
  return [
    ...choices,
    ...[...new Set(used)]
      .filter((value) => !values.has(value))
      .map((value) => ({ value, label: asked(value) })),
  ]
}

// What people mostly ask of a mail. The API also knows 'bounced', but nobody goes on after that.
const offered = ['opened', 'clicked', 'delivered']

function fieldsOf(
  one: StepDefinition,
  {
    self,
    steps,
    propertiesOf,
  }: {
    self: StepDefinition
    steps: readonly StepDefinition[]
    propertiesOf: (event: string) => string[]
  },
): FieldChoice[] {
  if (one.key === self.key) return []
  if (one.type === 'send_email') {
    const mail = inQuotes(shortName(one.key, steps))
    return offered.map((what) => ({
      value: `email.${one.key}.${what}`,
      label: `The mail ${mail} ${engagements[what]}`,
    }))
  }
  if (one.type === 'trigger') {
    return propertiesOf(one.config.eventName).map((name) => ({
      value: `trigger.${name}`,
      label: `“${name}” of what began it`,
    }))
  }
  if (one.type !== 'wait_for_event') return []
  return propertiesOf(one.config.eventName).map((name) => ({
    value: `waits.${one.key}.${name}`,
    label: `“${name}” of what came at ${inQuotes(shortName(one.key, steps))}`,
  }))
}

export const ruleOf = (step: StepDefinition): Rule | undefined =>
  step.type === 'condition'
    ? step.config
    : step.type === 'trigger' || step.type === 'wait_for_event'
      ? step.config.filter
      : undefined
