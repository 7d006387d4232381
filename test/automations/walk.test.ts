import t from 'tap'
import { compile } from '../../src/automations/definition/compile.js'
import type {
  AutomationDefinition,
  AutomationSettings,
  Connection,
  StepDefinition,
  WaitConfig,
} from '../../src/automations/definition/definition.js'
import {
  appended,
  type RunContact,
  type StoredEvent,
  startRun,
} from '../../src/automations/definition/run.js'
import { validate } from '../../src/automations/definition/validate.js'
import { branchOf, walk } from '../../src/automations/runs/walk.js'
import type { RunFacts } from '../../src/automations/runs/walked.js'
import { simulate } from '../../src/automations/trial/simulate.js'
import type { SimulatedHappening, SimulatedWorld } from '../../src/automations/trial/simulation.js'
import type { Json } from '../../src/json/index.js'
import { durationMs } from '../../src/rules/index.js'
import { chance, day, eventNames, hour, minute, startName } from '../support/automations.js'
import { thoroughly } from '../support/thorough.js'

const start = Date.parse('2026-05-01T10:00:00Z')
const ada: RunContact = {
  id: 'c1',
  email: 'ada@example.test',
  firstName: 'Ada',
  lastName: null,
  phone: null,
  metadata: { plan: 'free' },
  createdAt: start - day,
}
const trigger: StepDefinition = { key: 'start', type: 'trigger', config: { eventName: startName } }
const send = (key: string, config: object = {}): StepDefinition => ({
  key,
  type: 'send_email',
  config: { template: 'hello', from: 'a@sender.example', type: 'transactional', ...config },
})
const edge = (from: string, to: string, type: Connection['type'] = 'default') => ({
  from,
  to,
  type,
})

/** Steps one after the other by their first edge, and more edges. */
function chain(steps: StepDefinition[], more: Connection[] = [], settings?: AutomationSettings) {
  const first = { wait_for_event: 'event_received', condition: 'condition_met' } as const
  const all = [trigger, ...steps]
  const connections = all.flatMap((step, index): Connection[] => {
    const next = all[index + 1]
    if (next === undefined || step.type === 'exit' || step.type === 'split') return []
    const own = step.type in first ? first[step.type as keyof typeof first] : 'default'
    return [edge(step.key, next.key, own)]
  })
  const definition: AutomationDefinition = { steps: all, connections: [...connections, ...more] }
  return settings === undefined ? definition : { ...definition, settings }
}

const event = (at: number, name: string, payload: Json = {}): SimulatedHappening => ({
  at: start + at,
  kind: 'event',
  name,
  payload,
})

/** What becomes of it, as `key result +minutes`; and how it ended. */
function told(definition: AutomationDefinition, world: Partial<SimulatedWorld> = {}) {
  const { faults } = validate(definition)
  if (faults.length > 0) throw new Error(JSON.stringify(faults))
  const { lines, runs } = simulate(compile(definition, { seed: 'a1' }), {
    contact: ada,
    happenings: [event(0, startName)],
    until: start + 400 * day,
    ...world,
  })
  const last = runs.at(-1)?.ended
  return {
    lines: lines.map(({ step, result, at }) => `${step} ${result} +${(at - start) / minute}`),
    end: last && `${last.status} ${last.reason}`,
    mails: lines.flatMap(({ mail }) => (mail === undefined ? [] : [mail.variables])),
  }
}

t.test('a delay, a mail and an exit come at their times', async (t) => {
  const delay: StepDefinition = { key: 'd', type: 'delay', config: { duration: 'PT90M' } }
  const exit: StepDefinition = { key: 'out', type: 'exit', config: {} }
  const { lines, end } = told(chain([send('m'), delay, exit]))
  t.same(lines, ['start started +0', 'm sent +0', 'd waited +90', 'out ended:exit_step +90'])
  t.equal(end, 'completed exit_step')
  t.equal(told(chain([send('m')])).end, 'completed null', 'no edge is an end')
})

t.test('an exit says in its reason what its config says', async (t) => {
  const exit: StepDefinition = { key: 'out', type: 'exit', config: { reason: 'not interested' } }
  const { lines, end } = told(chain([exit]))
  t.equal(lines.at(-1), 'out ended:not interested +0')
  t.equal(end, 'completed not interested')
})

