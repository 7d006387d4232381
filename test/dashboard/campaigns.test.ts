// Issue 44: a campaign by pages, without script: written, tried, looked at, taken back, sent.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { findBroadcast } from '../../src/broadcasts/index.js'
import { packageFile } from '../../src/config/index.js'
import { fakeMx } from '../support/fake-mx.js'
import { logIn } from '../support/log-in.js'
import { directTo, startPosthorn } from '../support/posthorn.js'

const mx = await fakeMx(t)
const posthorn = await startPosthorn(t, directTo(mx))
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const owner = await logIn(posthorn, accountId, 'owner')
const call = async (method: string, path: string, body?: object) =>
  (await posthorn.call(method, path, body === undefined ? {} : { body })).json
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
const { id: staff } = await call('POST', '/v1/contacts/lists', { name: 'Staff' })
for (const name of ['ann', 'bob', 'eve']) {
  await call('POST', `/v1/contacts/${listId}`, { email: `${name}@x.test`, firstName: name })
}
await call('POST', `/v1/contacts/${staff}`, { email: 'eve@x.test' })

const form = {
  name: 'Week 48',
  subject: 'For {{ firstName }}',
  previewText: 'In <one> minute, {{ firstName }}',
  from: 'News <news@sender.test>',
  html: '<html><body><p>Hello {{ firstName }}</p></body></html>',
  lists: listId,
  withoutLists: staff,
}
const draft = { path: '', id: '' }

t.test('who has no marketing plan sees the pages, and what is missing', async (t) => {
  t.match((await owner.get(`${base}/campaigns`)).text, /need a marketing plan/)
  const refused = await owner.post(`${base}/campaigns/new`, form)
  t.equal(refused.status, 422)
  t.match(refused.text, /value="Week 48"/, 'what was typed is kept')
  const plans = loadPlans(packageFile('config/plans.toml'))
  await store.write((tx) =>
    setMarketingPlan(tx, accountId, findPlan(plans.marketing, 'Marketing Plus')),
  )
})

t.test('a draft is begun with little, and says what it lacks', async (t) => {
  const begun = await owner.post(`${base}/campaigns/new`, { from: form.from, html: '' })
  t.equal(begun.status, 303, begun.text.slice(0, 200))
  draft.path = begun.to
  draft.id = begun.to.split('/').at(-1) ?? ''
  const checks = (await owner.get(`${draft.path}/send`)).text
  t.match(checks, /no audience yet/)
  t.match(checks, /cannot be sent yet/)
  const sent = await owner.post(`${draft.path}/send`, { revision: '0' })
  t.equal(sent.status, 422)
})

t.test('it is written, seen as a contact, and two people at once are told', async (t) => {
  const seen = await owner.post(`${draft.path}/preview`, { ...form, as: 'bob@x.test' })
  t.match(seen.text, /<b>For bob<\/b>/)
  t.match(seen.text, /As bob@x\.test sees it/)
  const saved = await owner.post(draft.path, { ...form, revision: '0' })
  t.equal(saved.status, 303)
  t.match((await owner.get(draft.path)).text, /3 people|2 people, of whom 2 can be mailed/)
  const other = await owner.post(draft.path, { ...form, subject: 'Mine', revision: '0' })
  t.equal(other.status, 422)
  t.match(other.text, /Somebody else has changed this draft/)
  t.equal((await findBroadcast(store.read, accountId, draft.id)).subject, form.subject)
  const test = await owner.post(`${draft.path}/test`, { to: 'me@sender.test' })
  t.equal(test.status, 303, test.text.slice(0, 300))
})

