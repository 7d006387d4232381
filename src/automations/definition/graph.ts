import { durationMs } from '../../rules/index.js'
import { edgeName } from './compile.js'
import {
  type AutomationDefinition,
  type Connection,
  type EdgeType,
  type StepDefinition,
  usualTimeout,
} from './definition.js'
import { coded, type StepFault } from './fault.js'

/** A client's text in a message: as much as helps to find it. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text).slice(1, -1)

// A loop may come round once a minute, and not faster.
const shortestMs = 60_000

/**
 * Which connections can leave a step, by its type. A wait has two ends, since "it came" and "it did
 * not" are nearly always different ways.
 */
export const edgesOf: Record<StepDefinition['type'], readonly EdgeType[]> = {
  trigger: ['default'],
  send_email: ['default'],
  delay: ['default'],
  wait_for_event: ['event_received', 'timeout'],
  condition: ['condition_met', 'condition_not_met'],
  contact_update: ['default'],
  split: ['branch'],
  webhook: ['default'],
  exit: [],
}

/** What is wrong with how steps are connected; each step is by itself in order. */
export function checkGraph(definition: AutomationDefinition): StepFault[] {
  const { steps, connections } = definition
  const faults = [...edgeFaults(steps, connections), ...triggerFaults(steps, connections)]
  // The checks below read the whole graph; while its edges are wrong, they would repeat the same faults.
  if (faults.length > 0) return faults
  return [...unreachable(definition), ...spinning(steps, connections)]
}

/** For each key the keys of the steps that a run may have taken before it comes there. */
export function stepsBefore({ steps, connections, settings }: AutomationDefinition) {
  const goal = settings?.goal?.to
  // The event of the goal takes a run there from wherever it is.
  const jumps = goal === undefined ? [] : steps.map(({ key }) => ({ from: key, to: goal }))
  const after = successors(steps, [...connections, ...jumps])
  const before = new Map(steps.map(({ key }) => [key, new Set<string>()]))
  for (const { key } of steps) {
    for (const later of reached(after, after.get(key) ?? [])) before.get(later)?.add(key)
  }
  return before
}

/** A connection is judged with the step that it comes from, so that an editor can mark it there. */
function edgeFaults(steps: StepDefinition[], connections: Connection[]): StepFault[] {
  const byKey = new Map(steps.map((step) => [step.key, step]))
  const taken = new Set<string>()
  const faults: StepFault[] = []
  for (const { from, to, type, branch } of connections) {
    const source = byKey.get(from)
    const say = (error: string) => faults.push({ key: source?.key ?? null, error })
    if (source === undefined) say(`A connection comes from "${shown(from)}", which is not a step`)
    else if (!byKey.has(to)) say(`A connection goes to "${shown(to)}", which is not a step`)
    else {
      const allowed = edgesOf[source.type]
      if (!allowed.includes(type)) {
        const has = allowed.length === 0 ? 'none' : allowed.map((name) => `"${name}"`).join(' and ')
        say(`A connection of type "${type}" cannot leave a ${source.type} step, which has ${has}`)
      } else if (source.type === 'split' && !source.config.branches.some((b) => b.key === branch)) {
        say(
          `A connection leaves by the branch "${shown(branch ?? '')}", which the split does not have`,
        )
      } else if (type !== 'branch' && branch !== undefined) {
        say(`A connection of type "${type}" has no branch`)
      }
      const edge = `${from} ${edgeName(type, branch)}`
      if (taken.has(edge)) say(`Two connections leave by "${shown(edgeName(type, branch))}"`)
      taken.add(edge)
    }
  }
  return faults
}

/** There is exactly one trigger, and nothing leads to it: a run begins once. */
function triggerFaults(steps: StepDefinition[], connections: Connection[]): StepFault[] {
  const [first, ...others] = steps.filter((step) => step.type === 'trigger')
  if (first === undefined)
    return [coded(null, 'noTrigger', 'The automation has no trigger step: add one')]
  const faults: StepFault[] = others.map(({ key }) => ({
    key,
    error: `An automation has one trigger step, and this one has a trigger already: "${first.key}"`,
  }))
  if (connections.some(({ to }) => to === first.key)) {
    faults.push({ key: first.key, error: 'No connection may lead to the trigger' })
  }
  if (!connections.some(({ from }) => from === first.key)) {
    faults.push(coded(first.key, 'nothingFollows', 'The trigger is not connected to any step'))
  }
  return faults
}

/**
 * A step that no run can reach is a mistake of the author's, and would still be checked and
 * counted. The goal's step counts as reached.
 */
function unreachable({ steps, connections, settings }: AutomationDefinition): StepFault[] {
  const starts = steps.filter(({ type, key }) => type === 'trigger' || key === settings?.goal?.to)
  const found = reached(
    successors(steps, connections),
    starts.map(({ key }) => key),
  )
  return steps
    .filter(({ key }) => !found.has(key))
    .map(({ key }) => coded(key, 'unreached', 'No connections lead from the trigger to this step'))
}

/**
 * Loops that a run could go round while no time passes and no event is used up. Only an event takes a run out of a wait
 * at once, and each event is heard once.
 */
function spinning(steps: StepDefinition[], connections: Connection[]): StepFault[] {
  const byKey = new Map(steps.map((step) => [step.key, step]))
  const atOnce = connections.filter(({ from, type }) => {
    const step = byKey.get(from)
    return step !== undefined && !takesTime(step, type)
  })
  const quick = successors(steps, atOnce)
  const inLoop = steps.filter(({ key }) => reached(quick, quick.get(key) ?? []).has(key))
  const keys = inLoop.map(({ key }) => key)
  const named = keys.map((key) => `"${key}"`).join(', ')
  const error = `A loop (${named}) needs a delay or a timeout of at least a minute, or a wait for an event`
  return keys.map((key) => coded(key, 'loop', error, ...keys))
}

/**
 * A loop without any wait would run a thousand steps at once and end by the limit; so each loop
 * needs a step at which time passes.
 */
function takesTime(step: StepDefinition, edge: EdgeType): boolean {
  if (step.type === 'delay') {
    // A time of day comes once a day.
    return step.config.until !== undefined || lasts(step.config.duration)
  }
  if (step.type !== 'wait_for_event') return false
  return edge === 'event_received' || lasts(step.config.timeout ?? usualTimeout)
}

/** Whether a duration is long enough to slow a loop down. */
const lasts = (duration = '') => (durationMs(duration) ?? 0) >= shortestMs

/** For each key the keys of the steps that follow at once. */
type Successors = ReadonlyMap<string, readonly string[]>

/** The edges by the step that they leave. */
export function successors(
  steps: StepDefinition[],
  edges: { from: string; to: string }[],
): Successors {
  const after = new Map<string, string[]>(steps.map(({ key }) => [key, []]))
  for (const { from, to } of edges) after.get(from)?.push(to)
  return after
}

/** The steps `from`, and all that follow. */
export function reached(after: Successors, from: readonly string[]): Set<string> {
  const found = new Set<string>()
  const open = [...from]
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    if (found.has(key)) continue
    found.add(key)
    open.push(...(after.get(key) ?? []))
  }
  return found
}
