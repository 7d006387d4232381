import {
  type Automation,
  type AutomationDefinition,
  dateWords,
  type StepDefinition,
} from '../../automations/index.js'
import { parseMailbox } from '../../mime/index.js'
import { comparisonsOf, type Rule } from '../../rules/index.js'
import { eventWords } from '../event-words.js'
import type { FieldChoice } from '../segments/choices.js'
import { wordsOf } from '../segments/rule-words.js'
import { inQuotes, setApart } from '../shell/names.js'
import type { Tone } from '../shell/parts.js'
import { durationWords } from './duration-words.js'
import { markOf, numbered, shortName } from './step-names.js'

/** The names of the account's things, as a definition has only their ids. */
export interface WordBook {
  /** Lists, segments, topics and forms by their ids. */
  names: ReadonlyMap<string, string>
  /** What conditions may be about. */
  fields: readonly FieldChoice[]
}

export type TriggerStep = Extract<StepDefinition, { type: 'trigger' }>
type Named = Pick<AutomationDefinition, 'steps'>

/** How a state is shown. */
export function stateChip(
  { status, paused_at }: Pick<Automation, 'status' | 'paused_at'>,
  /** What keeps it from doing its work, as said after “On”. */
  ailment?: string,
): { text: string; tone: Tone } {
  if (status === 'archived') return { text: 'Archived', tone: 'none' }
  if (paused_at !== null) return { text: 'Paused', tone: 'doubt' }
  if (status !== 'enabled') return { text: 'Off', tone: 'none' }
  return ailment === undefined
    ? { text: 'On', tone: 'good' }
    : { text: `On, ${ailment}`, tone: 'bad' }
}

// The field by which such a trigger's filter names its list, segment or form, and the words for it.
interface StartPlace {
  field: string
  kind: 'list' | 'segment' | 'form'
  says: (name: string) => string
}
const places: Readonly<Record<string, StartPlace>> = {
  '$list.joined': {
    field: 'listId',
    kind: 'list',
    says: (name) => `somebody joins ${setApart(name)}`,
  },
  '$segment.joined': {
    field: 'segmentId',
    kind: 'segment',
    says: (name) => `somebody comes into the segment “${name}”`,
  },
  '$segment.left': {
    field: 'segmentId',
    kind: 'segment',
    says: (name) => `somebody leaves the segment “${name}”`,
  },
  '$form.confirmed': {
    field: 'formId',
    kind: 'form',
    says: (name) => `somebody confirms the form “${name}”`,
  },
}

/** The words for a deleted one: `somebody joins a list that is deleted`. */
export const deletedPlaceWords = (eventName: string): string =>
  eventWords(eventName).replace(/ an? (list|segment|form)$/, ' a $1 that is deleted')

/** The kind of the deleted thing that begins it; undefined where it exists, or something else begins it. */
export function deletedStart(of: Named, { names }: WordBook): StartPlace['kind'] | undefined {
  for (const { type, config } of of.steps) {
    if (type !== 'trigger') continue
    const place = places[config.eventName]
    const named = place && config.filter && namedBy(config.filter, place.field)
    if (place !== undefined && named !== undefined && !names.has(named.id.toLowerCase()))
      return place.kind
  }
  return undefined
}

/** An event of one list, segment or form: `somebody joins Readers`. */
export const placeWords = (eventName: string, name: string): string =>
  places[eventName]?.says(name) ?? eventWords(eventName)

/** What starts an automation, as a sentence without its full stop: `When somebody joins Readers`. */
export function triggerWords({ config }: TriggerStep, book: WordBook, of: Named): string {
  const { eventName, filter, date } = config
  if (date !== undefined) return `${dateWords(date)}${withRule(filter, book, of)}`
  const place = places[eventName]
  const named = place && filter && namedBy(filter, place.field)
  if (place !== undefined && named !== undefined) {
    const name = book.names.get(named.id.toLowerCase())
    const says = name === undefined ? deletedPlaceWords(eventName) : place.says(name)
    return `When ${says}${withRule(named.rest, book, of)}`
  }
  const event = eventWords(eventName)
  return `When ${event}${withRule(filter, book, of)}`
}

/** What starts it, for a whole definition. */
export function startWords(of: Named, book: WordBook): string {
  const step = of.steps.find((one) => one.type === 'trigger')
  return step?.type === 'trigger' ? triggerWords(step, book, of) : 'Nothing starts it yet'
}

const withRule = (rule: Rule | undefined, book: WordBook, of: Named) =>
  rule === undefined ? '' : `, and ${ruleWords(rule, book, of)}`

/** The thing that a filter names by its field, and the rest of the filter. */
function namedBy(filter: Rule, field: string): { id: string; rest: Rule | undefined } | undefined {
  const parts = 'all' in filter ? filter.all : [filter]
  const isIt = (one: Rule) =>
    'field' in one && one.field.endsWith(`.${field}`) && one.operator === 'eq'
  const part = parts.find(isIt)
  if (part === undefined || !('field' in part) || typeof part.value !== 'string') return undefined
  const others = parts.filter((one) => one !== part)
  return { id: part.value, rest: others.length === 0 ? undefined : { all: others } }
}

