// Issue 47: by what names events came, who hears them, and which never came.
import t from 'tap'
import { ownFieldWords } from '../../../src/dashboard/automations/event-fields.js'
import { nameEvents } from '../../../src/events/index.js'
import type { Tx } from '../../../src/store/index.js'
import { openAutomationPages } from '../../support/automation-pages.js'
import { eventually } from '../../support/eventually.js'

const pages = await openAutomationPages(t)
const { posthorn, store, accountId, base, owner, call } = pages

const { id } = await call('POST', '/v1/automations', {
  name: 'Asked & answered',
  steps: [
    { key: 'start', type: 'trigger', config: { eventName: 'order.paid' } },
    { key: 'wait', type: 'wait_for_event', config: { eventName: 'order.recieved' } },
  ],
  connections: [{ from: 'start', to: 'wait', type: 'default' }],
})
await call('POST', `/v1/automations/${id}/enable`)
const named = async () => (await call('GET', '/v1/events/names')).names

t.test('events are counted by name, with the last payload and who hears them', async (t) => {
  for (const total of [1, 2]) {
    const event = { event: 'order.paid', email: 'ann@x.test', payload: { total, note: '<b>' } }
    await call('POST', '/v1/events/send', event)
  }
  await call('POST', '/v1/events/send', { event: 'order.received', email: 'ann@x.test' })
  // The thread that brings figures forward does it.
  await eventually(async () => (await named()).length === 2, 20_000)
  await eventually(async () => (await named())[0].count === 2, 20_000)
  const [paid, received] = await named()
  t.match(paid, { name: 'order.paid', count: 2, sample: { total: 2 } })
  t.match(paid.heardBy, [{ automationId: id, how: 'starts' }])
  t.match(received, { name: 'order.received', count: 1, heardBy: [] })
  const first = await call('GET', '/v1/events/names?limit=1')
  t.match(first, { names: [{ name: 'order.paid' }], hasMore: true })
  const second = await call('GET', `/v1/events/names?limit=1&cursor=${first.nextCursor}`)
  t.match(second, { names: [{ name: 'order.received' }], hasMore: false })
})

t.test('the page shows a name that is written wrong', async (t) => {
  const text = (await owner.get(`${base}/events`)).text
  t.match(text, /Never came[\s\S]*order\.recieved[\s\S]*is waited for in “Asked &amp; answered”/)
  t.match(text, /note = &lt;b&gt;/)
  t.match(text, /Nobody/)
})

t.test('a test event is one as any other', async (t) => {
  const given = { event: 'order.paid', email: 'test@x.test', payload: '{"total": 3}' }
  const sent = await owner.post(`${base}/events`, given)
  t.equal(sent.status, 303, sent.text.slice(0, 300))
  const { runs } = await call('GET', `/v1/automations/${id}/runs`)
  t.match(runs[0], { email: 'test@x.test' })
  const again = await owner.post(`${base}/events`, given)
  const said = again.headers.getSetCookie().map((one) => one.split(';')[0])
  const { text } = await owner.get(again.to, { cookie: [owner.cookie, ...said].join('; ') })
  t.match(text, /” did not begin: they are in it now/)
  t.match(text, /<datalist id="seen-events">[\s\S]*value="order\.paid"/)
  const lines = { ...given, payload: 'total = 5\nnote = as typed' }
  t.equal((await owner.post(`${base}/events`, lines)).status, 303)
  const stored = await store.read
    .selectFrom('automation_events')
    .select('payload')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  t.same(JSON.parse(stored.payload ?? ''), { total: 5, note: 'as typed' })
  const broken = await owner.post(`${base}/events`, { ...given, payload: '{total' })
  t.equal(broken.status, 422)
  t.match(broken.text, /\{total/, 'what was typed is kept')
  const nameless = await owner.post(`${base}/events`, { ...given, event: 'two words' })
  t.equal(nameless.status, 422)
})

t.test('what somebody starts by hand is no event of theirs', async (t) => {
  const { id: contactId } = await call('GET', '/v1/contacts/all?email=ann@x.test').then(
    ({ contacts }) => contacts[0],
  )
  const { runs } = await call('GET', `/v1/automations/${id}/runs`)
  for (const run of runs) await call('POST', `/v1/automations/runs/${run.id}/cancel`)
  await call('POST', `/v1/automations/${id}/runs`, { contactId })
  await call('POST', '/v1/events/send', { event: 'after.it', email: 'ann@x.test' })
  await eventually(
    async () => (await named()).some((one: { name: string }) => one.name === 'after.it'),
    20_000,
  )
  t.notOk((await named()).some(({ name }: { name: string }) => name.startsWith('$started')))
})

async function lastEvent(tx: Tx): Promise<number> {
  const { last } = await tx
    .selectFrom('automation_events')
    .select((eb) => eb.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  return last ?? 0
}

t.test('an account has a thousand names at most, and each event counts once', async (t) => {
  const { accountId: other } = await posthorn.addAccount('Many')
  const contactId = '01a1fc92-0000-7000-8000-5f0e1c2d3b4c'
  await store.write(async (tx) => {
    const last = await lastEvent(tx)
    const row = { account_id: other, contact_id: contactId, payload: null, at: 1, depth: 0 }
    for (let n = 1; n <= 1_050; n++) {
      await tx
        .insertInto('automation_events')
        .values({ ...row, id: last + n, name: `name-${n % 1_010}`, occurred_at: null })
        .execute()
    }
  })
  const counted = async () =>
    await store.read
      .selectFrom('event_names')
      .select((eb) => [
        eb.fn.countAll<number>().as('names'),
        eb.fn.sum<number | null>('count').as('events'),
      ])
      .where('account_id', '=', other)
      .executeTakeFirstOrThrow()
  await eventually(async () => (await counted()).names === 1_000, 20_000)
  await nameEvents(store)
  await eventually(async () => Number((await counted()).events) >= 1_040, 20_000)
  t.equal((await counted()).names, 1_000)
  t.ok(Number((await counted()).events) <= 1_050)
})

t.test('what an event of the appliance names is said by its name', async (t) => {
  const listId = '01a2fc92-0000-7000-8000-5f0e1c2d3b4a'
  t.equal(ownFieldWords({ listId }, new Map([[listId, 'Readers']])), 'List “Readers”')
  t.equal(ownFieldWords({ listId }, new Map()), 'List that is deleted')
  // A segment and a form are named in the event, too.
  const named = { segmentId: listId, segment: 'As it was' }
  t.equal(ownFieldWords(named, new Map([[listId, 'Buyers']])), 'Segment “Buyers”')
  t.equal(ownFieldWords({ listId, more: 1 }, new Map()), undefined)
  const { id: made } = await call('POST', '/v1/contacts/lists', { name: 'Readers & co' })
  const someone = await call('POST', `/v1/contacts/${made}`, { email: 'some@x.test' })
  const event = { account_id: accountId, contact_id: someone.id, payload: null, at: 1, depth: 0 }
  await store.write(async (tx) => {
    const last = await lastEvent(tx)
    await tx
      .insertInto('automation_events')
      .values([
        { ...event, id: last + 1, name: '$backfill' },
        { ...event, id: last + 2, name: '$contact.date' },
      ])
      .execute()
  })
  const { text } = await owner.get(`${base}/contacts/${someone.id}`)
  t.match(text, /When an automation is started for a list or a segment/)
  t.match(text, /When a date of somebody comes/)
  t.notMatch(text, /\$(backfill|contact)/)
})
