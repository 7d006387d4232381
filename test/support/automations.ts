import type {
  AutomationDefinition,
  AutomationSettings,
  Connection,
  EdgeType,
  StepDefinition,
  StepType,
} from '../../src/automations/definition/definition.js'
import type { SimulatedHappening } from '../../src/automations/trial/simulation.js'
import type { Json, JsonObject } from '../../src/json/index.js'
import type { Rule } from '../../src/rules/index.js'
import { seeded } from '../shaping/seeded.js'

/** Randomness for definitions, contacts and their events: the same for the same seed. */
export interface Chance {
  /** A whole number below `bound`. */
  upTo(bound: number): number
  oneOf<T>(values: readonly T[]): T
  /** One time in `times`. */
  once(times: number): boolean
}

export function chance(seed: number): Chance {
  const random = seeded(seed)
  const upTo = (bound: number) => Math.floor(random() * bound)
  const oneOf = <T>(values: readonly T[]): T => {
    const value = values[upTo(values.length)]
    if (value === undefined) throw new Error('nothing to choose from')
    return value
  }
  return { upTo, oneOf, once: (times) => upTo(times) === 0 }
}

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

export const eventNames = ['order.paid', 'cart.left', 'seen'] as const
export const startName = 'user.signup'
const plans = ['free', 'pro', 'team']

export interface DefinitionOptions {
  /** Besides the trigger. */
  steps?: number
  /** Of every kind by default. */
  types?: readonly StepType[]
  /** Templates that send steps name; there are no send steps without. */
  templates?: readonly string[]
  from?: string
  endpointId?: string
  settings?: boolean
  /** Rules may ask what happened to mail. */
  engagement?: boolean
}

const everyType: readonly StepType[] = [
  'send_email',
  'delay',
  'delay',
  'wait_for_event',
  'wait_for_event',
  'condition',
  'contact_update',
  'split',
  'exit',
]

/**
 * A definition in which every step is reached, with loops back. Most pass `validate`; those whose
 * loops take no time do not.
 */
export function randomDefinition(chance: Chance, options: DefinitionOptions = {}) {
  const { upTo, oneOf, once } = chance
  const count = options.steps ?? 1 + upTo(9)
  const types = (options.types ?? everyType).filter(
    (type) => type !== 'send_email' || options.templates !== undefined,
  )
  const steps: StepDefinition[] = [randomTrigger(chance)]
  const connections: Connection[] = []
  const open: Pick<Connection, 'from' | 'type' | 'branch'>[] = [{ from: 'start', type: 'default' }]
  for (let index = 0; index < count && open.length > 0; index += 1) {
    const exits = open.length > 1
    const type = oneOf(types.filter((type) => type !== 'exit' || exits))
    const step = randomStep(chance, type, `s${index}`, steps, options)
    const [edge] = open.splice(once(3) ? 0 : upTo(open.length), 1)
    if (edge !== undefined) connections.push({ ...edge, to: step.key })
    steps.push(step)
    open.push(...edgesOf(step))
  }
  // Some of the remaining ends lead anywhere, also back.
  for (const edge of open) {
    if (edge.from !== 'start' && once(2)) {
      connections.push({ ...edge, to: oneOf(steps.slice(1)).key })
    }
  }
  const definition: AutomationDefinition = { steps, connections }
  if (options.settings === true && once(2)) definition.settings = randomSettings(chance, steps)
  return definition
}

function randomTrigger(chance: Chance): StepDefinition {
  const { once, oneOf } = chance
  return {
    key: 'start',
    type: 'trigger',
    config: {
      eventName: startName,
      ...(once(4) ? { filter: randomRule(chance, 2, ['trigger.n', 'contact.metadata.plan']) } : {}),
      ...(once(3) ? { reentry: oneOf(['after_end', 'once', { after: 'P3D' }] as const) } : {}),
    },
  }
}

function randomStep(
  chance: Chance,
  type: StepType,
  key: string,
  earlier: readonly StepDefinition[],
  options: DefinitionOptions,
): StepDefinition {
  const { upTo, oneOf, once } = chance
  const fields = fieldsAfter(earlier, options.engagement === true)
  switch (type) {
    case 'send_email':
      return {
        key,
        type,
        config: {
          template: oneOf(options.templates ?? []),
          from: options.from ?? 'a@sender.example',
          type: 'transactional',
          variables: { n: once(2) ? { var: oneOf(fields) } : upTo(9) },
        },
      }
    case 'delay':
      if (once(4)) {
        const until = { time: oneOf(['00:00', '02:30', '09:00', '23:59']), zone: oneOf(zones) }
        return { key, type, config: { until: once(2) ? until : { ...until, days: [1, 3, 7] } } }
      }
      return { key, type, config: { duration: oneOf(['PT1M', 'PT90M', 'P1D', 'P1W', 'PT30S']) } }
    case 'wait_for_event':
      return {
        key,
        type,
        config: {
          eventName: oneOf(eventNames),
          ...(once(3)
            ? { filter: randomRule(chance, 2, [...fields, 'event.n', 'event.cart']) }
            : {}),
          ...(once(4) ? {} : { timeout: oneOf(['PT1H', 'P1D', 'P4D']) }),
          ...(once(3) ? { since: oneOf(['run', 'step'] as const) } : {}),
        },
      }
    case 'condition':
      return { key, type, config: randomRule(chance, 3, fields) }
    case 'contact_update':
      return {
        key,
        type,
        config: {
          metadata: { plan: oneOf(plans), last: { var: oneOf(fields) } },
          ...(once(2) ? { firstName: oneOf(['Ada', null, { var: 'trigger.name' }]) } : {}),
        },
      }
    case 'split': {
      const percent = upTo(101)
      const branches = [
        { key: 'a', percent },
        { key: 'b', percent: 100 - percent },
      ]
      return { key, type, config: { branches } }
    }
    case 'webhook': {
      const { endpointId = 'endpoint' } = options
      return { key, type, config: { endpointId, payload: { n: { var: oneOf(fields) } } } }
    }
    default:
      return { key, type: 'exit', config: {} }
  }
}