/** A condition in words: `Town is Lagos and Opened “Welcome” holds`. */
export function ruleWords(rule: Rule, book: WordBook, of: Named): string {
  const labels = comparisonsOf(rule).map(({ field }) => ({
    value: field,
    label: fieldWords(field, book, of),
  }))
  return wordsOf(rule, labels).replace(/^A rule that was written/, 'a rule that was written')
}

/** What can become of a mail, as a condition asks for it. */
export const engagements: Readonly<Record<string, string>> = {
  opened: 'was opened',
  clicked: 'was clicked in',
  delivered: 'arrived',
  bounced: 'bounced',
}

/** What a rule's field is called: `“Welcome” was opened`. */
export function fieldWords(path: string, book: WordBook, of: Named): string {
  const known = book.fields.find(({ value }) => value === path)
  if (known !== undefined) return known.label
  const [root = '', ...rest] = path.split('.')
  const [key = '', ...inside] = rest
  switch (root) {
    case 'trigger':
      return `“${rest.join('.')}” of what began it`
    case 'event':
      return `“${rest.join('.')}” of the event`
    case 'waits':
      return `“${inside.join('.')}” of what came at ${inQuotes(shortName(key, of.steps))}`
    case 'email':
      return `${inQuotes(shortName(key, of.steps))} ${engagements[inside.join('.')] ?? `was ${inside.join('.')}`}`
    case 'segment':
      return `Is in the segment “${book.names.get(key) ?? 'deleted'}”`
    default:
      return path
  }
}

/** A step's title: its name, or what it does; with a number where another has the same. */
export const stepTitle = (step: StepDefinition, book: WordBook, of: Named): string =>
  `${step.name ?? stepWords(step, book, of)}${markOf(step, of.steps)}`

/** The title of a step, by its key. */
export const titleOf =
  (of: Named, book: WordBook) =>
  (key: string): string => {
    const step = of.steps.find((one) => one.key === key)
    return step === undefined ? key : stepTitle(step, book, of)
  }

/** Titles for places where nothing else tells which step it is: each step has a different one. */
export function titlesApart(of: Named, book: WordBook): (key: string) => string {
  const titles = numbered(of.steps.map((step) => [step.key, stepTitle(step, book, of)]))
  return (key) => titles.get(key) ?? key
}

/** What a step does, as the outline, the drawing and lists of runs say it: `Wait 3 days`. */
export function stepWords(step: StepDefinition, book: WordBook, of: Named): string {
  switch (step.type) {
    case 'trigger':
      return triggerWords(step, book, of)
    case 'send_email':
      return `Send ${step.config.template === '' ? 'a mail' : `“${step.config.template}”`}${senderWords(step.config.from)}`
    case 'delay':
      return delayWords(step.config)
    case 'wait_for_event': {
      const { eventName, filter, timeout } = step.config
      const most = timeout === undefined ? '90 days' : durationWords(timeout)
      return `Wait until ${eventWords(eventName)}${withRule(filter, book, of)}, ${most} at most`
    }
    case 'condition':
      return `If ${ruleWords(step.config, book, of)}`
    case 'contact_update':
      return contactWords(step.config)
    case 'split':
      return `Split: ${step.config.branches.map(({ key, percent }) => `${percent} % ${key}`).join(', ')}`
    case 'webhook':
      return 'Tell your application'
    case 'exit':
      return step.config.reason === undefined ? 'End' : `End: ${step.config.reason}`
  }
}

function senderWords(from: string): string {
  const name = parseMailbox(from)?.name
  return name ? ` from ${setApart(name)}` : ''
}

function contactWords(config: { firstName?: unknown; lastName?: unknown; metadata?: object }) {
  const { firstName, lastName, metadata = {} } = config
  const fields = [
    ...(firstName === undefined ? [] : ['first name']),
    ...(lastName === undefined ? [] : ['last name']),
    ...Object.keys(metadata),
  ]
  return fields.length === 0 ? 'Change the contact' : `Set ${fields.join(', ')}`
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

function delayWords({ duration, until }: Extract<StepDefinition, { type: 'delay' }>['config']) {
  if (until === undefined) return `Wait ${durationWords(duration ?? '')}`
  const { time, days = [], zone } = until
  const on = days.length === 0 ? '' : ` on ${days.map((day) => weekdays[day - 1]).join(', ')}`
  const where = zone === undefined || zone === 'contact' ? '' : ` in ${zone}`
  return `Wait until ${time === '' ? 'a time of day' : time}${on}${where}`
}

/** How a way out of a step is called; `undefined` where there is only one. */
export function edgeWords(type: string, branch?: string): string | undefined {
  switch (type) {
    case 'condition_met':
      return 'yes'
    case 'condition_not_met':
      return 'no'
    case 'event_received':
      return 'it came'
    case 'timeout':
      return 'it did not come'
    case 'branch':
      return branch
    default:
      return undefined
  }
}
