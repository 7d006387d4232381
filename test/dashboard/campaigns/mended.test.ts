// Issue 44: what somebody found who went through the pages of campaigns a second time.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../../src/billing/index.js'
import { packageFile } from '../../../src/config/index.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

t.setTimeout(120_000)

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const plan = findPlan(loadPlans(packageFile('config/plans.toml')).marketing, 'Marketing Plus')
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const owner = await logIn(posthorn, accountId, 'owner')
const call = async (method: string, path: string, body?: object) =>
  (await posthorn.call(method, path, body === undefined ? {} : { body })).json
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
for (const [name, timeZone] of [
  ['ann', 'Africa/Lagos'],
  ['bob', 'America/New_York'],
]) {
  const given = { email: `${name}@x.test`, firstName: name, metadata: { timeZone } }
  await call('POST', `/v1/contacts/${listId}`, given)
}
const content = { from: 'News <news@sender.test>', subject: 'Hi', listId, draft: true }
const written = { ...content, html: '<p>x {{ unsubscribe_footer }}</p>' }

t.test('the check says when the first mail leaves that hours hold back', async (t) => {
  // Days that no clocks change, and a year in which they are ahead.
  const year = new Date().getUTCFullYear() + 1
  const window = { from: '10:00', to: '12:00', zone: 'UTC' }
  const checked = async (more: object) => {
    const { id } = await call('POST', '/v1/broadcasts', { ...written, window, ...more })
    return { id, text: (await owner.get(`${base}/campaigns/${id}/send`)).text }
  }
  const late = await checked({ scheduledAt: `${year}-06-02T13:00:00Z` })
  t.match(late.text, `when its hours begin: the first mail leaves at 3 Jun ${year}, 10:00:00 (UTC)`)
  t.match(late.text, `take it back until 2 Jun ${year}, 13:00:00 (UTC)`)
  const within = await checked({ scheduledAt: `${year}-06-02T11:00:00Z` })
  t.match(within.text, `, at 2 Jun ${year}, 11:00:00 (UTC).`)
  // 08:00 in UTC for one of them, which is too early, and 13:00 for the other, which is too late.
  const own = await checked({
    scheduledAt: `${year}-06-02T08:00:00Z`,
    localTimeOf: 'Africa/Lagos',
  })
  const clocks = 'each recipient’s own clock, or when its hours next begin'
  const span = [`2 Jun ${year}, 10:00:00 (UTC)`, `3 Jun ${year}, 10:00:00 (UTC)`]
  t.match(own.text, `at 09:00 by ${clocks}: from ${span[0]} to ${span[1]}`)
  t.match(own.text, `By ${clocks}: the first get it from ${span[0]} on, the last by ${span[1]}.`)
  const rehearsed = await call('POST', `/v1/broadcasts/${own.id}/rehearse`)
  t.match(rehearsed, { startsAt: `${year}-06-02T10:00:00.000Z` })
  const revision = /name="revision"[^>]*value="(\d+)"/.exec(late.text)?.[1] ?? ''
  const sent = await owner.post(`${base}/campaigns/${late.id}/send`, { revision })
  const cookies = sent.headers.getSetCookie().map((one) => one.split(';')[0])
  const cookie = [owner.cookie, ...cookies].join('; ')
  const page = (await owner.get(`${base}/campaigns/${late.id}`, { cookie })).text
  t.match(page, `leaves when its hours begin, at 3 Jun ${year}, 10:00:00 (UTC)`)
  t.match(page, `3 Jun ${year}, 10:00:00 (UTC), when its hours begin`, 'it goes on saying so')
  await call('POST', `/v1/broadcasts/${late.id}/cancel`)
})
