// Issue 15, point 2: an account's front page says what needs somebody, how its mail fares and what is used.
import t from 'tap'
import { createKey } from '../../src/accounts/index.js'
import { applianceKeyFile } from '../../src/app/index.js'
import {
  clearPauses,
  findPlan,
  loadPlans,
  pauseSending,
  setMarketingPlan,
  setPlan,
} from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { loadConfig, openApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { pauseByOperator } from '../../src/protection/index.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { store, dataDir, accountId } = posthorn
const key = openApplianceKey(applianceKeyFile(dataDir))

t.test('a new account is led through its first steps, which then are gone', async (t) => {
  const { accountId: fresh } = await posthorn.addAccount('Fresh')
  const ann = await logIn(posthorn, fresh, 'owner')
  const before = (await ann.get(`/a/${fresh}`)).text
  t.match(before, 'First steps')
  t.match(before, `href="/a/${fresh}/domains"`)
  t.match(before, 'Nothing waits.')
  const bob = await logIn(posthorn, fresh, 'viewer')
  t.notMatch((await bob.get(`/a/${fresh}`)).text, `href="/a/${fresh}/keys"`, 'none of his business')
  await addDomain({ store, clock, key }, fresh, 'fresh.test', { trust: true })
  const { key: apiKey } = await createKey({ store, clock }, fresh, 'another')
  const mail = { from: 'a@fresh.test', to: 'b@one.test', subject: 's', html: 'x' }
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(mail) }
  t.equal((await fetch(`${posthorn.url}/v1/emails/send`, init)).status, 200)
  t.notMatch((await ann.get(`/a/${fresh}`)).text, 'First steps')
})

t.test('who has a marketing plan is led to a first campaign', async (t) => {
  const marketer = await posthorn.addAccount('Marketer')
  const base = `/a/${marketer.accountId}`
  const { marketing } = loadPlans('config/plans.toml')
  const plan = findPlan(marketing, 'Marketing Plus')
  await store.write((tx) => setMarketingPlan(tx, marketer.accountId, plan))
  const ann = await logIn(posthorn, marketer.accountId, 'owner')
  const look = async () => (await ann.get(base)).text
  t.match(await look(), `href="${base}/lists">Make a list</a>`)
  await addDomain({ store, clock, key }, marketer.accountId, 'news.test', { trust: true })
  const { key: apiKey } = await createKey({ store, clock }, marketer.accountId, 'its own')
  const call = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await fetch(`${posthorn.url}${path}`, init)).json()) as { id: string }
  }
  const { id: listId } = await call('/v1/contacts/lists', { name: 'Readers' })
  await call(`/v1/contacts/${listId}`, { email: 'one@x.test' })
  const begun = await look()
  t.notMatch(begun, 'Make a list</a>')
  t.match(begun, `href="${base}/campaigns/new">Write a campaign</a>`)
  t.match(begun, 'Send yourself a test')
  const content = { from: 'a@news.test', subject: 's', html: '<p>x</p>', listId }
  await call('/v1/broadcasts/test', { ...content, to: 'me@news.test' })
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  await call('/v1/broadcasts', { ...content, scheduledAt })
  t.notMatch(await look(), 'First steps')
})

t.test('what needs somebody is told with where it is done', async (t) => {
  const ann = await logIn(posthorn, accountId, 'owner')
  const look = async () => (await ann.get(`/a/${accountId}`)).text
  t.notMatch(await look(), 'Needs you')
  await addDomain({ store, clock, key }, accountId, 'pending.test')
  const text = await look()
  t.match(text, 'pending.test is not verified, so nothing can be sent from it.')
  t.match(text, `href="/a/${accountId}/domains/pending.test"`)

  const plans = loadPlans('config/plans.toml')
  const plan = findPlan(plans.email, 'Free')
  await store.write((tx) => setPlan(tx, accountId, plan))
  const used = Math.ceil((plan.monthlyLimit ?? 0) * 0.85)
  const period = new Date().toISOString().slice(0, 7)
  await store.write((tx) =>
    tx
      .insertInto('usage')
      .values({ account_id: accountId, period, mails: used, campaign_mails: 0 })
      .onConflict((conflict) =>
        conflict.columns(['account_id', 'period']).doUpdateSet({ mails: used }),
      )
      .execute(),
  )
  t.match(await look(), `Mails this month: ${used.toLocaleString('en-GB')} of`)

  await store.write((tx) => pauseSending(tx, accountId, 'bounce'))
  t.match(await look(), 'All sending is paused because of too many bounces.')
  await store.write((tx) => clearPauses(tx, accountId))
  const { protection: settings } = loadConfig({ env: {} })
  const order = { accountId, who: 'root', note: 'ticket 7', now: Date.now(), settings }
  await store.write((tx) =>
    pauseByOperator(tx, { ...order, reason: 'complaint', marketing: false }),
  )
  const byHand = await look()
  t.match(byHand, 'All sending is paused by the operator, because of complaints.')
  t.match(byHand, `href="/a/${accountId}/suppression?reason=complaint"`)
  t.notMatch(byHand, 'ticket 7', 'a note for operators')

  const form = { from: 'a@sender.test', to: 'b@one.test', subject: 'Kept', content: 'x' }
  const refused = await ann.post(`/a/${accountId}/emails/new`, { ...form, format: 'text' })
  t.equal(refused.status, 503)
  t.match(refused.text, 'All sending is paused because of complaints')
  t.match(refused.text, 'value="Kept"', 'nothing that was typed is lost')
})

t.test('mail that was sent is in the figures, and what is scheduled is named', async (t) => {
  const { accountId: other } = await posthorn.addAccount('Figures')
  const ann = await logIn(posthorn, other, 'member')
  await addDomain({ store, clock, key }, other, 'figures.test', { trust: true })
  const form = {
    from: 'a@figures.test',
    to: 'b@one.test',
    subject: 'x',
    content: 'x',
    format: 'text',
  }
  const { to } = await ann.post(`/a/${other}/emails/new`, form)
  t.match(to, `/a/${other}/emails/`)
  const later = new Date(Date.now() + 7_200_000).toISOString().slice(0, 16)
  t.equal((await ann.post(`/a/${other}/emails/new`, { ...form, scheduledAt: later })).status, 303)
  const { text } = await ann.get(`/a/${other}`)
  t.match(text, '1 mail scheduled')
  t.match(text, 'The next scheduled mail leaves')
  t.match(text, /<dt><a href="[^"]+">Accepted<\/a><\/dt><dd><b>2<\/b>/)
  t.match(text, 'not the mail to the simulator, and warn or pause from')
  t.match(text, /Bounces[\s\S]*Pauses at/)
})
