import t from 'tap'
import {
  findPlan,
  loadPlans,
  pauseMarketing,
  setBillingState,
  setMarketingPlan,
  setPlan,
  suspend,
} from '../../../src/billing/index.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { store, accountId, call } = posthorn
const plans = loadPlans('config/plans.toml')
const eve = await logIn(posthorn, accountId, 'viewer')
const page = async () => (await eve.get(`/a/${accountId}/plan`)).text

t.test('the plan, what is used of it and when each count starts anew', async (t) => {
  t.match(await page(), /Mails this month<\/span> <span class="quiet">0, no limit\. Counts again/)
  const free = findPlan(plans.email, 'Free')
  await store.write(async (tx) => {
    await setPlan(tx, accountId, free)
    await setMarketingPlan(tx, accountId, findPlan(plans.marketing, 'Marketing Free'))
  })
  const body = { from: 'a@sender.test', to: 'b@example.com', subject: 'x', html: 'x' }
  await call('POST', '/v1/emails/send', { body })
  const text = await page()
  t.match(text, /1 of 3,000\. Counts again from 1 \w+/)
  t.match(text, `aria-label="Mails today">1 of ${free.dailyLimit}`)
  t.match(text, /<progress class="good" max="3000" value="1"/)
  t.match(text, '0 of 500', 'contacts')
  t.match(text, 'Free (yours)')
  await store.write((tx) => tx.updateTable('usage').set({ mails: 2_900 }).execute())
  t.match(await page(), /100 are left until 1 \w+, 00:00 UTC/)
  await store.write((tx) => tx.updateTable('usage').set({ mails: 3_000 }).execute())
  t.match(await page(), 'None is left')
})

t.test(
  'what is stopped is said, and who lets it go on; the operator’s words are not',
  async (t) => {
    await store.write((tx) => pauseMarketing(tx, accountId, 'complaint'))
    t.match(await page(), 'Marketing is paused because of complaints')
    await store.write((tx) => setBillingState(tx, accountId, 'past_due'))
    t.match(await page(), /A payment is due/)
    await store.write((tx) => suspend(tx, accountId, 'sells <lists>'))
    const text = await page()
    t.match(text, 'The account is suspended; contact the operator')
    t.match(text, '<span class="chip bad">suspended')
    t.notMatch(text, 'sells')
  },
)
