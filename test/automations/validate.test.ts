import t from 'tap'
import type { AutomationDefinition } from '../../src/automations/definition/definition.js'
import { definitionIn } from '../../src/automations/definition/edit.js'
import { validate } from '../../src/automations/definition/validate.js'
import { warningsOf } from '../../src/automations/definition/warn.js'

const trigger = { key: 'start', type: 'trigger', config: { eventName: 'user.signup' } }
const send = {
  key: 'hello',
  type: 'send_email',
  config: { template: 'welcome', from: 'Us <us@sender.example>' },
}
const wait = { key: 'paid', type: 'wait_for_event', config: { eventName: 'order.paid' } }
const exit = { key: 'out', type: 'exit' }
const edge = (from: string, to: string, type = 'default', branch?: string) => ({
  from,
  to,
  type,
  ...(branch === undefined ? {} : { branch }),
})

/** Steps one after the other by default edges. */
function line(...steps: { key: string; type: string; config?: unknown }[]) {
  const all = [trigger, ...steps]
  const connections = steps.map(({ key }, index) => edge(all[index]?.key ?? '', key))
  return { steps: all, connections }
}
const faults = (given: unknown) =>
  validate(given).faults.map(({ key, error }) => `${key}: ${error}`)

t.test('a whole definition passes, and a config that may be empty is filled in', async (t) => {
  const given = {
    steps: [
      {
        ...trigger,
        config: {
          eventName: 'user.signup',
          filter: { field: 'contact.metadata.plan', operator: 'in', value: ['free', 'pro'] },
          reentry: { after: 'P30D' },
        },
      },
      {
        ...send,
        config: {
          ...send.config,
          subject: 'Hello {{ contact.firstName }}',
          replyTo: 'help@sender.example',
          variables: { cart: { var: 'trigger.cart' }, n: 1, list: [1] },
          topicId: '0197f1c8-9b5c-7ea2-8a9e-4c1a3f0d2b11',
          templateVersion: 3,
        },
      },
      {
        ...wait,
        config: {
          eventName: 'order.paid',
          filter: {
            all: [
              { field: 'event.cart', operator: 'eq', value: { var: 'trigger.cart' } },
              { not: { field: 'email.hello.opened', operator: 'eq', value: true } },
            ],
          },
          timeout: 'P3D',
          since: 'step',
        },
      },
      {
        key: 'pause',
        type: 'delay',
        config: { until: { time: '09:00', days: [1], zone: 'contact' } },
      },
      {
        key: 'note',
        type: 'contact_update',
        config: { firstName: { var: 'waits.paid.name' }, metadata: { paid: true, old: null } },
      },
      {
        key: 'arms',
        type: 'split',
        config: {
          branches: [
            { key: 'a', percent: 33.4 },
            { key: 'b', percent: 66.6 },
          ],
        },
      },
      { key: 'hook', type: 'webhook', config: { endpointId: 'e1', payload: { n: 1 } } },
      exit,
    ],
    connections: [
      edge('start', 'hello'),
      edge('hello', 'paid'),
      edge('paid', 'note', 'event_received'),
      edge('paid', 'pause', 'timeout'),
      edge('pause', 'hello'),
      edge('note', 'arms'),
      edge('arms', 'hook', 'branch', 'a'),
      edge('arms', 'out', 'branch', 'b'),
    ],
    settings: {
      exitOn: [{ eventName: 'account.closed' }],
      goal: { eventName: 'order.paid', to: 'out' },
      timeZone: 'Africa/Lagos',
      sendWindow: { from: '08:00', to: '20:00', days: [1, 2, 3, 4, 5] },
      maxPerHour: 500,
      onUnsubscribe: 'exit',
    },
  }
  t.same(faults(given), [])
  t.same(validate(given).definition?.steps.at(-1), { ...exit, config: {} })
})

t.test('what is no definition, and steps that are none, are said', async (t) => {
  for (const [given, expected] of [
    [null, 'null: definition: Expected an object, but got null'],
    [{ steps: [] }, 'null: connections: Required. Expected an array'],
    [{ steps: 1, connections: [] }, 'null: steps: Expected an array, but got 1'],
    [{ steps: [], connections: [] }, 'null: The automation has no trigger step: add one'],
    [{ steps: [5], connections: [] }, 'null: steps[0]: Expected an object, but got 5'],
    [
      { steps: [{ ...exit, key: 'A b' }], connections: [] },
      /^null: steps\[0\]\.key: Expected 1 to 64/,
    ],
    [{ ...line(), extra: 1 }, /^null: extra: Expected no fields other than steps, /],
    [line({ key: 'x', type: 'toString' }), /^x: type: Expected trigger, send_email/],
    [
      { ...line(), connections: [edge('start', 'hello', 'else')] },
      /^start: connections\[0\]\.type: Expected default/,
    ],
  ] as const) {
    t.match(faults(given), [expected], JSON.stringify(given))
  }
})

