import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { addContact, createList } from '../../src/contacts/index.js'
import { suppress } from '../../src/suppression/index.js'
import { optOut } from '../../src/topics/index.js'
import { setSwitches } from '../../src/tracking/index.js'
import { openAutomations } from '../support/automation-appliance.js'

const steps = [
  { key: 'start', type: 'trigger', config: { eventName: 'user.signup' } },
  {
    key: 'hello',
    type: 'send_email',
    config: { template: 'hello', from: 'Us <us@sender.test>', type: 'transactional' },
  },
  { key: 'paid', type: 'wait_for_event', config: { eventName: 'order.paid', timeout: 'P3D' } },
  {
    key: 'read',
    type: 'condition',
    config: { field: 'email.hello.opened', operator: 'eq', value: true },
  },
]
const connections = [
  { from: 'start', to: 'hello', type: 'default' },
  { from: 'hello', to: 'paid', type: 'default' },
  { from: 'paid', to: 'read', type: 'event_received' },
]

t.test('a simulation over HTTP tells the whole way, and writes nothing', async (t) => {
  const rig = await openAutomations(t)
  const { store, accountId } = rig
  await rig.template('hello', {
    subject: 'Plan {{ trigger.plan }}',
    // With a picture, or nobody sees it opened.
    html: '<p>{{ contact.email }}</p><img src="https://sender.test/a.png" alt="">',
  })
  const id = await rig.create('Welcome', steps, { connections })
  const simulate = async (body: object) => {
    const { status, json } = await rig.call('POST', `/v1/automations/${id}/simulate`, body)
    t.equal(status, 200, JSON.stringify(json).slice(0, 300))
    return json
  }
  const opening = {
    email: 'new@example.com',
    at: '2026-12-01T09:00:00Z',
    payload: { plan: 'pro' },
    events: [{ event: 'order.paid', after: '2d', payload: { total: 5 } }],
    opens: { hello: '1h' },
  }
  const unseen = await simulate(opening)
  t.same(unseen.unseen, [{ step: 'hello', deed: 'opened', why: 'transactional' }])
  t.match(unseen.lines[3], { step: 'read', result: 'not_met' }, 'nobody would see it opened')
  await setSwitches(rig, { accountId }, { opens: true })
  const told = await simulate(opening)
  t.same(told.unseen, [])
  const paidAt = '2026-12-03T09:00:00.000Z'
  t.match(told.lines, [
    { at: '2026-12-01T09:00:00.000Z', step: 'start', result: 'started' },
    { step: 'hello', result: 'sent', mail: { subject: 'Plan pro', html: /new@example.com/ } },
    { at: paidAt, step: 'paid', result: 'received', event: { payload: { total: 5 }, at: paidAt } },
    { step: 'read', result: 'met', why: { holds: true, actual: true, value: true } },
  ])
  t.notOk('stoppedBy' in told.lines[1])
  t.match(told.runs, [{ status: 'completed', endedAt: paidAt }])

  for (const [body, error] of [
    [{ opens: { helo: '1h' } }, /opens: no send step has the key "helo"/],
    [{ clicks: { paid: '1h' } }, /clicks: no send step has the key "paid"/],
    [
      { at: '2026-12-02T09:00:00Z', until: '2026-12-01T09:00:00Z' },
      /until is earlier than the start of the walk/,
    ],
  ] as const) {
    const path = `/v1/automations/${id}/simulate`
    const answer = await rig.call('POST', path, { email: 'new@example.com', ...body })
    t.match(answer, { status: 422, json: { code: 'validation_error', error } })
  }

  const email = 'gone@example.com'
  const lacking = await simulate({ email })
  t.match(lacking.lines[1], {
    stoppedBy: /^render: trigger.plan is missing/,
    mail: { fault: /plan/ },
  })
  t.match(lacking.runs, [{ status: 'failed', reason: /^render: .*trigger\.plan/ }])

  await rig.event({ event: 'other', email })
  await store.write((tx) => suppress(tx, accountId, { email, reason: 'bounce' }, Date.now()))
  const gone = await simulate({ email, payload: { plan: 'x' } })
  t.match(gone.lines[1], { result: 'sent', stoppedBy: 'bounced' })

  const draft = { steps: steps.slice(0, 2), connections: connections.slice(0, 1) }
  t.equal((await simulate({ email, ...draft })).lines.length, 2)
  const again = [...connections.slice(0, 1), { from: 'hello', to: 'pause', type: 'default' }]
  const pause = { key: 'pause', type: 'delay', config: { duration: 'P1D' } }
  const round = await simulate({
    email,
    payload: { plan: 'x' },
    steps: [...steps.slice(0, 2), pause],
    connections: [...again, { from: 'pause', to: 'hello', type: 'default' }],
  })
  const mails = round.lines.filter(({ result }: { result: string }) => result === 'sent')
  t.equal(mails.length, 100)
  t.equal(mails.filter((line: object) => 'mail' in line).length, 20, 'the first are rendered')
  for (const table of ['emails', 'automation_live', 'automation_runs'] as const) {
    t.same(await store.read.selectFrom(table).selectAll().execute(), [], table)
  }
})