export const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Africa/Lagos', 'contact']

function edgesOf({ key: from, type, config }: StepDefinition) {
  const edges = (...types: EdgeType[]) => types.map((type) => ({ from, type }))
  switch (type) {
    case 'wait_for_event':
      return edges('event_received', 'timeout')
    case 'condition':
      return edges('condition_met', 'condition_not_met')
    case 'split':
      return config.branches.map(({ key }) => ({ from, type: 'branch' as const, branch: key }))
    case 'exit':
      return []
  }
  return edges('default')
}

/** Fields that a step may read after all of the earlier steps, or some of them. */
function fieldsAfter(earlier: readonly StepDefinition[], engagement: boolean): string[] {
  const before = earlier.flatMap(({ key, type }) => {
    // `validate` decides whether a way leads from there to here.
    if (type === 'wait_for_event') return [`waits.${key}.n`]
    if (type !== 'send_email' || !engagement) return []
    return [`email.${key}.opened`, `email.${key}.clicked`]
  })
  const always = [
    'trigger.n',
    'trigger.cart',
    'event.n',
    'contact.metadata.plan',
    'contact.firstName',
  ]
  return [...always, ...before]
}

function randomRule(chance: Chance, depth: number, fields: readonly string[]): Rule {
  const { oneOf, once, upTo } = chance
  if (depth > 0 && once(3)) {
    const part = () => randomRule(chance, depth - 1, fields)
    return oneOf<() => Rule>([
      () => ({ all: [part(), part()] }),
      () => ({ any: [part(), part()] }),
      () => ({ not: part() }),
    ])()
  }
  const field = oneOf(fields)
  // Such a field is true or false.
  if (field.startsWith('email.')) return { field, operator: 'eq', value: once(2) }
  const operator = oneOf([
    'eq',
    'neq',
    'gt',
    'lte',
    'in',
    'contains',
    'exists',
    'is_empty',
  ] as const)
  if (operator === 'exists' || operator === 'is_empty') return { field, operator }
  if (operator === 'in') return { field, operator, value: [1, 2, 'pro', null] }
  if (once(4)) return { field, operator, value: { var: oneOf(fields) } }
  if (operator === 'gt' || operator === 'lte') return { field, operator, value: upTo(4) }
  return { field, operator, value: oneOf<Json>([1, 2, 'free', 'pro', 'A', true, null]) }
}

function randomSettings(chance: Chance, steps: readonly StepDefinition[]): AutomationSettings {
  const { once, oneOf } = chance
  const target = steps.filter(({ type }) => type !== 'trigger')
  return {
    ...(once(3) ? { exitOn: [{ eventName: oneOf(eventNames) }] } : {}),
    ...(once(3)
      ? { goal: { eventName: oneOf(eventNames), ...(once(2) ? { to: oneOf(target).key } : {}) } }
      : {}),
    ...(once(3) ? { timeZone: 'Australia/Sydney' } : {}),
    ...(once(3) ? { sendWindow: { from: '22:00', to: '06:30', days: [1, 2, 5] } } : {}),
    ...(once(3) ? { onUnsubscribe: 'continue' as const } : {}),
  }
}

export function randomMetadata({ oneOf, once }: Chance): JsonObject {
  return {
    ...(once(3) ? {} : { plan: oneOf(plans) }),
    ...(once(3) ? { timeZone: oneOf(['Asia/Tokyo', 'Nowhere/At_all', 'America/Sao_Paulo']) } : {}),
  }
}

/** What happens to a contact from `from` on, in order, over about a month; first the run's start. */
export function randomEvents({ upTo, oneOf, once }: Chance, from: number) {
  const events: (SimulatedHappening & { kind: 'event' })[] = []
  let at = from
  const count = 1 + upTo(12)
  for (let index = 0; index < count; index += 1) {
    const name = index === 0 || once(5) ? startName : oneOf(eventNames)
    const payload = { n: upTo(4), cart: oneOf(['A', 'B']), name: oneOf(['Bo', 7, '']) }
    events.push({ at, kind: 'event', name, payload: once(8) ? null : payload })
    // Some come together, and some exactly when a delay ends, to the millisecond.
    at += oneOf([0, minute, hour, 90 * minute, day, 4 * day, 1 + upTo(3 * day)])
  }
  return events
}