t.test('each step’s config is held against its type', async (t) => {
  const rows: [string, unknown, string | RegExp][] = [
    ['send_email', {}, 'template: Required. Expected the slug of a template'],
    ['send_email', { ...send.config, template: 'No' }, /^template: Expected the slug/],
    ['send_email', { ...send.config, from: 'nobody' }, /^from: Expected an address/],
    ['send_email', { ...send.config, subject: 'a\r\nBcc: x@y.z' }, /^subject: Expected/],
    [
      'send_email',
      { ...send.config, variables: { contact: 1 } },
      /^variables.contact: Every template has this name already/,
    ],
    [
      'send_email',
      { ...send.config, variables: { x: { var: 'nothing' } } },
      /^variables.x: Expected a field that begins with contact.*, but got/,
    ],
    [
      'send_email',
      { ...send.config, replyTo: ['a@b.test', 'no'] },
      /^replyTo\[1\]: Expected an address.*, but got "no"/,
    ],
    ['send_email', { ...send.config, headers: [] }, /^headers: Expected an object/],
    ['send_email', { ...send.config, headers: { To: 'x' } }, /^headers: The header "To" cannot/],
    [
      'send_email',
      { ...send.config, tags: [{ name: 'a b', value: 'x' }] },
      /^tags\[0\].name: Expected 1 to/,
    ],
    ['send_email', { ...send.config, type: 'bulk' }, /^type: Expected "marketing" or/],
    [
      'send_email',
      { ...send.config, delay: 'P1D' },
      /^delay: Expected no fields other than template, from, /,
    ],
    [
      'send_email',
      { ...send.config, type: 'transactional', topicId: '0197f1c8-9b5c-7ea2-8a9e-4c1a3f0d2b11' },
      'topicId: Only marketing mail belongs to a topic',
    ],
    ['delay', {}, /^config: Expected either "duration" or "until"/],
    ['delay', { duration: 'P1M' }, /^duration: Expected an ISO 8601 duration/],
    ['delay', { duration: 'P91D' }, /at most 90 days/],
    ['delay', { duration: 'PT0S' }, /^duration: Expected/],
    [
      'delay',
      { duration: 'P1D', until: { time: '09:00' } },
      /^config: Expected either "duration" or "until"/,
    ],
    ['delay', { until: { time: '24:00' } }, /^until\.time: Expected a time/],
    ['delay', { until: { time: '09:00', zone: '+01:00' } }, /^until\.zone: Expected a time zone/],
    ['delay', { until: { time: '09:00', days: [0] } }, /^until\.days: Expected/],
    ['delay', { until: { time: '09:00', days: [] } }, /^until\.days: Expected/],
    ['wait_for_event', { eventName: 'a b' }, /^eventName: Expected 1 to 100/],
    ['wait_for_event', { eventName: 'x', timeout: 'P1Y' }, /^timeout: Expected/],
    ['wait_for_event', { eventName: 'x', since: 'ever' }, /^since: Expected "run" or "step"/],
    ['condition', {}, /^config: Expected { field, operator, value }/],
    [
      'condition',
      { field: 'contact.age', operator: 'exists' },
      /^field: Expected one of contact.id, .*, but got "contact.age"/,
    ],
    [
      'condition',
      { field: 'event.x', operator: 'like', value: 1 },
      /^operator: Expected one of eq/,
    ],
    [
      'condition',
      { field: 'event.x', operator: 'eq' },
      /^value: Required. Expected what eq compares with/,
    ],
    [
      'condition',
      { field: 'event.x', operator: 'exists', value: true },
      /^value: Expected no value for exists/,
    ],
    [
      'condition',
      { field: 'event.x', operator: 'in', value: 1 },
      /^value: Expected an array for in/,
    ],
    [
      'condition',
      { field: 'event.x', operator: 'gt', value: true },
      /^value: Expected a number or a date/,
    ],
    ['condition', { all: [] }, /^all: Expected an array of rules/],
    [
      'condition',
      { all: [{ field: 'event.x', operator: 'exists' }], any: [] },
      /^config: Expected "all" to stand alone/,
    ],
    [
      'condition',
      { field: 'email.hello.read', operator: 'exists' },
      /^field: Expected one of email.KEY.opened/,
    ],
    [
      'condition',
      { field: 'event..x', operator: 'exists' },
      /^field: Expected a field without an empty part/,
    ],
    ['contact_update', {}, /^config: Expected one or more of firstName/],
    ['contact_update', { firstName: 'a\u0000' }, /^firstName: Expected null or a name/],
    ['contact_update', { email: 'x@y.z' }, /^email: Expected no fields other than firstName/],
    [
      'split',
      { branches: [{ key: 'a', percent: 100 }] },
      /^branches: Expected an array of 2 to 20/,
    ],
    [
      'split',
      {
        branches: [
          { key: 'a', percent: 50 },
          { key: 'a', percent: 40 },
        ],
      },
      /^branches: Expected branches of different keys/,
    ],
    ['exit', { reason: 5 }, /^reason: Expected/],
  ]
  for (const [type, config, expected] of rows) {
    const { faults } = validate(line({ key: 'x', type, config }))
    t.equal(faults[0]?.key, 'x', `${type} ${JSON.stringify(config)}`)
    t.match(faults[0]?.error, expected, `${type} ${JSON.stringify(config)}`)
  }
})