t.test('a simulation over a list counts', async (t) => {
  const rig = await openAutomations(t)
  const deps = { store: rig.store, clock: systemClock }
  const list = await createList(deps, rig.accountId, 'Readers')
  for (let n = 0; n < 12; n += 1) {
    const contact = { email: `c${n}@example.com`, metadata: { plan: n % 3 === 0 ? 'pro' : 'free' } }
    await addContact(deps, rig.accountId, contact, { listId: list.id })
  }
  const asks = { field: 'contact.metadata.plan', operator: 'eq', value: 'pro' }
  const id = await rig.create('Plans', [
    { key: 'start', type: 'trigger', config: { eventName: 'x' } },
    { key: 'pro', type: 'condition', config: asks },
  ])
  const { json } = await rig.call('POST', `/v1/automations/${id}/simulate`, { listId: list.id })
  t.same(json, {
    contacts: 12,
    started: 12,
    refused: {},
    steps: { start: { started: 12 }, pro: { met: 4, not_met: 8 } },
    ends: { completed: 12 },
    unseen: [],
    cut: false,
  })
})

t.test(
  'an automation says which variables a template needs and its step cannot know',
  async (t) => {
    const rig = await openAutomations(t)
    await rig.template('hello', {
      subject: 'Hello {{ firstName }} {{ code }} {{ trigger.plan }}',
      html: '<p>{{ waits.paid.total }} {{ lastName | default: "you" }}</p>',
    })
    const id = await rig.create('Welcome', steps, { connections })
    const { json } = await rig.call('GET', `/v1/automations/${id}`)
    const needs = (name: string) =>
      `Template "hello" needs "${name}", which this step does not know: give it in "variables"`
    t.same(json.warnings, [
      { key: 'hello', error: needs('code') },
      { key: 'hello', error: needs('waits.paid.total') },
    ])
  },
)

t.test('on some of a list, who is suppressed does not enter, as at a real start', async (t) => {
  const rig = await openAutomations(t)
  const { store, accountId } = rig
  await rig.template('hello')
  const { id: topicId } = (await rig.call('POST', '/v1/topics', { name: 'News', slug: 'news' }))
    .json
  const mail = { template: 'hello', from: 'Us <us@sender.test>', topicId }
  const id = await rig.enabled('Welcome', [
    { key: 'start', type: 'trigger', config: { eventName: 'e' } },
    { key: 'hello', type: 'send_email', config: mail },
  ])
  const list = await createList({ store, clock: systemClock }, accountId, 'Readers')
  for (const name of ['ann', 'Bob', 'cem', 'dee']) {
    await rig.call('POST', `/v1/contacts/${list.id}`, { email: `${name}@example.com` })
  }
  const now = systemClock.now()
  const gone = { email: 'ann@example.com', reason: 'bounce' } as const
  await store.write(async (tx) => {
    await suppress(tx, accountId, gone, now)
    await optOut(tx, accountId, { topicId, address: 'Bob@example.com' }, now)
  })
  const simulated = await rig.call('POST', `/v1/automations/${id}/simulate`, { listId: list.id })
  const started = await rig.call('POST', `/v1/automations/${id}/start`, {
    listId: list.id,
    dryRun: true,
  })
  t.match(started.json, { people: 4, starts: 3, refused: { suppressed: 1 } })
  t.match(simulated.json, { contacts: 4, started: 3 })
  t.match(JSON.stringify(simulated.json), /"sent":2/)
})
