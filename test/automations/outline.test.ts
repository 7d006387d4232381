import t from 'tap'
import type { Connection, StepDefinition } from '../../src/automations/definition/definition.js'
import { graphOf, outlineOf, waysOf } from '../../src/automations/definition/outline.js'

/** Numbers that look like chance, the same in every run. */
function makeDice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % sides
  }
}

/** A graph of any shape, loops and steps that nothing leads to included. */
function anyGraph(dice: (sides: number) => number) {
  const steps: StepDefinition[] = [
    { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
  ]
  for (let n = dice(14); n > 0; n--) {
    const key = `s${n}`
    const made: StepDefinition[] = [
      { key, type: 'delay', config: { duration: 'P1D' } },
      { key, type: 'condition', config: { field: 'contact.email', operator: 'exists' } },
      { key, type: 'wait_for_event', config: { eventName: 'paid' } },
      { key, type: 'exit', config: {} },
      {
        key,
        type: 'split',
        config: { branches: ['a', 'b', 'c'].map((key) => ({ key, percent: 1 })) },
      },
    ]
    steps.push(made[dice(made.length)] ?? (steps[0] as StepDefinition))
  }
  const connections: Connection[] = []
  for (const step of steps) {
    if (step.type === 'exit') continue
    const ways = waysOf(step)
    for (const way of ways.length === 0 ? [{ type: 'default' as const }] : ways) {
      const to = steps[1 + dice(steps.length)]?.key
      if (to !== undefined) connections.push({ from: step.key, to, ...way })
    }
  }
  return { steps, connections }
}

const sorted = (all: readonly object[]) =>
  all.map((one) => JSON.stringify(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))).sort()

t.test('an outline has each step and each connection of a graph once', async (t) => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const graph = anyGraph(makeDice(seed))
    const back = graphOf(outlineOf(graph))
    const same =
      sorted(back.steps).join() === sorted(graph.steps).join() &&
      sorted(back.connections).join() === sorted(graph.connections).join()
    if (!same) {
      t.same(sorted(back.connections), sorted(graph.connections), `seed ${seed}`)
      t.same(sorted(back.steps), sorted(graph.steps))
      return
    }
  }
  t.pass('3,000 graphs')
})

t.test('ways that meet again go on below', async (t) => {
  const graph = {
    steps: [
      { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
      { key: 'if', type: 'condition', config: { field: 'contact.email', operator: 'exists' } },
      { key: 'yes', type: 'delay', config: { duration: 'P1D' } },
      { key: 'both', type: 'delay', config: { duration: 'P2D' } },
    ] satisfies StepDefinition[],
    connections: [
      { from: 'start', to: 'if', type: 'default' },
      { from: 'if', to: 'yes', type: 'condition_met' },
      { from: 'if', to: 'both', type: 'condition_not_met' },
      { from: 'yes', to: 'both', type: 'default' },
    ] satisfies Connection[],
  }
  const [main = []] = outlineOf(graph)
  t.equal(main.length, 3)
  t.match(main[1], { ways: [{ items: [{ step: { key: 'yes' } }] }, { items: [] }] })
  t.match(main[2], { step: { key: 'both' } })
})
