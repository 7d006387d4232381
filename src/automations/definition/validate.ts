import { type Struct, string, type, unknown } from 'superstruct'
import {
  check,
  isSound,
  listOf,
  noOthers,
  oneOf,
  optional,
  rule,
  ShapeError,
  structOf,
  windowEnd,
} from '../../fields/index.js'
import { isJsonObject, jsonBytes, numberFault } from '../../json/index.js'
import { configs, Days, EventName, Key, WallTime, WindowZone, Zone } from './check-step.js'
import {
  type AutomationDefinition,
  type Connection,
  edgeTypes,
  limits,
  type StepDefinition,
  stepKey,
  stepTypes,
} from './definition.js'
import { coded, type StepFault } from './fault.js'
import { checkGraph, shown } from './graph.js'
import { checkPaths } from './paths.js'
import { placesBefore } from './places.js'
import { RuleTree } from './rule-tree.js'
import { stepName } from './step-name.js'

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
  const wrong = () => ({ definition: undefined, faults })
  if (jsonBytes(given) > limits.definitionBytes) {
    const error = `The definition may have at most ${limits.definitionBytes} bytes as JSON`
    faults.push(coded(null, 'tooLarge', error))
    return wrong()
  }
  const whole = held(given, Whole, { name: 'definition', key: null, faults })
  if (whole === undefined) return wrong()
  if (whole.steps.length > limits.steps) {
    say(`There are more than ${limits.steps} steps`)
    return wrong()
  }
  const steps = stepsIn(whole.steps, faults)
  const connections = connectionsIn(whole.connections, faults)
  if (faults.length > 0) return wrong()
  const { settings } = whole
  const definition: AutomationDefinition = {
    steps,
    connections,
    ...(settings !== undefined && { settings }),
  }
  faults.push(...numberFaults(definition), ...checkGraph(definition))
  if (faults.length === 0) faults.push(...settingFaults(definition), ...checkPaths(definition))
  return faults.length > 0 ? wrong() : { definition, faults: [] }
}

/**
 * The value as it is meant, without its optional nulls. Undefined for a value that does not fit: `faults` then gets a
 * sentence for each wrong field, and `name` is what the value itself is called there.
 */