t.test('a delay until a time of day counts in the contact’s zone', async (t) => {
  const until: StepDefinition = { key: 'd', type: 'delay', config: { until: { time: '09:00' } } }
  const contact = { ...ada, metadata: { timeZone: 'Asia/Tokyo' } }
  t.same(told(chain([until]), { contact }).lines.at(-1), 'd waited +840')
})

t.test('a wait hears an event that came before it, and one ends it or its timeout', async (t) => {
  const delay: StepDefinition = { key: 'd', type: 'delay', config: { duration: 'PT1H' } }
  const wait = (config: Partial<WaitConfig> = {}): StepDefinition => ({
    key: 'w',
    type: 'wait_for_event',
    config: { eventName: 'order.paid', timeout: 'P1D', ...config },
  })
  const world = (at: number) => ({ happenings: [event(0, startName), event(at, 'order.paid')] })
  const run = (at: number, config?: Partial<WaitConfig>) =>
    told(chain([delay, wait(config), send('m')], [edge('w', 'm', 'timeout')]), world(at)).lines[2]
  t.equal(run(30 * minute), 'w received +60')
  t.equal(run(30 * minute, { since: 'step' }), 'w timed_out +1500')
  t.equal(run(90 * minute, { since: 'step' }), 'w received +90')
  t.equal(run(90 * minute), 'w received +90')
  t.equal(run(25 * hour), 'w received +1500', 'at the same ms the event is first')
  t.equal(run(25 * hour + 1), 'w timed_out +1500')
  t.equal(told(chain([delay, wait()])).end, 'exited timed_out', 'without an edge for it')
})

t.test(
  'a filter compares the event with the run, and its payload is there for later',
  async (t) => {
    const wait: StepDefinition = {
      key: 'paid',
      type: 'wait_for_event',
      config: {
        eventName: 'order.paid',
        filter: { field: 'event.cart', operator: 'eq', value: { var: 'trigger.cart' } },
      },
    }
    const mail = send('m', {
      variables: { total: { var: 'waits.paid.total' }, none: { var: 'trigger.none' }, n: 1 },
    })
    const { lines, mails } = told(chain([wait, mail]), {
      happenings: [
        event(0, startName, { cart: 'A' }),
        event(hour, 'order.paid', { cart: 'B', total: 1 }),
        event(2 * hour, 'order.paid', { cart: 'A', total: 2 }),
      ],
    })
    t.equal(lines[1], 'paid received +120')
    const contact = { id: 'c1', email: 'ada@example.test', firstName: 'Ada', lastName: null }
    t.match(mails, [
      {
        contact,
        trigger: { cart: 'A' },
        event: { cart: 'A', total: 2 },
        waits: { paid: { cart: 'A', total: 2 } },
        total: 2,
        n: 1,
      },
    ])
    t.notOk(Object.hasOwn(mails[0] ?? {}, 'none'), 'a variable without a value is missing')
  },
)

t.test('an event turned down by one wait is there for another; one taken is not', async (t) => {
  const wait = (key: string, cart: string): StepDefinition => ({
    key,
    type: 'wait_for_event',
    config: {
      eventName: 'order.paid',
      filter: { field: 'event.cart', operator: 'eq', value: cart },
      timeout: 'P1D',
    },
  })
  const happenings = [event(0, startName), event(hour, 'order.paid', { cart: 'B' })]
  const definition = chain(
    [wait('a', 'A'), wait('b', 'B'), wait('c', 'B')],
    [edge('a', 'b', 'timeout')],
  )
  t.same(told(definition, { happenings }).lines.slice(1), [
    'a timed_out +1440',
    'b received +1440',
    'c timed_out +2880',
  ])
})

t.test('a contact that a step updates is seen so by the next', async (t) => {
  const update: StepDefinition = {
    key: 'u',
    type: 'contact_update',
    config: { firstName: { var: 'trigger.name' }, metadata: { plan: 'pro', old: null } },
  }
  const asks: StepDefinition = {
    key: 'c',
    type: 'condition',
    config: {
      all: [
        { field: 'contact.metadata.plan', operator: 'eq', value: 'pro' },
        { field: 'contact.firstName', operator: 'eq', value: 'Grace' },
        { not: { field: 'contact.metadata.old', operator: 'exists' } },
      ],
    },
  }
  const happenings = (name: Json) => [event(0, startName, { name })]
  const contact = { ...ada, metadata: { plan: 'free', old: 1 } }
  const lines = (name: Json) =>
    told(chain([update, asks]), { contact, happenings: happenings(name) }).lines.slice(1)
  t.same(lines('Grace'), ['u updated +0', 'c met +0'])
  t.same(lines(7), ['u skipped:invalid_value +0', 'c not_met +0'], 'a number is no name')
  t.same(lines('a\u0000'), ['u skipped:invalid_value +0', 'c not_met +0'])
})