t.test('null in an optional field means absent, but takes a name away', (t) => {
  const nulls = { subject: null, replyTo: null, variables: null, topicId: null, type: null }
  const until = { time: '09:00', days: null, zone: null }
  const update = { firstName: null, lastName: 'B', metadata: { a: null } }
  const { definition, faults } = validate({
    ...line(
      { ...send, config: { ...send.config, ...nulls } },
      { key: 'late', type: 'delay', config: { duration: null, until } },
      { key: 'name', type: 'contact_update', config: update },
      { ...exit, config: { reason: null } },
    ),
    settings: { goal: null, timeZone: 'Africa/Lagos', sendWindow: null },
  })
  t.same(faults, [])
  t.same(
    definition?.steps.slice(1).map((step) => step.config),
    [send.config, { until: { time: '09:00' } }, update, {}],
  )
  t.same(definition?.settings, { timeZone: 'Africa/Lagos' })
  t.match(validate(line({ ...send, config: { ...send.config, from: null } })).faults, [
    { key: 'hello', error: /^from: Expected an address/ },
  ])
  t.end()
})

t.test('connections lead from steps to steps, by the edges of their types', async (t) => {
  const rows: [object[], object[], (string | RegExp)[]][] = [
    [[], [edge('start', 'gone')], ['start: A connection goes to "gone", which is not a step']],
    [
      [exit],
      [edge('start', 'out'), edge('gone', 'out')],
      [/^null: A connection comes from "gone"/],
    ],
    [
      [exit],
      [edge('start', 'out'), edge('out', 'start')],
      [/^out: .*exit step, which has none/, /^start: No/],
    ],
    [
      [send, exit],
      [edge('start', 'hello'), edge('hello', 'out', 'timeout')],
      [/^hello: .*"default"$/],
    ],
    [
      [send, exit],
      [edge('start', 'hello'), edge('start', 'out')],
      ['start: Two connections leave by "default"'],
    ],
    [[exit], [], ['start: The trigger is not connected to any step']],
    [
      [{ ...trigger, key: 'two' }],
      [edge('start', 'two')],
      [/^two: An automation has one trigger step/],
    ],
    [
      [send, exit],
      [edge('start', 'hello')],
      ['out: No connections lead from the trigger to this step'],
    ],
  ]
  for (const [steps, connections, expected] of rows) {
    const found = faults({ steps: [trigger, ...steps], connections })
    t.match(found, expected, JSON.stringify(connections))
    if (expected.length > 0) t.equal(found.length, expected.length)
  }
  const again = faults({ steps: [trigger, exit, exit], connections: [] })
  t.same(again, ['out: Another step has the same key'])
})

t.test('a loop needs time or an event', async (t) => {
  const step = (type: string, config: object) => ({ key: 'pause', type, config })
  const loop = (pause: object, type = 'default') =>
    faults({
      steps: [trigger, send, pause],
      connections: [edge('start', 'hello'), edge('hello', 'pause'), edge('pause', 'hello', type)],
    })
  const error =
    'A loop ("hello", "pause") needs a delay or a timeout of at least a minute, or a wait for an event'
  const spins = [`hello: ${error}`, `pause: ${error}`]
  t.same(loop(step('contact_update', { firstName: 'x' })), spins)
  t.same(loop(step('delay', { duration: 'PT59S' })), spins)
  t.same(loop(step('delay', { duration: 'PT1M' })), [])
  t.same(loop(step('delay', { until: { time: '09:00' } })), [])
  t.same(loop(step('wait_for_event', { eventName: 'x', timeout: 'PT1S' }), 'event_received'), [])
  t.same(loop(step('wait_for_event', { eventName: 'x', timeout: 'PT1S' }), 'timeout'), spins)
  t.same(loop(step('wait_for_event', { eventName: 'x' }), 'timeout'), [])
})

