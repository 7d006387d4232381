import type {
  AutomationDefinition,
  AutomationSettings,
  EdgeType,
  StepDefinition,
} from './definition.js'

/** A step with the steps that follow it. */
export interface CompiledStep {
  /** The id in `automation_steps` of a frozen version's step; counted from 1 for a draft. */
  id: number
  step: StepDefinition
  /** The step after each edge: by its type, or `branch:<key>`. */
  next: ReadonlyMap<string, CompiledStep>
}

/** A definition made ready for `walk`: steps by id and key, edges followed. */
export interface Compiled {
  /** The automation's id: it makes a split fall differently in each automation. */
  seed: string
  trigger: CompiledStep
  byId: ReadonlyMap<number, CompiledStep>
  byKey: ReadonlyMap<string, CompiledStep>
  settings: AutomationSettings
}

/** What an edge is found by in `next`. */
export const edgeName = (type: EdgeType, branch?: string): string =>
  type === 'branch' ? `branch:${branch}` : type

/**
 * Takes a definition that `validate` has let through; throws an Error for one without a trigger.
 * `idOf` says the id of the step with that key.
 */
export function compile(
  { steps, connections, settings = {} }: AutomationDefinition,
  { seed, idOf }: { seed: string; idOf?: (key: string) => number },
): Compiled {
  const nodes = steps.map((step, index) => ({
    id: idOf?.(step.key) ?? index + 1,
    step,
    next: new Map<string, CompiledStep>(),
  }))
  const byKey = new Map(nodes.map((node) => [node.step.key, node]))
  for (const { from, to, type, branch } of connections) {
    const target = byKey.get(to)
    if (target !== undefined) byKey.get(from)?.next.set(edgeName(type, branch), target)
  }
  const trigger = nodes.find(({ step }) => step.type === 'trigger')
  if (trigger === undefined) throw new Error('the definition has no trigger step')
  return { seed, trigger, byId: new Map(nodes.map((node) => [node.id, node])), byKey, settings }
}
