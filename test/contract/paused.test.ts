// interface.md: 503 account paused; decisions.md: Errors, Account protection.
import t from 'tap'
import { makeEffects } from '../../src/app/effects.js'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import type { MailEvent } from '../../src/events/index.js'
import { unpause } from '../../src/protection/index.js'
import type { QueueClass } from '../../src/store/index.js'
import { startPosthorn } from '../support/posthorn.js'

const config = loadConfig({ env: {} })
const plans = loadPlans(packageFile('config/plans.toml'))
const good = { from: 'a@sender.test', to: 'ann@example.com', subject: 'x', html: '<p>x</p>' }

t.test('the request after the event is refused: 503 for all mail, 403 for marketing', async (t) => {
  const posthorn = await startPosthorn(t)
  const { store, accountId } = posthorn
  await store.write((tx) =>
    setMarketingPlan(tx, accountId, findPlan(plans.marketing, 'Marketing Plus')),
  )
  // As another thread's: not by this server's connection to the database.
  const land = makeEffects(config, plans)
  let told = 0
  const lands = (count: number, type: 'delivered' | 'complained', of: QueueClass) => {
    const events = Array.from({ length: count }, (): MailEvent => {
      told++
      return {
        accountId,
        emailId: `email-${told}`,
        deliveryId: told,
        class: of,
        type,
        at: Date.now(),
        recipient: `r${told}@example.org`,
        reply: null,
        detail: { evidence: 'dkim loop.example' },
      }
    })
    return store.write((tx) => land(tx, events))
  }
  const send = (body: object = {}) => posthorn.send({ ...good, ...body })
  const post = (path: string, body: object) => posthorn.call('POST', `/v1/emails/${path}`, { body })
  const transactional = () =>
    Promise.all([send(), post('batch', { emails: [good, good] }), post('ussd', good)])

  await lands(2_500, 'delivered', 2)
  await lands(2, 'complained', 2)
  t.equal((await send({ type: 'marketing' })).status, 200, 'fewer than 0.1 % pause nothing')
  await lands(1, 'complained', 2)
  const marketing = await send({ type: 'marketing' })
  t.match(marketing, {
    status: 403,
    json: { code: 'account_paused', error: /^Marketing is paused/ },
  })
  for (const { status } of await transactional()) t.equal(status, 200)

  await lands(10, 'complained', 0)
  const refusal = { code: 'account_paused', reason: 'complaint', error: /^All sending is paused/ }
  for (const answer of [...(await transactional()), await send({ type: 'marketing' })]) {
    t.match(answer, { status: 503, json: refusal })
  }
  const order = { accountId, who: 'ada', note: null, now: Date.now(), settings: config.protection }
  await store.write((tx) => unpause(tx, order))
  for (const { status } of await transactional()) t.equal(status, 200)
  t.equal((await send({ type: 'marketing' })).status, 200)
})
