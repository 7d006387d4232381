// Random definitions, valid or not, with random events: `validate` names what is wrong and never
// throws, and what it lets through is walked to its end within the limits.
import t from 'tap'
import { compile } from '../../src/automations/definition/compile.js'
import {
  type AutomationDefinition,
  type Connection,
  limits,
} from '../../src/automations/definition/definition.js'
import {
  appended,
  type RunContact,
  type StoredEvent,
  startRun,
} from '../../src/automations/definition/run.js'
import { validate } from '../../src/automations/definition/validate.js'
import { walk } from '../../src/automations/runs/walk.js'
import { advanced, type RunFacts } from '../../src/automations/runs/walked.js'
import { simulate } from '../../src/automations/trial/simulate.js'
import type { Json } from '../../src/json/index.js'
import {
  type Chance,
  chance,
  day,
  randomDefinition,
  randomEvents,
  randomMetadata,
  startName,
} from '../support/automations.js'
import { thoroughly } from '../support/thorough.js'

const rounds = Number(process.env.POSTHORN_FUZZ ?? thoroughly(40, 300))
const start = Date.parse('2026-03-20T10:00:00Z')
const templates = ['hello']

const contact = (given: Chance): RunContact => ({
  id: `contact-${given.upTo(1_000)}`,
  email: 'ada@example.test',
  firstName: given.once(2) ? 'Ada' : null,
  lastName: null,
  phone: null,
  metadata: randomMetadata(given),
  createdAt: start,
})

t.test(`${rounds} definitions are walked to their end, within the limits`, async (t) => {
  let valid = 0
  let ended = 0
  for (let seed = 1; seed <= rounds; seed += 1) {
    const given = chance(seed)
    const size = given.once(5) ? 99 : 1 + given.upTo(20)
    const drawn = randomDefinition(given, {
      steps: size,
      templates,
      settings: true,
      engagement: true,
    })
    const { definition } = validate(drawn)
    if (definition === undefined) continue
    valid += 1
    const version = compile(definition, { seed: `${seed}` })
    const happenings = Array.from({ length: 1 + given.upTo(5) }, (_, n) =>
      randomEvents(given, start + n * 20 * day),
    ).flat()
    const { lines, runs, cut } = simulate(version, {
      contact: contact(given),
      happenings,
      opens: new Map([['s1', 1_000]]),
      until: start + 500 * day,
    })
    for (const [index, run] of runs.entries()) {
      const of = lines.filter((line) => line.run === index)
      const mails = of.filter((line) => line.result === 'sent').length
      if (of.length > limits.stepsPerRun + 60) t.fail(`seed ${seed}: ${of.length} steps`)
      if (mails > limits.mailsPerRun) t.fail(`seed ${seed}: ${mails} mails`)
      const isLast = index === runs.length - 1
      if (run.ended !== null) ended += 1
      else if (!cut || !isLast) t.fail(`seed ${seed}: a run has no end`)
    }
    if (lines.some((line, index) => line.at < (lines[index - 1]?.at ?? 0))) {
      t.fail(`seed ${seed}: the history goes back in time`)
    }
  }
  t.ok(valid > rounds / 3, `${valid} of ${rounds} were valid`)
  t.ok(ended > valid / 2, `${ended} runs came to their end`)
})

t.test(
  'a single walk takes at most 100 steps, and its run 1,000, whatever the graph',
  async (t) => {
    for (let seed = 1; seed <= rounds; seed += 1) {
      const given = chance(seed)
      // Also what `validate` refuses: loops in which no time passes.
      const definition = spinning(given)
      const version = compile(definition, { seed: '' })
      const trigger: StoredEvent = { id: 1, name: startName, payload: null, at: start }
      const known: RunFacts = {
        contact: contact(given),
        trigger,
        departed: undefined,
        // As many as are kept.
        nextEvent: (name, after) =>
          after > 500 ? undefined : { id: after + 1, name, payload: { n: 1 }, at: start },
        mail: () => undefined,
        optedOut: () => false,
        obstacle: () => undefined,
      }
      let run: ReturnType<typeof advanced> = startRun('c', version.trigger.id, start)
      for (let walks = 0; run !== undefined; walks += 1) {
        const walked = walk(version, run, known, run.dueAt)
        if (walked.steps - run.steps > limits.stepsPerWalk) t.fail(`seed ${seed}: a long walk`)
        if (walked.steps > limits.stepsPerRun || walks > 2 * limits.stepsPerRun) {
          t.fail(`seed ${seed}: ${walked.steps} steps, ${walks} walks`)
          return
        }
        run = advanced(run, walked, run.dueAt)
        if (run !== undefined) run.history = appended([], run.history)
        if (run !== undefined && run.history.length > limits.historyEntries) {
          t.fail(`seed ${seed}: a history of ${run.history.length}`)
        }
      }
    }
    t.pass('all of them')
  },
)