t.test('it is taken back within the minute, then sent to everybody once', async (t) => {
  const asked = await owner.get(`${draft.path}/send`)
  t.match(asked.text, /sender\.test is verified/)
  t.match(asked.text, /no postal address/)
  t.equal((await owner.post(`${draft.path}/send`, { revision: '0' })).status, 422, 'an old page')
  t.equal((await owner.post(`${draft.path}/send`, { revision: '1' })).status, 303)
  t.match((await owner.get(draft.path)).text, /Take it back/)
  t.equal(mx.messages.filter(({ to }) => to[0]?.endsWith('@x.test')).length, 0)
  await owner.post(`${draft.path}/take-back`)
  t.match((await owner.get(draft.path)).text, /Check and send/, 'a draft again')
  const { revision } = await findBroadcast(store.read, accountId, draft.id)
  await owner.post(`${draft.path}/send`, { revision: String(revision) })
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ scheduled_at: Date.now() })
      .where('id', '=', draft.id)
      .execute(),
  )
  for (;;) {
    const { status } = await findBroadcast(store.read, accountId, draft.id)
    if (status === 'sent') break
    await new Promise((done) => setTimeout(done, 100))
  }
  const mails = mx.messages.filter(({ to }) => to[0]?.endsWith('@x.test'))
  t.same(mails.map(({ to }) => to[0]).sort(), ['ann@x.test', 'bob@x.test'])
  const raw = mails[0]?.raw.toString() ?? ''
  t.match(raw.replace(/=\r?\n/g, ''), /In &lt;one&gt; minute, (ann|bob)/)
  const text = raw.split('text/plain')[1]?.split('text/html')[0] ?? ''
  t.notMatch(text, /minute/, 'the text part has no preview text')
  t.match(
    (await owner.get(`${base}/campaigns?show=sent`)).text,
    /Week 48[\s\S]*Readers, without Staff/,
  )
})

t.test('a copy is a draft', async (t) => {
  const copy = await owner.post(`${draft.path}/duplicate`)
  t.equal(copy.status, 303)
  t.match((await owner.get(copy.to)).text, /value="Week 48 \(copy\)"/)
  t.equal((await owner.post(`${copy.to}/cancel`)).status, 303)
  t.match((await owner.get(`${base}/campaigns?show=ended`)).text, /Week 48 \(copy\)/)
})

t.test('it leads to its report and back, from the list too', async (t) => {
  const report = `${draft.path}/report`
  const list = await owner.get(`${base}/campaigns?show=sent`)
  t.match(list.text, new RegExp(`href="${report}">Report`))
  t.match((await owner.get(draft.path)).text, new RegExp(`href="${report}">Report`))
  const shown = (await owner.get(report)).text
  t.match(shown, new RegExp(`href="${draft.path}">`))
  t.match(shown, new RegExp(`href="${base}/campaigns" aria-current="page"`))
})

t.test('it goes again to who has not opened it, with a subject that must be new', async (t) => {
  const people = await owner.get(`${draft.path}/report/people?who=not_opened`)
  t.match(people.text, /Send again to who has not opened/)
  const refused = await owner.post(`${draft.path}/report/again`, { who: 'unreached' })
  t.equal(refused.status, 422, 'no rule says who they are')
  const made = await owner.post(`${draft.path}/report/again`, { who: 'not_opened' })
  t.equal(made.status, 303, made.text.slice(0, 300))
  const again = await findBroadcast(store.read, accountId, made.to.split('/').at(-1) ?? '')
  t.equal(again.subject, `NEW SUBJECT: ${form.subject}`)
  const [segmentId = ''] = JSON.parse(again.whom ?? '{}').segments
  for (;;) {
    const { json } = await posthorn.call('GET', `/v1/segments/${segmentId}`)
    if (json.state === 'current' && json.count === 2) break
    await new Promise((done) => setTimeout(done, 50))
  }
  t.match((await owner.get(`${made.to}/send`)).text, /still begins with NEW SUBJECT:/)
  t.equal((await owner.post(`${made.to}/send`, { revision: '0' })).status, 422)
  const { withoutLists: _, lists: __, ...content } = form
  const saved = { ...content, segments: segmentId, revision: String(again.revision) }
  t.equal((await owner.post(made.to, saved)).status, 303)
  t.match((await owner.get(`${made.to}/send`)).text, /2 people, of whom 2 can be mailed/)
  const twice = await owner.post(`${draft.path}/report/again`, { who: 'not_opened' })
  const other = await findBroadcast(store.read, accountId, twice.to.split('/').at(-1) ?? '')
  t.same(JSON.parse(other.whom ?? '{}').segments, [segmentId], 'the segment is not made again')
  const rows = await store.read
    .selectFrom('audit_log')
    .select('detail')
    .where('target', '=', again.id)
    .execute()
  t.match(JSON.stringify(rows), /not_opened/)
})