t.test(
  'a mail that is opened or clicked ends the wait for that, and begins what begins so',
  async (t) => {
    const wait: StepDefinition = {
      key: 'w',
      type: 'wait_for_event',
      config: { eventName: '$email.clicked', timeout: 'P1D' },
    }
    const clicks = new Map([['m', hour]])
    t.equal(told(chain([send('m'), wait]), { clicks }).lines.at(-1), 'w received +60')
    t.equal(told(chain([send('m'), wait])).end, 'exited timed_out')
    const opened = chain([send('m')])
    const again = {
      ...opened,
      steps: opened.steps.map((step) =>
        step.type === 'trigger' ? { ...step, config: { eventName: '$email.opened' } } : step,
      ),
    }
    const { lines } = told(again, {
      happenings: [event(0, '$email.opened')],
      opens: new Map([['m', minute]]),
    })
    t.equal(lines.length, 2 * 6, 'five mails in a row set the next off, as in the engine')
  },
)

t.test('opens of an earlier mail decide; one that is only being made is not opened', async (t) => {
  const opened: StepDefinition = {
    key: 'c',
    type: 'condition',
    config: { field: 'email.m.opened', operator: 'eq', value: true },
  }
  const unread: StepDefinition = {
    key: 'c2',
    type: 'condition',
    config: { field: 'email.m.opened', operator: 'eq', value: false },
  }
  const delay: StepDefinition = { key: 'd', type: 'delay', config: { duration: 'PT2H' } }
  t.equal(told(chain([send('m'), unread])).lines.at(-1), 'c2 met +0')
  t.equal(told(chain([send('m'), delay, opened])).lines.at(-1), 'c not_met +120')
  const opens = new Map([['m', hour]])
  t.equal(told(chain([send('m'), delay, opened]), { opens }).lines.at(-1), 'c met +120')
  const clicks = new Map([['m', 3 * hour]])
  t.equal(told(chain([send('m'), delay, opened]), { clicks }).lines.at(-1), 'c not_met +120')
})

t.test('a split is even over contacts, and the same for one each time', async (t) => {
  const branches = [
    { key: 'a', percent: 20 },
    { key: 'b', percent: 80 },
    { key: 'none', percent: 0 },
  ]
  const counts = { a: 0, b: 0, none: 0 }
  for (let contact = 0; contact < 10_000; contact += 1) {
    const what = `automation:${contact}:step`
    const branch = branchOf(branches, what)
    counts[branch as keyof typeof counts] += 1
    if (branchOf(branches, what) !== branch) t.fail('another one the second time')
  }
  t.ok(Math.abs(counts.a - 2_000) < 160, `a fifth: ${counts.a}`)
  t.equal(counts.none, 0)
})

t.test('a mail that cannot be made holds the walk there, and is noted once', async (t) => {
  const version = compile(chain([send('m'), send('n')]), { seed: '' })
  let free = false
  const known: RunFacts = {
    contact: ada,
    trigger: { id: 1, name: startName, payload: null, at: start },
    departed: undefined,
    nextEvent: () => undefined,
    mail: () => undefined,
    optedOut: () => false,
    obstacle: ({ key }) =>
      key === 'n' && !free ? { kind: 'blocked', reason: 'quota', until: start + hour } : undefined,
  }
  const run = startRun('c1', version.trigger.id, start)
  const first = walk(version, run, known, start)
  t.same(first.next, { kind: 'blocked', stepId: 3, reason: 'quota', until: start + hour })
  t.equal(first.actions.length, 1, 'what came before it is done')
  const blocked = { ...run, stepId: 3, history: first.history, steps: 2, mails: 1 }
  t.same(walk(version, blocked, known, start + hour).history, [], 'looked at again')
  free = true
  const after = walk(version, blocked, known, start + hour)
  t.match(after.history, [{ result: 'sent' }])
  t.same(after.next, { kind: 'end', stepId: 3, status: 'completed', reason: null })
  const failing: RunFacts = { ...known, obstacle: () => ({ kind: 'failed', reason: 'render' }) }
  t.match(walk(version, blocked, failing, start).next, { status: 'failed', reason: 'render' })
})