t.test('a field can exist only after the step that it comes from', async (t) => {
  const asks = (field: string) => ({
    key: 'ask',
    type: 'condition',
    config: field.startsWith('email.')
      ? { field, operator: 'eq', value: true }
      : { field, operator: 'exists' },
  })
  const before = (field: string) => ({
    steps: [trigger, asks(field), wait, send],
    connections: [
      edge('start', 'ask'),
      edge('ask', 'paid', 'condition_met'),
      edge('paid', 'hello', 'event_received'),
    ],
  })
  t.same(faults(before('waits.paid.total')), [
    'ask: field "waits.paid.total": no connections lead from "paid" to this step',
  ])
  t.same(faults(before('email.hello.opened')), [
    'ask: field "email.hello.opened": no connections lead from "hello" to this step',
  ])
  t.same(faults(before('waits.hello.x')), [
    'ask: field "waits.hello.x": "hello" is not a wait_for_event step',
  ])
  t.same(faults(before('trigger.x')), [])
  const { steps, connections } = before('waits.paid.total')
  // By a way back it can.
  t.same(faults({ steps, connections: [...connections, edge('hello', 'ask')] }), [])
  const first = { ...trigger, config: { eventName: 'x', filter: asks('waits.paid.x').config } }
  t.match(faults({ ...before('trigger.x'), steps: [first, asks('trigger.x'), wait, send] }), [
    /^start: field "waits.paid.x": no connections/,
  ])
})

t.test('settings fit the steps', async (t) => {
  const settings = (given: object) => faults({ ...line(send, exit), settings: given })
  t.match(settings({ colour: 1 }), [/^null: settings.colour: Expected no fields/])
  t.match(settings({ timeZone: 'Nowhere' }), [/settings.timeZone: Expected a time zone/])
  t.match(settings({ maxPerHour: 0 }), [/maxPerHour: Expected/])
  t.match(settings({ exitOn: [{}] }), [/settings.exitOn\[0\].eventName: Required/])
  t.match(settings({ goal: { eventName: 'x', to: 'gone' } }), [/goal.to: "gone" is no step/])
  t.match(settings({ goal: { eventName: 'x', to: 'start' } }), [/goal.to: "start" is the trigger/])
  t.match(settings({ sendWindow: { from: '09:00', to: '09:00' } }), [
    /from and to are the same time/,
  ])
  t.same(settings({ sendWindow: { from: '00:00', to: '24:00' } }), [])
  t.match(settings({ onUnsubscribe: 'continue' }), [/^hello: .*not transactional/])
  // A step to which only the goal leads is reached.
  const { steps, connections } = line(send)
  const goal = { goal: { eventName: 'x', to: 'out' } }
  t.same(faults({ steps: [...steps, exit], connections, settings: goal }), [])
})

t.test('what a template needs and its step cannot know is a warning', async (t) => {
  const { definition } = validate({
    ...line({ ...send, config: { ...send.config, variables: { cart: 1 } } }),
  })
  const warned = (...paths: string[]) =>
    warningsOf(definition as AutomationDefinition, () => paths).map(
      ({ key, error }) => `${key} ${error}`,
    )
  t.same(
    warned('cart.items', 'contact.firstName', 'contact.metadata.x', 'trigger.a', 'event.b'),
    [],
  )
  const ofContacts = ['firstName', 'email', 'metadata.city', 'contact.metadata.city']
  t.same(warned(...ofContacts), [], 'as campaigns merge them')
  t.same(warned('code', 'waits.paid.x', 'contact.age', 'code'), [
    'hello Template "welcome" needs "code", which this step does not know: give it in "variables"',
    'hello Template "welcome" needs "waits.paid.x", which this step does not know: give it in "variables"',
    'hello Template "welcome" needs "contact.age", which this step does not know: give it in "variables"',
  ])
})

t.test('of very many faults the first are told, and how many there are', async (t) => {
  const connections = Array.from({ length: 20_000 }, () => 0)
  const steps = [{ key: 'start', type: 'trigger', config: { eventName: 'signup' } }]
  t.throws(() => definitionIn({ steps, connections }), {
    message: /and 19999 more/,
    fields: { errors: { length: 200 } },
  })
})
