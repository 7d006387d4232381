import type { AutomationDefinition, StepDefinition } from '../../automations/index.js'
import { edgeWords } from './words.js'

/** A way from one step to the next, by the places of both in `FlowGraph.steps`. */
export interface FlowWay {
  from: number
  to: number
  /** `default`, `condition_met` …, or `branch:KEY`. */
  name: string
  /** How it is called; undefined where there is only one. */
  words: string | undefined
}

/** What the drawing and the outline are both made of. */
export interface FlowGraph {
  /** In the order in which people read them: each step before what follows. */
  steps: readonly StepDefinition[]
  /** Each connection once, in the order of the steps that they leave. */
  ways: readonly FlowWay[]
}

/** The steps of a definition in reading order, from its trigger on, with the ways between them. */
export function flowGraph({ steps, connections }: AutomationDefinition): FlowGraph {
  const byKey = new Map(steps.map((step) => [step.key, step]))
  const leaving = new Map(steps.map(({ key }): [string, typeof connections] => [key, []]))
  for (const one of connections) {
    if (byKey.has(one.to)) leaving.get(one.from)?.push(one)
  }
  const order: StepDefinition[] = []
  const seen = new Set<string>()
  // From the trigger along the first way to its end, then along the next; what nothing leads to (the step of a goal) last.
  const starts = [...steps].sort((a, b) => rank(a) - rank(b))
  for (const start of starts) {
    const open = [start]
    for (let step = open.pop(); step !== undefined; step = open.pop()) {
      if (seen.has(step.key)) continue
      seen.add(step.key)
      order.push(step)
      const next = (leaving.get(step.key) ?? []).flatMap(({ to }) => byKey.get(to) ?? [])
      open.push(...next.reverse())
    }
  }
  const places = new Map(order.map(({ key }, at) => [key, at]))
  const ways = order.flatMap(({ key }, from) =>
    (leaving.get(key) ?? []).map(({ to, type, branch }): FlowWay => {
      const name = type === 'branch' ? `branch:${branch}` : type
      return { from, to: places.get(to) ?? from, name, words: edgeWords(type, branch) }
    }),
  )
  return { steps: order, ways }
}

const rank = ({ type }: StepDefinition) => (type === 'trigger' ? 0 : 1)