function held<T>(
  value: unknown,
  struct: Struct<T, unknown>,
  { name, key, faults }: { name: string; key: string | null; faults: StepFault[] },
): T | undefined {
  // Beyond the faults that are told, the reason is not looked for: that takes a hundred times as long.
  if (faults.length >= limits.faultsTold && !isSound(value, struct)) {
    faults.push({ key, error: `${name} is wrong` })
    return undefined
  }
  try {
    return check(value, struct)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    // Clients have no name for the outermost value: its fields are named as they stand there.
    const outer = name === 'config' || name === 'definition' ? '' : name
    for (const { path, message, reason } of error.parted) {
      const within = path.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`)).join('')
      const place = `${outer}${within}`.replace(/^\./, '') || name
      const { code, name: of, most } = reason ?? {}
      const names = of === undefined ? [] : [of]
      const before = placesBefore(value, path)
      const is = { code, place: path, says: message, names, most, placesBefore: before }
      faults.push({ key, error: `${place}: ${message}`, is })
    }
    return undefined
  }
}

/** Numbers that are not what was written. */
function numberFaults({ steps, settings }: AutomationDefinition): StepFault[] {
  const faults = steps.map(({ key, config }) => ({ key, error: numberFault('config', config) }))
  const ofSettings = { key: null, error: numberFault('settings', settings) }
  return [...faults, ofSettings].flatMap(({ key, error }) => (error ? [{ key, error }] : []))
}

const Step = noOthers(
  type({
    key: Key,
    type: structOf(oneOf(stepTypes)),
    name: optional(structOf(stepName)),
    config: optional(unknown()),
  }),
)

/** Steps are named by their place until they have a good key, and by the key from then on. */
function stepsIn(given: unknown[], faults: StepFault[]): StepDefinition[] {
  const keys = new Set<string>()
  return given.flatMap((one, index) => {
    const key = isJsonObject(one) ? keyIn(one.key) : null
    const about = { name: key === null ? `steps[${index}]` : 'config', key, faults }
    const step = held(one, Step, about)
    if (key !== null && keys.has(key)) faults.push({ key, error: 'Another step has the same key' })
    if (step === undefined) return []
    keys.add(step.key)
    // The struct of this type of step, which TypeScript does not follow.
    const struct = configs[step.type] as Struct<StepDefinition['config'], unknown>
    const config = held(step.config ?? {}, struct, about)
    return config === undefined ? [] : [{ ...step, config } as StepDefinition]
  })
}

const keyIn = (given: unknown) => (typeof given === 'string' && stepKey.test(given) ? given : null)

const Edge = noOthers(
  type({
    // Whether a step has that key is judged with the graph.
    from: string(),
    to: string(),
    type: structOf(oneOf(edgeTypes)),
    branch: optional(string()),
  }),
)

/** Faults are told at the step that the connection comes from. */
const connectionsIn = (given: unknown[], faults: StepFault[]): Connection[] =>
  given.flatMap((one, index) => {
    const key = isJsonObject(one) ? keyIn(one.from) : null
    const edge = held(one, Edge, { name: `connections[${index}]`, key, faults })
    return edge ?? []
  })

// An event that ends runs, or is their goal.
const exitRule = { eventName: EventName, filter: optional(RuleTree) }
// Few, since each live run listens to every one of them.
const maxExitRules = 20

/** Every setting is optional and has a usual value. */
const Settings = noOthers(
  type({
    exitOn: optional(listOf(noOthers(type(exitRule)), maxExitRules)),
    goal: optional(noOthers(type({ ...exitRule, to: optional(string()) }))),
    timeZone: optional(Zone),
    sendWindow: optional(
      noOthers(
        type({
          from: WallTime,
          to: structOf(windowEnd('When it closes')),
          days: optional(Days),
          zone: optional(WindowZone),
        }),
      ),
    ),
    maxPerHour: optional(
      rule<number>(
        'a whole number of mails, 1 or more',
        (value) => Number.isInteger(value) && Number(value) > 0,
      ),
    ),
    onUnsubscribe: optional(structOf(oneOf(['exit', 'continue']))),
  }),
)

// Steps and connections are judged one by one, further down.
const List = rule<unknown[]>('an array', Array.isArray)
const Whole = noOthers(type({ steps: List, connections: List, settings: optional(Settings) }))

/** What settings say about steps. */
function settingFaults({ steps, settings = {} }: AutomationDefinition): StepFault[] {
  const faults: StepFault[] = []
  const { goal, sendWindow, onUnsubscribe } = settings
  if (goal?.to !== undefined) {
    const target = steps.find(({ key }) => key === goal.to)
    if (target === undefined || target.type === 'trigger') {
      const what = target === undefined ? 'no step' : 'the trigger'
      const says = `"${shown(goal.to)}" is ${what}`
      const is = { place: ['settings', 'goal', 'to'], says }
      faults.push({ key: null, error: `settings.goal.to: ${says}`, is })
    }
  }
  if (sendWindow !== undefined && sendWindow.from === sendWindow.to) {
    const says = 'from and to are the same time; expected two different ones'
    const is = { code: 'sameTimes', place: ['settings', 'sendWindow'], says }
    faults.push({ key: null, error: `settings.sendWindow: ${says}`, is })
  }
  if (onUnsubscribe !== 'continue') return faults
  for (const step of steps) {
    if (step.type !== 'send_email' || step.config.type === 'transactional') continue
    const error = 'settings.onUnsubscribe is "continue", but this mail is not transactional'
    faults.push(coded(step.key, 'notTransactional', error))
  }
  return faults
}
