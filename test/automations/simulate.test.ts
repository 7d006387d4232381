import t from 'tap'
import { compile } from '../../src/automations/definition/compile.js'
import { simulateCohort } from '../../src/automations/trial/cohort.js'
import { readHappening } from '../../src/automations/trial/happening.js'
import { simulate } from '../../src/automations/trial/simulate.js'
import type { SimulatedHappening, SimulatedWorld } from '../../src/automations/trial/simulation.js'
import { day, hour, startName } from '../support/automations.js'
import { start, version } from '../support/paid-order.js'

const contact = (id: string) => ({
  id,
  email: `${id}@example.test`,
  firstName: null,
  lastName: null,
  phone: null,
  metadata: {},
  createdAt: 0,
})

t.test('a simulation tells when, what, why and with which mail, and where it stands', async (t) => {
  const happenings = [
    { at: start, kind: 'event', name: startName, payload: { n: 7 } },
    { at: start + 3 * day, kind: 'event', name: 'order.paid', payload: { total: 120 } },
  ] as const
  const { lines, runs } = simulate(version, {
    contact: contact('c1'),
    happenings,
    wouldStop: () => 'quota',
    until: start + 10 * day,
  })
  t.match(lines, [
    { at: start, step: 'start', result: 'started' },
    { at: start, step: 'hello', result: 'sent', stoppedBy: 'quota', mail: { variables: { n: 7 } } },
    { at: start + 2 * day, step: 'pause', result: 'waited' },
    { at: start + 3 * day, step: 'paid', result: 'received', event: { payload: { total: 120 } } },
    {
      at: start + 3 * day,
      step: 'large',
      result: 'met',
      why: { holds: true, field: 'waits.paid.total', operator: 'gt', actual: 120, value: 100 },
    },
  ])
  t.match(runs, [{ ended: { status: 'completed', at: start + 3 * day }, state: undefined }])
  const half = simulate(version, { contact: contact('c1'), happenings, until: start + day })
  t.equal(half.lines.length, 2)
  t.match(half.runs, [{ ended: null, state: { stepId: 3, dueAt: start + 2 * day } }])
})

const paid = (total: number): SimulatedHappening => ({
  at: start + hour,
  kind: 'event',
  name: 'order.paid',
  payload: { total },
})

t.test('a cohort counts the results of each step', async (t) => {
  const worlds = Array.from(
    { length: 100 },
    (_, index): SimulatedWorld => ({
      contact: contact(`c${index}`),
      happenings: [
        { at: start, kind: 'event', name: startName, payload: { n: index } },
        ...(index % 4 === 0 ? [paid(index)] : []),
      ],
      until: start + 60 * day,
    }),
  )
  const { contacts, started, steps, ends } = await simulateCohort(version, worlds)
  t.same([contacts, started], [100, 100])
  t.same(Object.fromEntries(steps.get('paid') ?? []), { received: 25, timed_out: 75 })
  t.same(Object.fromEntries(steps.get('large') ?? []), { not_met: 25 })
  t.same(Object.fromEntries(ends), { 'completed:exit_step': 75, completed: 25 })
})

t.test('a cohort leaves the thread to others between its contacts, and has an end', async (t) => {
  let others = 0
  const turn = () => {
    others += 1
    if (others < 1_000) setImmediate(turn)
  }
  const worlds = (many: number, happenings: SimulatedHappening[]) =>
    Array.from({ length: many }, (_, index): SimulatedWorld => {
      return { contact: contact(`c${index}`), happenings, until: start + 400 * day }
    })
  setImmediate(turn)
  const begun: SimulatedHappening = { at: start, kind: 'event', name: startName, payload: { n: 1 } }
  const { cut } = await simulateCohort(version, worlds(100, [begun]))
  t.ok(others >= 99, `${others} turns of others`)
  t.equal(cut, false)
  others = 1_000
  // A round a minute, for thousands of them: each contact has as many lines as may be.
  const round = compile(
    {
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: startName } },
        { key: 'pause', type: 'delay', config: { duration: 'PT1M' } },
      ],
      connections: [{ from: 'start', to: 'pause', type: 'default' }],
    },
    { seed: 'a2' },
  )
  const often = Array.from({ length: 2_600 }, (_, n) => ({ ...begun, at: start + n * 4 * 60_000 }))
  const counts = await simulateCohort(round, worlds(100, often))
  t.equal(counts.cut, true)
  t.ok(counts.contacts < 100, `${counts.contacts} of them`)
})

t.test('events of a simulation are read as they are written on a command line', async (t) => {
  const at = (text: string) => {
    const read = readHappening(text, start)
    return typeof read === 'string' ? read : { after: read.at - start, ...read }
  }
  t.match(at('order.paid@+2d'), { name: 'order.paid', after: 2 * day, payload: {} })
  t.match(at('seen'), { name: 'seen', after: 0 })
  t.match(at('a:b@+90m={"total":5,"x":"=@"}'), {
    after: 1.5 * hour,
    payload: { total: 5, x: '=@' },
  })
  t.match(at('x@+PT1H'), { after: hour })
  t.match(at('x@2026-12-01T09:00:00Z={}'), { after: day })
  t.match(at('$list.joined@+1w'), { name: '$list.joined', after: 7 * day })
  t.match(at('x@+2y'), /is not a time/)
  t.match(at('x@soon'), /is not a time/)
  t.match(at('x@+1d=5'), /not a JSON object/)
  t.match(at('x@+1d={'), /not a JSON object/)
  t.match(at('two words'), /not of the form/)
})

t.test('a simulation that never ends tells its beginning', async (t) => {
  const loop = compile(
    {
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: startName } },
        { key: 'pause', type: 'delay', config: { duration: 'PT1M' } },
      ],
      connections: [
        { from: 'start', to: 'pause', type: 'default' },
        { from: 'pause', to: 'pause', type: 'default' },
      ],
    },
    { seed: 'a2' },
  )
  const happenings = Array.from({ length: 100 }, (_, n): SimulatedHappening => {
    return { at: start + n * day, kind: 'event', name: startName, payload: {} }
  })
  const until = start + 200 * day
  const { lines } = simulate(loop, { contact: contact('c'), happenings, until })
  t.ok(lines.length >= 5_000 && lines.length <= 5_100, `${lines.length}`)
})
