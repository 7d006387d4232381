import { isJsonObject, jsonBytes, numberFault } from '../../json/index.js'
import { type Check, checkFields, is, may, must, object, shown } from './check-fields.js'
import { checkRule } from './check-rule.js'
import {
  checkConfig,
  days,
  eventName,
  isStepType,
  stepKey,
  stepTypes,
  timeOfDay,
  windowZone,
  zone,
} from './check-step.js'
import {
  type AutomationDefinition,
  type AutomationSettings,
  type Connection,
  limits,
  type StepDefinition,
} from './definition.js'
import { checkGraph, type StepFault } from './graph.js'
import { checkPaths } from './paths.js'
import { isWindowEnd } from './window.js'

/** A definition that is right, or what is wrong with it. */
export type ValidatedDefinition =
  | { definition: AutomationDefinition; faults: [] }
  | { definition: undefined; faults: StepFault[] }

/**
 * Reads a definition as a client has sent it. Names every fault by the key of its step, in the order:
 * steps by themselves, connections, the graph, fields. What the store knows (templates, domains,
 * topics, endpoints) is not looked at: see `enable`.
 */
export function validate(given: unknown): ValidatedDefinition {
  const faults: StepFault[] = []
  const say = (error: string) => faults.push({ key: null, error })
  const fields = { steps: must(list), connections: must(list), settings: may(settings) }
  if (jsonBytes(given) > limits.definitionBytes) {
    say(`The definition may have at most ${limits.definitionBytes} bytes as JSON`)
    return { definition: undefined, faults }
  }
  checkFields(fields, given, 'definition', say)
  if (faults.length > 0 || !isJsonObject(given)) return { definition: undefined, faults }
  const steps = given.steps as unknown[]
  const connections = given.connections as unknown[]
  if (steps.length > limits.steps) say(`There are more than ${limits.steps} steps`)
  else faults.push(...stepFaults(steps), ...connectionFaults(connections))
  if (faults.length > 0) return { definition: undefined, faults }
  // Each part has just been held against its type.
  const definition: AutomationDefinition = {
    steps: (steps as StepDefinition[]).map(
      (step) => ({ ...step, config: step.config ?? {} }) as StepDefinition,
    ),
    connections: connections as Connection[],
    ...(given.settings === undefined ? {} : { settings: given.settings as AutomationSettings }),
  }
  faults.push(...numberFaults(definition), ...checkGraph(definition))
  if (faults.length === 0) faults.push(...settingFaults(definition), ...checkPaths(definition))
  return faults.length > 0 ? { definition: undefined, faults } : { definition, faults: [] }
}

/** Judged item by item, further down. */
const list = is('an array', Array.isArray)

/** Numbers that are not what was written. */
function numberFaults({ steps, settings }: AutomationDefinition): StepFault[] {
  const faults = steps.map(({ key, config }) => ({ key, error: numberFault('config', config) }))
  const ofSettings = { key: null, error: numberFault('settings', settings) }
  return [...faults, ofSettings].flatMap(({ key, error }) => (error ? [{ key, error }] : []))
}

/** Steps are named by their place until they have a good key, and by the key from then on. */
function stepFaults(steps: unknown[]): StepFault[] {
  const faults: StepFault[] = []
  const keys = new Set<string>()
  for (const [index, step] of steps.entries()) {
    if (!isJsonObject(step) || typeof step.key !== 'string' || !stepKey.test(step.key)) {
      const error = `steps[${index}]: expected a "key" of 1 to 64 of a-z, 0-9, "_" and "-"`
      faults.push({ key: null, error })
      continue
    }
    const { key, type, config = {}, ...others } = step
    const say = (error: string) => faults.push({ key: String(key), error })
    if (keys.has(String(key))) say('Another step has the same key')
    keys.add(String(key))
    for (const other of Object.keys(others)) say(`${shown(other)} is not a field of a step`)
    if (isStepType(type)) checkConfig(type, config, say)
    else say(`type: expected one of ${stepTypes.join(', ')}`)
  }
  return faults
}

/** Any text: whether a step has that key is judged with the graph. */
const anyText = is('a string', (value) => typeof value === 'string')
const edgeTypes = [
  'default',
  'condition_met',
  'condition_not_met',
  'event_received',
  'timeout',
  'branch',
]
const edge = object({
  from: must(anyText),
  to: must(anyText),
  type: must(is(`one of ${edgeTypes.join(', ')}`, (type) => edgeTypes.some((t) => t === type))),
  branch: may(anyText),
})

/** Told at the step that the connection comes from. */
function connectionFaults(connections: unknown[]): StepFault[] {
  const faults: StepFault[] = []
  for (const [index, connection] of connections.entries()) {
    const from = isJsonObject(connection) ? connection.from : undefined
    const key = typeof from === 'string' && stepKey.test(from) ? from : null
    edge(connection, `connections[${index}]`, (error) => faults.push({ key, error }))
  }
  return faults
}

// An event that ends runs, or is their goal.
const exitRule = { eventName: must(eventName), filter: may(checkRule) }
const maxExitRules = 20

/** Few, since each live run listens to every one of them. */
const exitRules: Check = (value, name, say) => {
  if (!Array.isArray(value) || value.length > maxExitRules) {
    say(`${name}: expected an array of at most ${maxExitRules} of { eventName, filter }`)
    return
  }
  for (const [index, item] of value.entries()) {
    checkFields(exitRule, item, `${name}[${index}]`, say)
  }
}

/** Every setting is optional; what is not given is the usual. */
const settings = object({
  exitOn: may(exitRules),
  goal: may(object({ ...exitRule, to: may(anyText) })),
  timeZone: may(zone),
  sendWindow: may(
    object({
      from: must(timeOfDay),
      to: must(
        is('a time such as "17:00"', (value) => typeof value === 'string' && isWindowEnd(value)),
      ),
      days: may(days),
      zone: may(windowZone),
    }),
  ),
  maxPerHour: may(
    is(
      'a whole number of mails, 1 or more',
      (value) => Number.isInteger(value) && Number(value) > 0,
    ),
  ),
  onUnsubscribe: may(
    is('"exit" or "continue"', (value) => value === 'exit' || value === 'continue'),
  ),
})

/** What settings say about steps. */
function settingFaults({ steps, settings = {} }: AutomationDefinition): StepFault[] {
  const faults: StepFault[] = []
  const { goal, sendWindow, onUnsubscribe } = settings
  if (goal?.to !== undefined) {
    const target = steps.find(({ key }) => key === goal.to)
    if (target === undefined || target.type === 'trigger') {
      const what = target === undefined ? 'no step' : 'the trigger'
      faults.push({ key: null, error: `settings.goal.to: "${shown(goal.to)}" is ${what}` })
    }
  }
  if (sendWindow !== undefined && sendWindow.from === sendWindow.to) {
    faults.push({
      key: null,
      error: 'settings.sendWindow: from and to are the same time; expected two different ones',
    })
  }
  if (onUnsubscribe !== 'continue') return faults
  for (const step of steps) {
    if (step.type !== 'send_email' || step.config.type === 'transactional') continue
    const error = 'settings.onUnsubscribe is "continue", but this mail is not transactional'
    faults.push({ key: step.key, error })
  }
  return faults
}
