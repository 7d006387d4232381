import {
  type DateOf,
  dateEvent,
  isPlace,
  placeFields,
  ruleFieldKind,
  type StepDefinition,
} from '../../automations/index.js'
import type { Form } from '../../http/index.js'
import type { Rule } from '../../rules/index.js'
import { changed, sentenceIn } from '../segments/sent-rule.js'
import { ruleOfSentence } from '../segments/sentence.js'
import { durationOf } from './durations.js'
import { whenIn } from './heard-fields.js'
import { unlessSame } from './same-step.js'
import { headersIn, valuesIn, valueTyped } from './typed-lines.js'

/** The step as its card in the form says it. Pressed buttons of its rule are carried out too. */
export function configIn(step: StepDefinition, fields: Form): StepDefinition {
  const said = (name: string) => (fields.get(`s.${name}`) ?? '').trim()
  // A card that was not in the form changes nothing.
  if (fields.get('s.key') !== step.key) return step
  const { name: _, ...rest } = step
  const name = said('name')
  const made = withConfig(rest as StepDefinition, said, fields)
  return unlessSame(step, name === '' ? made : { ...made, name })
}

type Said = (name: string) => string

function withConfig(step: StepDefinition, said: Said, fields: Form): StepDefinition {
  switch (step.type) {
    case 'trigger': {
      const { filter: _, reentry: __, eventName: ___, date: ____, ...rest } = step.config
      const heard = heardIn(said, fields, step.config)
      return {
        ...step,
        config: {
          ...rest,
          ...heard,
          ...(heard.eventName === dateEvent && { date: dateIn(said) }),
          ...reentryIn(said, fields, step.config),
        },
      }
    }
    case 'send_email':
      return { ...step, config: mailIn(step.config, said, fields) }
    case 'delay':
      return { ...step, config: delayIn(said, fields) }
    case 'wait_for_event': {
      const { filter: _, since: __, timeout: ___, eventName: ____, ...rest } = step.config
      const timeout = durationOf({ amount: said('amount'), unit: said('unit') })
      const since = said('since') === '' ? undefined : ('step' as const)
      const heard = heardIn(said, fields, step.config)
      return { ...step, config: { ...rest, ...heard, timeout, ...(since && { since }) } }
    }
    case 'condition':
      return { ...step, config: ruleIn(fields) ?? step.config }
    case 'contact_update':
      return { ...step, config: updateIn(said) }
    case 'split': {
      const percents = fields.all('s.percent')
      const branches = step.config.branches.map((branch, at) => ({
        ...branch,
        percent: numberOr(percents[at], branch.percent),
      }))
      return { ...step, config: { branches: waysChanged(branches, fields.get('do') ?? '') } }
    }
    case 'webhook':
      return { ...step, config: { ...step.config, endpointId: said('endpointId') } }
    case 'exit':
      return { ...step, config: said('reason') === '' ? {} : { reason: said('reason') } }
  }
}

type Trigger = Extract<StepDefinition, { type: 'trigger' }>['config']

/** How often one person may go through; unchanged where the form does not ask for it. */
function reentryIn(said: Said, fields: Form, before: Trigger): Pick<Trigger, 'reentry'> {
  if (fields.get('s.reentry') === undefined) {
    return before.reentry === undefined ? {} : { reentry: before.reentry }
  }
  const how = said('reentry')
  if (how === 'once') return { reentry: how }
  return how === 'after'
    ? { reentry: { after: saidDuration(said, fields, 'again') ?? usualAgain } }
    : {}
}

/** The day of a field on which a trigger begins, from its card. */
function dateIn(said: Said): DateOf {
  const days = numberOr(said('dateDays'), 0) * (said('dateWay') === 'before' ? -1 : 1)
  return {
    field: said('dateField'),
    ...(days !== 0 && { days }),
    ...(said('dateTime') !== '' && { time: said('dateTime') }),
    ...(said('dateZone') !== '' && { zone: said('dateZone') }),
    ...(said('dateRepeat') === 'once' && { repeat: 'once' as const }),
  }
}

/** The rule after a button such as `rule:add.0`; undefined where the form has no rule. */
export function ruleIn(fields: Form): Rule | undefined {
  if (fields.get('mode') === undefined) return undefined
  const [, wish = ''] = /^rule:(.*)$/.exec(fields.get('do') ?? '') ?? []
  return ruleOfSentence(changed(sentenceIn(fields, ruleFieldKind), wish))
}