/** A definition whose edges lead anywhere. */
function spinning(given: Chance): AutomationDefinition {
  const { steps, connections } = randomDefinition(given, { steps: 30, templates })
  const keys = steps.slice(1).map(({ key }) => key)
  return { steps, connections: connections.map((edge) => ({ ...edge, to: given.oneOf(keys) })) }
}

t.test('whatever is sent as a definition is refused by name, and throws nothing', async (t) => {
  let refused = 0
  for (let seed = 1; seed <= rounds; seed += 1) {
    const given = chance(seed)
    const spoilt = spoil(given, randomDefinition(given, { templates, settings: true }))
    const { faults } = validate(spoilt)
    if (faults.length > 0) refused += 1
    for (const { key, error } of faults) {
      if (error === '' || error.length > 1_000) t.fail(`seed ${seed}: ${error.slice(0, 99)}`)
      if (key !== null && !/^[a-z0-9_-]{1,64}$/.test(key)) t.fail(`seed ${seed}: key ${key}`)
    }
  }
  t.ok(refused > rounds / 2, `${refused} of ${rounds} were refused`)
})

const odd: readonly Json[] = [
  null,
  0,
  -1,
  1e300,
  '',
  '\ud800',
  '__proto__',
  'constructor',
  [],
  {},
  [[[]]],
  { var: 'contact.__proto__.x' },
  { var: 7 },
  { all: [] },
  { not: { not: { not: null } } },
  JSON.parse('{"__proto__":{"a":1}}'),
  'x'.repeat(5_000),
  true,
]

/** The same with a few of its values replaced, wherever they stand. */
function spoil(given: Chance, value: unknown): unknown {
  const copy = structuredClone(value)
  for (let times = 1 + given.upTo(3); times > 0; times -= 1) {
    let at: unknown = copy
    for (let depth = 1 + given.upTo(6); typeof at === 'object' && at !== null; depth -= 1) {
      const name = given.oneOf([...Object.keys(at), 'none'])
      const next: unknown = Reflect.get(at, name)
      if (depth === 0 || typeof next !== 'object' || next === null) {
        Reflect.set(at, name, given.oneOf(odd))
        break
      }
      at = next
    }
  }
  return copy
}

t.test('a definition of any size, depth or width is refused in time', async (t) => {
  const trigger = { key: 't', type: 'trigger', config: { eventName: 'x' } }
  let rule: unknown = { field: 'trigger.x', operator: 'exists' }
  for (let depth = 0; depth < 20_000; depth += 1) rule = { not: rule }
  const condition = { key: 'c', type: 'condition', config: rule }
  const edges: Connection[] = [{ from: 't', to: 'c', type: 'default' }]
  t.match(validate({ steps: [trigger, condition], connections: edges }).faults, [
    { key: null, error: /bytes/ },
  ])
  const wide = {
    any: Array.from({ length: 1_000 }, () => ({ field: 'trigger.x', operator: 'exists' })),
  }
  t.match(
    validate({ steps: [trigger, { ...condition, config: wide }], connections: edges }).faults,
    [{ key: 'c', error: /at most 100 parts/ }],
  )
  const many = Array.from({ length: 101 }, (_, n) => ({ ...trigger, key: `t${n}` }))
  t.match(validate({ steps: many, connections: [] }).faults, [{ key: null, error: /100 steps/ }])
  const edge = { from: 't', to: 'c', type: 'default' }
  const thousands = Array.from({ length: 5_000 }, () => edge)
  t.ok(validate({ steps: [trigger], connections: thousands }).faults.length > 0)
})
