import {
  type AutomationDefinition,
  outlineOf,
  type StepDefinition,
  stepsInOrder,
} from '../../automations/index.js'
import { edgeWords } from './words.js'

/** A way from one step to the next, by the places of both in `FlowGraph.steps`. */
export interface FlowWay {
  from: number
  to: number
  /** `default`, `condition_met` …, or `branch:KEY`. */
  name: string
  /** What people call it; undefined where there is only one. */
  words: string | undefined
}

/** What the drawing and the outline are both made of. */
export interface FlowGraph {
  /** In reading order: each step before what follows. */
  steps: readonly StepDefinition[]
  /** Each connection once, in the order of the steps where they begin. */
  ways: readonly FlowWay[]
}

/**
 * The steps of a definition in the order of its outline, which is that of the editor: a step, then its ways one after
 * the other, then where they meet.
 */
export function flowGraph({ steps, connections }: AutomationDefinition): FlowGraph {
  const known = new Set(steps.map(({ key }) => key))
  const leaving = new Map(steps.map(({ key }): [string, typeof connections] => [key, []]))
  for (const one of connections) {
    if (known.has(one.to)) leaving.get(one.from)?.push(one)
  }
  const order = stepsInOrder(outlineOf({ steps, connections }))
  const places = new Map(order.map(({ key }, at) => [key, at]))
  const ways = order.flatMap(({ key }, from) =>
    (leaving.get(key) ?? []).map(({ to, type, branch }): FlowWay => {
      const name = type === 'branch' ? `branch:${branch}` : type
      return { from, to: places.get(to) ?? from, name, words: edgeWords(type, branch) }
    }),
  )
  return { steps: order, ways }
}
