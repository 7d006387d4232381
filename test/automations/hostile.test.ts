// automations.md §4, row 18: payloads are stored and compared as they were given.
import t from 'tap'
import type { AutomationDefinition } from '../../src/automations/definition/definition.js'
import type { Json } from '../../src/json/index.js'
import { openTimeline } from '../support/automation-engine.js'
import { startName } from '../support/automations.js'

/** Waits for the event that equals its trigger, and keeps what it got. */
const echo: AutomationDefinition = {
  steps: [
    { key: 'start', type: 'trigger', config: { eventName: startName } },
    {
      key: 'same',
      type: 'wait_for_event',
      config: {
        eventName: 'echo',
        filter: { field: 'event.x', operator: 'eq', value: { var: 'trigger.x' } },
      },
    },
    { key: 'keep', type: 'contact_update', config: { metadata: { got: { var: 'waits.same.x' } } } },
    {
      key: 'reaches',
      type: 'condition',
      config: {
        any: [
          'trigger.constructor.name',
          'trigger.__proto__.toString',
          'trigger.x.__proto__.a',
        ].map((field) => ({ field, operator: 'exists' as const })),
      },
    },
  ],
  connections: [
    { from: 'start', to: 'same', type: 'default' },
    { from: 'same', to: 'keep', type: 'event_received' },
    { from: 'keep', to: 'reaches', type: 'default' },
  ],
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const payloads: [string, string, string][] = [
  ['arrays nested deep', nested(2_000), nested(1_999)],
  ['half a surrogate pair', '"\\ud800"', '"\\ufffd"'],
  ['the last number that is exact', '9007199254740991', '9007199254740990'],
  ['a very small number', '5e-324', '0'],
  ['keys with dots', '{"a.b":{"c":1}}', '{"a":{"b":{"c":1}}}'],
  ['the name of the prototype', '{"y":{"__proto__":{"admin":true}}}', '{"y":{}}'],
  ['NUL and line ends', '"a\\u0000b\\r\\n"', '"a"'],
  ['an empty key', '{"":1}', '{}'],
  ['a text that reads like SQL and JSON', '"\'); drop table contacts; --"', '"{}"'],
  ['a variable', '{"var":"contact.email"}', '"ada@example.test"'],
]

t.test('hostile payloads are stored and compared as they were given', async (t) => {
  const rig = await openTimeline(t)
  const id = await rig.enable(echo)
  for (const [index, [name, given, other]] of payloads.entries()) {
    const { id: contactId } = await rig.contact(`c${index}@example.test`)
    const payload = (text: string): Json => JSON.parse(`{"x":${text}}`)
    const send = (event: string, text: string) =>
      rig.accept({ contactId, event, payload: payload(text) })
    await send(startName, given)
    await rig.settle()
    t.match(await send('echo', other), [{ resumed: 0 }], `${name}: another is another`)
    t.match(await send('echo', given), [{ resumed: 1 }], `${name}: the same is the same`)
    await rig.settle()
    const run = (await rig.runs(id)).find((one) => one.contactId === contactId)
    t.equal(run?.status, 'completed', name)
    t.same(
      run?.history.map(({ result }) => result),
      ['started', 'received', 'updated', 'not_met'],
      name,
    )
    const { metadata } = await rig.store.read
      .selectFrom('contacts')
      .select('metadata')
      .where('id', '=', contactId)
      .executeTakeFirstOrThrow()
    // As text: tap's comparison is lost in what is nested deep.
    const { got } = JSON.parse(metadata ?? '')
    t.equal(JSON.stringify(got), JSON.stringify(JSON.parse(given)), name)
  }
  t.equal(Reflect.get({}, 'admin'), undefined)
})

t.test('what would be too large for a contact changes nothing, and the run goes on', async (t) => {
  const rig = await openTimeline(t)
  const id = await rig.enable(echo)
  const { id: contactId } = await rig.contact('ada@example.test', {
    metadata: { old: 'o'.repeat(10_000) },
  })
  const payload = { x: 'x'.repeat(10_000) }
  await rig.accept({ contactId, event: startName, payload })
  await rig.accept({ contactId, event: 'echo', payload })
  await rig.settle()
  const [run] = await rig.runs(id)
  t.match(
    run?.history.map(({ result }) => result),
    ['started', 'received', 'skipped:invalid_value', 'not_met'],
  )
})

t.test('events may have the names of what every object has', async (t) => {
  const rig = await openTimeline(t)
  for (const [index, eventName] of ['constructor', '__proto__', 'toString'].entries()) {
    const id = await rig.enable({
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: startName } },
        { key: 'pause', type: 'delay', config: { duration: 'PT1H' } },
        { key: 'one', type: 'wait_for_event', config: { eventName, timeout: 'P1D' } },
        { key: 'two', type: 'wait_for_event', config: { eventName, timeout: 'P1D' } },
      ],
      connections: [
        { from: 'start', to: 'pause', type: 'default' },
        { from: 'pause', to: 'one', type: 'default' },
        { from: 'one', to: 'two', type: 'event_received' },
      ],
    })
    const { id: contactId } = await rig.contact(`n${index}@example.test`)
    await rig.accept({ contactId, event: startName })
    await rig.settle()
    // Before the wait is reached: it is heard all the same, and once.
    await rig.accept({ contactId, event: eventName })
    await rig.passUntil(rig.clock.now() + 3 * 86_400_000)
    const [run] = await rig.runs(id)
    t.same(
      run?.history.map(({ result }) => result),
      ['started', 'waited', 'received', 'timed_out'],
      eventName,
    )
    await rig.archive(id)
  }
})