/** The event that is heard, with its list, segment or form, and its filter: for a trigger or a wait. */
function heardIn(
  said: Said,
  fields: Form,
  before: { eventName: string; filter?: Rule },
): { eventName: string; filter?: Rule } {
  const when = said('when')
  const isOther = when === 'event' || when === ''
  const { eventName, place } = isOther ? { eventName: said('event'), place: '' } : whenIn(when)
  const field = placeFields[eventName]
  // A rule that the form cannot show stays as it is.
  const rule = ruleIn(fields) ?? withoutPlace(before.filter)
  const parts = rule === undefined ? [] : 'all' in rule ? rule.all : [rule]
  const all: Rule[] = [
    ...(field !== undefined && place !== ''
      ? [{ field: `event.${field}`, operator: 'eq', value: place } as const]
      : []),
    ...parts,
  ]
  return { eventName, ...(all.length > 0 && { filter: { all } }) }
}

/** The rest of a filter, without the list, segment or form. */
export function withoutPlace(filter: Rule | undefined): Rule | undefined {
  if (filter === undefined) return undefined
  const parts = 'all' in filter ? filter.all : [filter]
  const others = parts.filter((one) => !isPlace(one))
  return others.length === parts.length ? filter : others.length === 0 ? undefined : { all: others }
}

type MailConfig = Extract<StepDefinition, { type: 'send_email' }>['config']

function mailIn(before: MailConfig, said: Said, fields: Form): MailConfig {
  const {
    template: _,
    from: __,
    subject: ___,
    replyTo: ____,
    type: _____,
    topicId: ______,
    variables: variablesBefore = {},
    headers: headersBefore = {},
    ...rest
  } = before
  // The button under a template's picture.
  const [, taken] = /^take:(.+)$/.exec(fields.get('do') ?? '') ?? []
  const isTransactional = said('kind') === 'transactional'
  const isThere = (name: string) => fields.get(`s.${name}`) !== undefined
  const variables = isThere('variables') ? valuesIn(said('variables')) : variablesBefore
  const headers = isThere('headers') ? headersIn(said('headers')) : headersBefore
  return {
    ...rest,
    template: taken ?? said('template'),
    from: said('from'),
    ...(said('subject') !== '' && { subject: said('subject') }),
    ...(said('replyTo') !== '' && { replyTo: said('replyTo') }),
    ...(isTransactional && { type: 'transactional' as const }),
    ...(!isTransactional && said('topicId') !== '' && { topicId: said('topicId') }),
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(Object.keys(headers).length > 0 && { headers }),
  }
}

/** Proposed when somebody has just chosen a wait of this kind. */
export const usualWait = 'P3D'
const usualTime = '09:00'
const usualAgain = 'P30D'

/** A length of time from the card; undefined where the form has no field for it. */
function saidDuration(said: Said, fields: Form, name: 'amount' | 'again'): string | undefined {
  if (fields.get(`s.${name}`) === undefined) return undefined
  return durationOf({ amount: said(name), unit: said(name === 'amount' ? 'unit' : `${name}Unit`) })
}

function delayIn(said: Said, fields: Form): Extract<StepDefinition, { type: 'delay' }>['config'] {
  if (said('how') !== 'until') {
    return { duration: saidDuration(said, fields, 'amount') ?? usualWait }
  }
  const days = fields.all('s.days').map(Number)
  return {
    until: {
      // Just chosen, so the form had no field for the time yet.
      time: fields.get('s.time') === undefined ? usualTime : said('time'),
      ...(days.length > 0 && { days }),
      ...(said('zone') !== '' && { zone: said('zone') }),
    },
  }
}

function updateIn(said: Said): Extract<StepDefinition, { type: 'contact_update' }>['config'] {
  const metadata = valuesIn(said('fields'))
  return {
    ...(said('firstName') !== '' && { firstName: valueTyped(said('firstName')) as string }),
    ...(said('lastName') !== '' && { lastName: valueTyped(said('lastName')) as string }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

const numberOr = (typed: string | undefined, other: number): number => {
  const number = Number(typed?.trim().replace(',', '.'))
  return typed === undefined || typed.trim() === '' || Number.isNaN(number) ? other : number
}

interface TypedBranch {
  key: string
  percent: number
}

/** `way:more` and `way:less`: one way more or less, all with the same share. */
function waysChanged(branches: TypedBranch[], pressed: string): TypedBranch[] {
  if (pressed !== 'way:more' && pressed !== 'way:less') return branches
  const least = 2
  const most = 20
  const count = Math.min(most, Math.max(least, branches.length + (pressed === 'way:more' ? 1 : -1)))
  const keys = new Set(branches.map(({ key }) => key))
  const kept = branches.slice(0, count)
  while (kept.length < count) {
    const key =
      [...'abcdefghijklmnopqrstuvwxyz'].find((letter) => !keys.has(letter)) ?? `w${keys.size}`
    keys.add(key)
    kept.push({ key, percent: 0 })
  }
  const even = Math.floor(100 / count)
  return kept.map((branch, at) => ({
    key: branch.key,
    percent: at === 0 ? 100 - even * (count - 1) : even,
  }))
}