t.test('a send window, a topic and a departure keep mail away', async (t) => {
  const settings = { sendWindow: { from: '20:00', to: '22:00' } }
  t.same(told(chain([send('m')], [], settings)).lines.slice(1), [
    'm blocked:window +0',
    'm sent +600',
  ])
  const topicId = '0197f1c8-9b5c-7ea2-8a9e-4c1a3f0d2b11'
  const topical = chain([send('m', { type: 'marketing', topicId })])
  t.same(told(topical, { optedOut: () => true }).lines.slice(1), ['m skipped:left_topic +0'])
  const delay: StepDefinition = { key: 'd', type: 'delay', config: { duration: 'P1D' } }
  const leaves = (reason: 'unsubscribed' | 'bounced'): Partial<SimulatedWorld> => ({
    happenings: [event(0, startName), { at: start + hour, kind: 'departed', reason }],
  })
  const stays: AutomationSettings = { onUnsubscribe: 'continue' }
  t.equal(told(chain([delay, send('m')]), leaves('unsubscribed')).end, 'exited unsubscribed')
  t.equal(told(chain([delay, send('m')], [], stays), leaves('unsubscribed')).end, 'completed null')
  t.equal(told(chain([delay, send('m')], [], stays), leaves('bounced')).end, 'exited bounced')
})

t.test('exit rules end a run wherever it is; a goal moves it once', async (t) => {
  const delay: StepDefinition = { key: 'd', type: 'delay', config: { duration: 'P1D' } }
  const happenings = [
    event(0, startName),
    event(hour, 'order.paid'),
    event(hour + minute, 'order.paid'),
  ]
  const exits = { exitOn: [{ eventName: 'order.paid' }] }
  t.equal(told(chain([delay, send('m')], [], exits), { happenings }).end, 'exited exit_rule')
  const goal = { goal: { eventName: 'order.paid' } }
  t.equal(told(chain([delay, send('m')], [], goal), { happenings }).end, 'exited goal')
  const later: StepDefinition = { key: 'later', type: 'delay', config: { duration: 'PT30M' } }
  const thanks = { goal: { eventName: 'order.paid', to: 'later' } }
  const moved = told(chain([delay, send('m'), { ...later }, send('n')], [], thanks), { happenings })
  t.same(moved.lines, ['start started +0', 'd goal +60', 'later waited +90', 'n sent +90'])
})

t.test('a run that goes round for ever fails at its limit', async (t) => {
  const delay: StepDefinition = { key: 'd', type: 'delay', config: { duration: 'PT1M' } }
  const round = chain([delay, send('m')], [edge('m', 'd')])
  const { end, lines } = told(round)
  t.equal(end, 'failed limit')
  t.equal(lines.filter((line) => line.includes('sent')).length, 100)
  const slow: StepDefinition = { key: 'd', type: 'delay', config: { duration: 'P90D' } }
  const note: StepDefinition = { key: 'u', type: 'contact_update', config: { firstName: 'Eve' } }
  t.equal(
    told(chain([slow, note], [edge('u', 'd')]), { until: start + 900 * day }).end,
    'exited expired',
  )
})

t.test('entering again: while running, once, after a while, too often, filtered', async (t) => {
  const delay: StepDefinition = { key: 'd', type: 'delay', config: { duration: 'PT1M' } }
  const refused = (config: object, ats: number[], payload: Json = {}) => {
    const definition = chain([delay])
    definition.steps[0] = {
      ...trigger,
      config: { eventName: startName, ...config },
    } as StepDefinition
    const { refused, runs } = simulate(compile(definition, { seed: '' }), {
      contact: ada,
      happenings: ats.map((at) => event(at, startName, payload)),
      until: start + 100 * day,
    })
    return [runs.length, ...refused.map(({ reason }) => reason)]
  }
  t.same(refused({}, [0, 1, hour]), [2, 'already_running'])
  t.same(refused({ reentry: 'once' }, [0, hour]), [1, 'already_entered'])
  t.same(refused({ reentry: { after: 'P1D' } }, [0, hour, day]), [2, 'too_soon'])
  const many = Array.from({ length: 22 }, (_, n) => n * 2 * minute)
  t.same(refused({}, many), [20, 'limit', 'limit'])
  const filter = { field: 'trigger.n', operator: 'gt', value: 1 }
  t.same(refused({ filter }, [0], { n: 1 }), [0, 'filtered'])
  t.same(refused({ filter }, [0], { n: 2 }), [1])
})

