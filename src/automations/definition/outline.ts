import type { AutomationDefinition, Connection, EdgeType, StepDefinition } from './definition.js'
import { edgesOf } from './graph.js'

/*
 * A definition as people read and write it: lists of steps, one below the other. A step with several ways out has one
 * list for each way; a way that comes to the end of its list goes on with the step below.
 */

/** A step in its list, with a list for each of its ways where it has several. */
export interface OutlineStep {
  step: StepDefinition
  ways: OutlineWay[]
}

/** One way out of a step. */
export interface OutlineWay {
  type: EdgeType
  branch?: string
  items: OutlineItem[]
}

/** A step; where the flow goes on at a step that stands elsewhere; or that it ends here, though a step stands below. */
export type OutlineItem = OutlineStep | { to: string } | { end: true }

/** The first list begins with the trigger; others are of steps to which nothing leads but a goal. */
export type Outline = OutlineItem[][]

export const isOutlineStep = (item: OutlineItem | undefined): item is OutlineStep =>
  item !== undefined && 'step' in item

/**
 * All steps of an outline, from above to below: those of a way after the step that it leaves, one way after the other.
 */
export const stepsInOrder = (outline: Outline): StepDefinition[] =>
  outline.flatMap((items) =>
    items.flatMap((item) =>
      isOutlineStep(item) ? [item.step, ...stepsInOrder(item.ways.map((way) => way.items))] : [],
    ),
  )

/** The ways of a step of this kind that have lists; none where it just goes on. */
export function waysOf(step: StepDefinition): Omit<OutlineWay, 'items'>[] {
  if (step.type === 'split') {
    const { branches = [] } = step.config
    return branches.map(({ key }) => ({ type: 'branch', branch: key }))
  }
  const types = edgesOf[step.type]
  return types.length < 2 ? [] : types.map((type) => ({ type }))
}

type Graph = Pick<AutomationDefinition, 'steps' | 'connections'>

/** The outline of a definition, which need not be valid. Each step is in it once, and so is each connection. */
export function outlineOf({ steps, connections }: Graph): Outline {
  const byKey = new Map(steps.map((step) => [step.key, step]))
  const targets = new Map<string, string>()
  for (const edge of connections) {
    if (byKey.has(edge.to)) targets.set(wayName(edge.from, edge), edge.to)
  }
  const after = (key: string, way: Omit<OutlineWay, 'items'> = { type: 'default' }) =>
    targets.get(wayName(key, way))
  const placed = new Set<string>()

  /** The steps from one on, until it comes to `stop`, which stands below. */
  const listFrom = (start: string | undefined, stop: string | undefined): OutlineItem[] => {
    const items: OutlineItem[] = []
    let at = start
    while (at !== stop) {
      const step = at === undefined ? undefined : byKey.get(at)
      if (at === undefined || step === undefined) return [...items, { end: true }]
      if (placed.has(at)) return [...items, { to: at }]
      placed.add(at)
      const ways = waysOf(step)
      const join = ways.length === 0 ? undefined : meetingOf(step, stop)
      const below = join ?? stop
      const here = ways.map((way) =>
        Object.assign(way, { items: listFrom(after(step.key, way), below) }),
      )
      items.push({ step, ways: here })
      if (step.type === 'exit' || (ways.length > 0 && join === undefined)) return items
      at = ways.length === 0 ? after(step.key) : join
    }
    return items
  }

  // Each step that has ways asks for this, for all steps below it.
  const following = new Map<string, readonly string[]>()
  const successors = (step: StepDefinition): readonly string[] => {
    const known = following.get(step.key)
    if (known !== undefined) return known
    const ways = waysOf(step)
    const all = ways.length === 0 ? [after(step.key)] : ways.map((way) => after(step.key, way))
    const found = all.filter((key) => key !== undefined)
    following.set(step.key, found)
    return found
  }

  /** The steps that a flow may reach from `start`, the nearest first, without those that already stand somewhere. */
  const ahead = (start: string, stop: string | undefined): string[] => {
    const found = new Set<string>()
    const open = [start]
    // The loop also visits what is added to the array meanwhile.
    for (const key of open) {
      const step = byKey.get(key)
      if (step === undefined || key === stop || placed.has(key) || found.has(key)) continue
      found.add(key)
      open.push(...successors(step))
    }
    return [...found]
  }

  /** Where most of a step's ways meet again, at least two of them. */
  const meetingOf = (step: StepDefinition, stop: string | undefined): string | undefined => {
    const counts = new Map<string, number>()
    for (const start of successors(step)) {
      for (const key of ahead(start, stop)) counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    const most = Math.max(0, ...counts.values())
    return most < 2 ? undefined : [...counts].find(([, count]) => count === most)?.[0]
  }

  const lists = steps.filter(({ type }) => type === 'trigger').map(({ key }) => key)
  const outline = [...lists, ...steps.map(({ key }) => key)].flatMap((key) =>
    placed.has(key) ? [] : [listFrom(key, undefined)],
  )
  return outline.length === 0 ? [[]] : outline
}

/** A way out of a step, by which its target is found. */
const wayName = (key: string, { type, branch }: Omit<OutlineWay, 'items'>) =>
  JSON.stringify(branch === undefined ? [key, type] : [key, type, branch])

/** The steps and connections of an outline. */
export function graphOf(outline: Outline): { steps: StepDefinition[]; connections: Connection[] } {
  const steps: StepDefinition[] = []
  const connections: Connection[] = []
  const walk = (items: OutlineItem[], below: string | undefined): void => {
    for (const [at, item] of items.entries()) {
      if (!isOutlineStep(item)) continue
      const { step, ways } = item
      steps.push(step)
      const from = step.key
      const next = beginning(items.slice(at + 1), below)
      if (ways.length === 0 && step.type !== 'exit' && next !== undefined) {
        connections.push({ from, to: next, type: 'default' })
      }
      for (const { type, branch, items: inner } of ways) {
        const to = beginning(inner, next)
        if (to === undefined) continue
        connections.push({ from, to, type, ...(branch !== undefined && { branch }) })
      }
      for (const { items: inner } of ways) walk(inner, next)
    }
  }
  for (const list of outline) walk(list, undefined)
  const keys = new Set(steps.map(({ key }) => key))
  return { steps, connections: connections.filter(({ to }) => keys.has(to)) }
}

/** The step with which a list begins; where the list is empty, the step below it. */
function beginning([first]: OutlineItem[], below: string | undefined): string | undefined {
  if (first === undefined) return below
  if ('to' in first) return first.to
  return isOutlineStep(first) ? first.step.key : undefined
}
