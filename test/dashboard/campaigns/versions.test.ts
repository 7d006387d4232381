// Issue 44: versions of a campaign by pages, without script: added, written, taken away, checked, chosen.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../../src/billing/index.js'
import { draftVersions, findBroadcast } from '../../../src/broadcasts/index.js'
import { packageFile } from '../../../src/config/index.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

const hostile = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const plan = findPlan(loadPlans(packageFile('config/plans.toml')).marketing, 'Marketing Plus')
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const owner = await logIn(posthorn, accountId, 'owner')
const viewer = await logIn(posthorn, accountId, 'viewer')
const call = async (method: string, path: string, body: object) =>
  (await posthorn.call(method, path, { body })).json
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
await call('POST', `/v1/contacts/${listId}`, { email: 'ann@x.test' })
const content = { from: 'News <news@sender.test>', subject: hostile, html: '<p>x</p>', listId }
const { id } = await call('POST', '/v1/broadcasts', { ...content, draft: true })
const draft = `${base}/campaigns/${id}`
const found = () => findBroadcast(store.read, accountId, id)
const versions = async () => (await draftVersions(store.read, await found())).variants
const save = async (more: Record<string, string>) =>
  await owner.post(`${draft}/versions`, { revision: String((await found()).revision), ...more })

t.test('versions are added, written and taken away, a button each', async (t) => {
  t.match((await owner.get(draft)).text, new RegExp(`${draft}/versions`))
  t.match((await owner.get(`${draft}/versions`)).text, /Begin with two versions/)
  t.equal((await save({ next: 'add' })).status, 303)
  t.match(await versions(), [{ key: 'A' }, { key: 'B' }])
  const two = { key1: 'A', key2: 'B', subject2: hostile, fromName2: 'Ann', share: '30' }
  const test = { decideAfter: 'by hand', by: 'opens', ifClose: 'wait' }
  t.equal((await save({ ...two, ...test, next: 'add' })).status, 303)
  t.match(await versions(), [{ key: 'A' }, { key: 'B', subject: hostile }, { key: 'C' }])
  const page = await owner.get(`${draft}/versions`)
  t.match(page.text, /value="Ann"/)
  t.notMatch(page.text, /<img src=x|<script>alert/, 'what was typed is escaped')
  const checks = (await owner.get(`${draft}/send`)).text
  t.match(checks, /3 versions are tried on 30 % of the audience/)
  t.match(checks, /Versions A and C are alike/)
  t.match(checks, /Each version goes to about 0 people, and needs 100/)
  const bad = await save({ ...two, share: '0' })
  t.equal(bad.status, 422)
  t.match(bad.text, /from 1 to 100/)
  t.equal((await owner.post(`${draft}/versions`, { revision: '0', ...two })).status, 422)
  t.equal((await save({ ...two, key3: 'C', next: 'remove-3' })).status, 303)
  t.equal((await versions()).length, 2)
  t.equal((await viewer.get(`${draft}/versions`)).status, 403)
})

t.test('a copy has them too, and without them nothing is left', async (t) => {
  const copy = await owner.post(`${draft}/duplicate`)
  const copied = copy.to.split('/').at(-1) ?? ''
  const row = await findBroadcast(store.read, accountId, copied)
  t.match(await draftVersions(store.read, row), {
    variants: [{ key: 'A' }, { key: 'B', fromName: 'Ann' }],
    test: { share: 30 },
  })
  t.equal((await owner.post(`${copy.to}/versions`, { revision: '0', next: 'none' })).status, 303)
  t.same((await findBroadcast(store.read, accountId, copied)).variant_test, null)
})

t.test('its page says what the rest waits for, and sends a version to it', async (t) => {
  const decideAt = Date.now() + 3_600_000
  const tested = { status: 'sending', cursor: '~~', sent_at: Date.now() } as const
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ ...tested, expanded_at: Date.now(), decide_at: decideAt })
      .where('id', '=', id)
      .execute(),
  )
  const shown = (await owner.get(draft)).text
  t.match(shown, /goes to the rest at/)
  t.match(shown, /Send B to the rest now/)
  t.notMatch((await viewer.get(draft)).text, /to the rest now/)
  t.match((await viewer.get(`${draft}/report`)).text, /By version/)
  t.equal((await viewer.post(`${draft}/choose`, { key: 'B' })).status, 403)
  t.equal((await owner.post(`${draft}/choose`, { key: 'B' })).status, 303)
  t.match((await owner.get(draft)).text, /Version B went to the rest/)
  t.match(await found(), { winner: 'B', decided_by: 'account' })
  const { json } = await posthorn.call('GET', `/v1/broadcasts/${id}/report`)
  t.match(json, { variantTest: { chosen: 'B', chosenBy: 'account' }, variants: [{ key: 'A' }, {}] })
})
