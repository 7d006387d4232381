import { isDeepStrictEqual } from 'node:util'
import { array, enums, is, optional, string, type } from 'superstruct'
import { isJsonObject } from '../../json/index.js'
import type { Rule } from '../../rules/index.js'
import {
  type AutomationDefinition,
  type AutomationSettings,
  edgeTypes,
  limits,
  type StepDefinition,
  type StepType,
  stepKey,
  stepTypes,
} from './definition.js'
import type { StepFault } from './fault.js'

/*
 * A draft is kept whatever is wrong with it, but its parts have the types that pages count on: each step is a step, and
 * each text in it is a text. `validate` judges what they say.
 */

/** A step whose fields have these types, with the wrong ones made fit; undefined for what is no step. */
export function soundStep(given: unknown): StepDefinition | undefined {
  if (!isJsonObject(given)) return undefined
  const { key, name, type } = given
  const known = stepTypes.find((one) => one === type)
  if (typeof key !== 'string' || !stepKey.test(key) || known === undefined) return undefined
  const config = isJsonObject(given.config) ? given.config : {}
  const step = { key, type: known, config: soundConfig[known](config) } as StepDefinition
  return typeof name === 'string' && name !== '' ? { ...step, name } : step
}

type Given = Record<string, unknown>
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const textOr = (given: Given, name: string): Given => {
  const { [name]: value, ...rest } = given
  return typeof value === 'string' ? { ...rest, [name]: value } : rest
}
const ruled = (given: Given): Given => {
  const { filter, ...rest } = given
  return isRule(filter) ? { ...rest, filter } : rest
}
const objectOr = (given: Given, name: string): Given => {
  const { [name]: value, ...rest } = given
  return isJsonObject(value) ? { ...rest, [name]: value } : rest
}

const soundConfig: Record<StepType, (given: Given) => Given> = {
  trigger: (given) => {
    const { date, ...rest } = ruled(given)
    const kept = isJsonObject(date) ? { date: { ...date, field: text(date.field) } } : {}
    return { ...rest, ...kept, eventName: text(given.eventName) }
  },
  send_email: (given) => ({
    ...objectOr(objectOr(textOr(textOr(given, 'subject'), 'topicId'), 'variables'), 'headers'),
    template: text(given.template),
    from: text(given.from),
  }),
  delay: (given) => {
    const { until, ...rest } = given
    return isJsonObject(until)
      ? {
          until: {
            ...textOr(until, 'zone'),
            time: text(until.time),
            ...(until.days !== undefined && { days: Array.isArray(until.days) ? until.days : [] }),
          },
        }
      : textOr(rest, 'duration')
  },
  wait_for_event: (given) => ({
    ...textOr(ruled(given), 'timeout'),
    eventName: text(given.eventName),
  }),
  condition: (given) => (isRule(given) ? given : { all: [] }),
  contact_update: (given) => objectOr(given, 'metadata'),
  split: (given) => ({
    branches: (Array.isArray(given.branches) ? given.branches : []).filter(
      (one) => isJsonObject(one) && typeof one.key === 'string',
    ),
  }),
  webhook: (given) => ({ ...given, endpointId: text(given.endpointId) }),
  exit: (given) => textOr(given, 'reason'),
}

/** Whether it has the shape of a rule, however wrong what it says is. */
export function isRule(value: unknown, depth = 0): value is Rule {
  if (!isJsonObject(value) || depth > 10) return false
  const parts = value.all ?? value.any
  if (parts !== undefined) {
    return Array.isArray(parts) && parts.every((one) => isRule(one, depth + 1))
  }
  if (value.not !== undefined) return isRule(value.not, depth + 1)
  return typeof value.field === 'string' && typeof value.operator === 'string'
}

const Heard = type({ eventName: string() })
const Settings = type({
  exitOn: optional(array(Heard)),
  goal: optional(Heard),
  timeZone: optional(string()),
  sendWindow: optional(type({ from: string(), to: string() })),
})
const Edge = type({ from: string(), to: string(), type: enums(edgeTypes) })

/** The draft that is given, or why it is none: only types are judged, not what it says. */
export function draftIn({
  steps,
  connections,
  settings,
}: Record<keyof AutomationDefinition, unknown>):
  | { definition: AutomationDefinition; faults: [] }
  | { definition: undefined; faults: StepFault[] } {
  const given = Array.isArray(steps) ? steps : []
  const made = given.map(soundStep)
  const faults: StepFault[] = []
  const say = (error: string, key: string | null = null) => faults.push({ key, error })
  if (given.length > limits.steps) say(`There are more than ${limits.steps} steps`)
  for (const [at, step] of made.entries()) {
    if (step === undefined) say(`steps[${at}]: expected a step: { key, type, config }`)
    else if (!isDeepStrictEqual(step.config, { ...given[at].config })) {
      say('config: a field has another type than this step takes', step.key)
    }
  }
  const keys = made.flatMap((step) => step?.key ?? [])
  if (new Set(keys).size < keys.length) say('Two steps have the same key')
  const edges = Array.isArray(connections) ? connections : []
  for (const [at, edge] of edges.entries()) {
    if (!is(edge, Edge)) say(`connections[${at}]: expected a connection: { from, to, type }`)
  }
  if (settings !== undefined && !areSettings(settings)) {
    say('settings: a field has another type than it takes')
  }
  if (faults.length > 0) return { definition: undefined, faults }
  const definition: AutomationDefinition = {
    steps: made.flatMap((step) => step ?? []),
    connections: edges,
    ...(settings !== undefined && { settings: settings as AutomationSettings }),
  }
  return { definition, faults: [] }
}

function areSettings(given: unknown): boolean {
  if (!is(given, Settings)) return false
  const { exitOn = [], goal } = given as AutomationSettings
  return [...exitOn, ...(goal === undefined ? [] : [goal])].every(
    ({ filter }) => filter === undefined || isRule(filter),
  )
}
