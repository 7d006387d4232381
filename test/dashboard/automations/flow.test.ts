// Issue 47: the drawing and the outline of an automation are made of the same graph: each way once in both.
import t from 'tap'
import type { AutomationDefinition, StepDefinition } from '../../../src/automations/index.js'
import { drawing } from '../../../src/dashboard/automations/drawing.js'
import { flowGraph } from '../../../src/dashboard/automations/graph.js'
import { layoutOf } from '../../../src/dashboard/automations/layout.js'

/** A number from 0 to 1 from a seed, so that a failure can be repeated. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

/** A valid-looking graph of some steps: chains, branches that meet again, and loops. */
function anyDefinition(seed: number): AutomationDefinition {
  const next = numbers(seed)
  const size = 2 + Math.floor(next() * 40)
  const keys = Array.from({ length: size }, (_, at) => `s${at}`)
  const steps = keys.map((key, at): StepDefinition => {
    if (at === 0) return { key, type: 'trigger', config: { eventName: 'x' } }
    if (next() < 0.3) {
      return { key, type: 'condition', config: { field: 'contact.email', operator: 'exists' } }
    }
    return { key, type: 'delay', config: { duration: 'P1D' } }
  })
  const connections: AutomationDefinition['connections'] = []
  const anyKey = () => keys[1 + Math.floor(next() * (size - 1))] ?? 's1'
  for (const [at, { key, type }] of steps.entries()) {
    const following = keys[at + 1]
    if (type === 'condition') {
      connections.push({ from: key, to: following ?? anyKey(), type: 'condition_met' })
      if (next() < 0.8) connections.push({ from: key, to: anyKey(), type: 'condition_not_met' })
    } else if (following !== undefined) {
      connections.push({ from: key, to: following, type: 'default' })
    }
  }
  return { steps, connections }
}

t.test('each way is once in the drawing and once in the outline', async (t) => {
  for (let seed = 1; seed <= 60; seed++) {
    const definition = anyDefinition(seed)
    const graph = flowGraph(definition)
    const name = (at: number) => graph.steps[at]?.key ?? '?'
    const wanted = definition.connections.map(({ from, to, type }) => `${from} ${type} ${to}`)
    const outlined = graph.ways.map((way) => `${name(way.from)} ${way.name} ${name(way.to)}`)
    if (JSON.stringify(outlined.sort()) !== JSON.stringify(wanted.sort())) {
      t.same(outlined, wanted, `seed ${seed}`)
    }
    t.equal(new Set(graph.steps).size, definition.steps.length, `seed ${seed}: each step once`)
    const layout = layoutOf(graph, `seed ${seed}`)
    t.equal(layout.ways.length, graph.ways.length)
    const steps = graph.steps.map(({ key }) => ({ words: key, figures: '', href: `#${key}` }))
    const drawn = drawing(graph, layout, steps).text
    // One path is the tip of all lines.
    t.equal(drawn.split('<path ').length - 2, graph.ways.length, `seed ${seed}: lines`)
    t.equal(drawn.split('<use ').length - 1, graph.steps.length, `seed ${seed}: boxes`)
    for (const [at, way] of graph.ways.entries()) {
      const line = layout.ways[at]?.points ?? []
      const [from, to] = [layout.steps[way.from], layout.steps[way.to]]
      if (way.from === way.to || from === undefined || to === undefined) continue
      const touches = (
        point: { x: number; y: number } | undefined,
        box: { x: number; y: number },
      ) =>
        point !== undefined &&
        Math.abs(point.x - (box.x + 110)) <= 112 &&
        Math.abs(point.y - (box.y + 29)) <= 31
      if (!touches(line[0], from) || !touches(line.at(-1), to)) {
        t.fail(`seed ${seed}: the line of way ${at} does not lead from its step to its step`)
      }
    }
  }
})

t.test('no two steps lie upon each other', async (t) => {
  const graph = flowGraph(anyDefinition(7))
  const { steps } = layoutOf(graph, 'apart')
  for (const [at, one] of steps.entries()) {
    for (const other of steps.slice(at + 1)) {
      if (Math.abs(one.x - other.x) < 220 && Math.abs(one.y - other.y) < 58) t.fail(`step ${at}`)
    }
  }
})

t.test(
  'a word that is longer than its box is cut, and nothing is for readers of the screen',
  async (t) => {
    const graph = flowGraph(anyDefinition(1))
    const layout = layoutOf(graph, 'long')
    const told = [
      'W'.repeat(60),
      'x'.repeat(90),
      `Wait for ${'y'.repeat(50)} and more`,
      '漢'.repeat(40),
    ]
    const steps = graph.steps.map((_, at) => ({
      words: told[at] ?? 'short',
      figures: '',
      href: '#',
    }))
    const drawn = drawing(graph, layout, steps).text
    t.match(
      drawn,
      new RegExp(`^<svg aria-hidden="true" width="${layout.width}" height="${layout.height}"`),
    )
    const lines = [...drawn.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, line]) => line ?? '')
    t.same(
      lines.filter((line) => /WW|xx|yy|Wait|漢/.test(line)),
      [
        `${'W'.repeat(16)}…`,
        `${'x'.repeat(29)}…`,
        'Wait for',
        `${'y'.repeat(29)}…`,
        `${'漢'.repeat(14)}…`,
      ],
    )
    for (const words of told) t.match(drawn, `<title>${words}</title>`, 'the title has it whole')
  },
)
