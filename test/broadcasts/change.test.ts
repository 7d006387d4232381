// Issue 15, 6: what the dashboard needs of campaigns and the API lacked: PATCH of a draft, pause and resume.
import t from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import {
  findBroadcast,
  judgeDraft,
  lookAtDraft,
  pauseBroadcast,
  resumeBroadcast,
} from '../../src/broadcasts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { countStatements } from '../support/statements.js'

const posthorn = await startPosthorn(t)
const { call, store, accountId } = posthorn
const plans = loadPlans('config/plans.toml')
const plan = plans.marketing.at(-1) ?? null
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const listNamed = async (name: string) =>
  (await call('POST', '/v1/contacts/lists', { body: { name } })).json.id
const listId = await listNamed('Readers')
await call('POST', `/v1/contacts/${listId}`, { body: { email: 'ann@x.test' } })
const given = { listId, from: 'News <a@sender.test>', subject: 'News', html: '<p>x</p>' }
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

const make = async (more: object = {}): Promise<string> =>
  (await call('POST', '/v1/broadcasts', { body: { ...given, ...more } })).json.id
const patch = (id: string, body: object) => call('PATCH', `/v1/broadcasts/${id}`, { body })
const step = (id: string, name: string) => call('POST', `/v1/broadcasts/${id}/${name}`)
const shown = async (id: string) => (await call('GET', `/v1/broadcasts/${id}`)).json
const htmlOf = async (id: string) => {
  const { body_id } = await findBroadcast(store.read, accountId, id)
  const bodies = await store.read.selectFrom('bodies').selectAll().execute()
  return bodies.find((body) => body.id === body_id)?.html
}

t.test('a draft is changed in what is given, and the rest stays', async (t) => {
  const more = {
    name: 'Week 47',
    replyTo: ['a@x.test', 'b@x.test'],
    headers: { 'X-A': '1' },
    tags: [{ name: 'season', value: 'winter' }],
    scheduledAt: inAnHour(),
    attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }],
  }
  const id = await make({ ...more, draft: true })
  const before = await shown(id)
  const changed = await patch(id, { subject: 'Other', html: '<p>y</p>' })
  t.same(changed.json, { ...before, subject: 'Other' })
  t.equal(await htmlOf(id), '<p>y</p>')
  const other = await listNamed('Nobody')
  t.match((await patch(id, { listId: other })).json, { listId: other, recipientCount: 0 })
  const empty = { name: '', topicId: '', scheduledAt: '', replyTo: [], headers: {}, tags: [] }
  const bare = await patch(id, { ...empty, attachments: [] })
  t.match(bare.json, {
    name: null,
    topicId: null,
    scheduledAt: null,
    replyTo: [],
    headers: {},
    tags: [],
    attachments: [],
    subject: 'Other',
    status: 'draft',
  })
  const bodies = await store.read.selectFrom('bodies').select('id').execute()
  t.equal(bodies.length, 1, 'what was there before is gone')
  const [content] = await store.read.selectFrom('contents').selectAll().execute()
  t.equal(content?.uses, 0)
})

t.test('what a draft cannot become is refused, and nothing of it is changed', async (t) => {
  const id = await make({ draft: true })
  const before = await shown(id)
  for (const [body, status] of [
    [{ html: '{{ a' }, 422],
    [{ subject: '' }, 400],
    [{}, 400],
    [{ from: 'a@other.test' }, 400],
    [{ scheduledAt: '2020-01-01T00:00:00Z' }, 400],
    [{ listId: '01900000-0000-7000-8000-000000000000' }, 404],
    [{ reply_to: 'a@x.test', subject: 'x' }, 422],
  ] as const) {
    t.equal((await patch(id, body)).status, status, JSON.stringify(body))
  }
  t.same(await shown(id), before)
  t.equal((await patch('01900000-0000-7000-8000-000000000000', { subject: 'x' })).status, 404)
  const scheduled = await make({ scheduledAt: inAnHour() })
  t.match(await patch(scheduled, { subject: 'x' }), {
    status: 409,
    json: { error: /this campaign is scheduled/ },
  })
})

t.test('of two who change a draft at once, one is told', async (t) => {
  const id = await make({ draft: true })
  const both = await Promise.all([patch(id, { subject: 'one' }), patch(id, { html: '<p>2</p>' })])
  const statuses = both.map(({ status }) => status).sort()
  const { subject } = await shown(id)
  const applied = [subject === 'one', (await htmlOf(id)) === '<p>2</p>'].filter(Boolean).length
  t.equal(applied, statuses.filter((status) => status === 200).length, 'no 200 was lost')
})

t.test(
  'an account pauses its campaign and resumes it, but not what the operator paused',
  async (t) => {
    const id = await make({ scheduledAt: inAnHour() })
    t.match((await step(id, 'pause')).json, { id, status: 'paused' })
    t.equal((await step(id, 'pause')).status, 200, 'again: what it could not hold before')
    t.match(await shown(id), { status: 'paused', pausedBy: 'account', pausedReason: String })
    t.match((await step(id, 'resume')).json, { id })
    t.match(await shown(id), { status: 'scheduled', pausedBy: null, pausedReason: null })

    const deps = { store, clock: systemClock }
    const found = { id, account_id: accountId }
    await step(id, 'pause')
    await pauseBroadcast(deps, found, { reason: 'ask first' })
    t.match(await shown(id), { pausedBy: 'operator', pausedReason: 'ask first' })
    for (const name of ['pause', 'resume']) {
      t.match(await step(id, name), { status: 409, json: { error: /The operator has paused/ } })
    }
    await resumeBroadcast(deps, found)
    t.match(await shown(id), { status: 'scheduled', pausedBy: null })
    t.equal((await step(id, 'cancel')).status, 200)
    t.equal((await step(id, 'pause')).status, 409)
    t.equal((await step(id, 'resume')).status, 409)
  },
)

t.test('a draft that is refused for what is cheap to ask counts nobody', async (t) => {
  const id = await make({ draft: true })
  // As if its domain had been deleted since.
  const from = { from_header: 'News <a@nobody.test>' }
  await store.write((tx) => tx.updateTable('broadcasts').set(from).where('id', '=', id).execute())
  const statements = countStatements(t)
  const judged = judgeDraft({ store, clock: systemClock, plans }, accountId, id)
  await t.rejects(judged, /nobody\.test/)
  t.same(
    [...statements.keys()].filter((text) => /list_members/.test(text)),
    [],
  )
  const looked = await lookAtDraft({ store, clock: systemClock, plans }, accountId, id)
  t.match(
    looked,
    { refusals: [{ code: 'domain_not_verified' }], counts: { reachable: 1 } },
    'a page tells all',
  )
})