t.test('a history keeps its first half and its end', async (t) => {
  const entries = Array.from({ length: 150 }, (_, at) => ({ stepId: 1, at, result: 'x' }))
  const once = appended(entries, entries)
  t.equal(once.length, 200)
  t.match(once[100], { stepId: 0, result: 'cut:101' })
  const twice = appended(once, entries.slice(0, 5))
  t.equal(twice.length, 200)
  t.match(twice[100], { stepId: 0, result: 'cut:106' })
  t.same(twice.slice(0, 100), once.slice(0, 100))
})

const rounds = Number(process.env.POSTHORN_FUZZ ?? thoroughly(40, 300))

t.test('waits in a row take events as the model says, in whatever order they come', async (t) => {
  for (let seed = 1; seed <= rounds; seed += 1) {
    const given = chance(seed)
    const { upTo, oneOf, once } = given
    const waits = Array.from({ length: 1 + upTo(5) }, (_, index): WaitConfig & { key: string } => ({
      key: `w${index}`,
      eventName: oneOf(eventNames),
      timeout: oneOf(['PT1H', 'P1D', 'P3D']),
      since: oneOf(['run', 'run', 'step'] as const),
    }))
    const steps = waits.map(
      ({ key, ...config }): StepDefinition => ({ key, type: 'wait_for_event', config }),
    )
    const timeouts = waits.slice(1).map(({ key }, index) => edge(`w${index}`, key, 'timeout'))
    let at = 0
    const happenings = [event(0, startName)]
    for (let count = upTo(12); count > 0; count -= 1) {
      at += oneOf([0, 1, minute, hour, day, upTo(2 * day)])
      happenings.push(event(at, once(8) ? startName : oneOf(eventNames)))
    }
    const { lines } = told(chain(steps, timeouts), { happenings })
    const expected = modelled(waits, happenings)
    t.same(lines.slice(1, 1 + expected.length), expected, `seed ${seed}`)
  }
})

/** Said without steps or cursors: which event each wait takes, from the list of all of them. */
function modelled(
  waits: (WaitConfig & { key: string })[],
  happenings: SimulatedHappening[],
): string[] {
  const left = happenings.slice(1).flatMap((h) => (h.kind === 'event' ? [h] : []))
  const taken = new Map<string, number>()
  let now = start
  return waits.map(({ key, eventName, timeout = '', since }) => {
    const arrived = now
    const index = left.findIndex(
      (event, position) =>
        event.name === eventName &&
        position > (taken.get(eventName) ?? -1) &&
        (since === 'run' || event.at > arrived),
    )
    const deadline = arrived + (durationMs(timeout) ?? 0)
    const found = left[index]
    const hears = found !== undefined && found.at <= deadline
    if (hears) taken.set(eventName, index)
    now = hears ? Math.max(arrived, found.at) : deadline
    return `${key} ${hears ? 'received' : 'timed_out'} +${(now - start) / minute}`
  })
}

t.test('a loop with a wait goes round once an event', async (t) => {
  const wait: StepDefinition = { key: 'w', type: 'wait_for_event', config: { eventName: 'seen' } }
  const loop = chain([wait, send('m')], [edge('m', 'w')])
  const happenings = [event(0, startName), ...[1, 1, 2, 9].map((at) => event(at * hour, 'seen'))]
  const { lines } = told(loop, { happenings })
  t.same(
    lines.filter((line) => line.startsWith('m ')),
    ['m sent +60', 'm sent +60', 'm sent +120', 'm sent +540'],
  )
  // Nor do events that are all there already make it spin.
  const stored = Array.from({ length: 500 }, (_, n): StoredEvent => {
    return { id: n + 2, name: 'seen', payload: null, at: start }
  })
  const version = compile(chain([wait], [edge('w', 'w', 'event_received')]), { seed: '' })
  const run = startRun('c1', version.trigger.id, start)
  const walked = walk(
    version,
    run,
    {
      contact: ada,
      trigger: { id: 1, name: startName, payload: null, at: start },
      departed: undefined,
      nextEvent: (name, after) => stored.find((e) => e.name === name && e.id > after),
      mail: () => undefined,
      optedOut: () => false,
      obstacle: () => undefined,
    },
    start,
  )
  t.match(walked.next, { kind: 'continue' }, 'others have their turn after 100 steps')
  t.same(walked.heard, { seen: 100 })
})
