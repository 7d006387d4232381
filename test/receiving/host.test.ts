import t from 'tap'
import { findPlan, loadPlans, suspend, unsuspend } from '../../src/billing/index.js'
import { addRule, startReceiving } from '../support/receiving.js'

t.setTimeout(300_000)

t.test('a rule and the question where mail goes say what a server would hear', async (t) => {
  const posthorn = await startReceiving(t)
  const { call, store, accountId } = posthorn
  const where = async (local: string) =>
    (await call('GET', `/v1/receiving/where?address=${local}%40in.sender.test`)).json
  const rule = (pattern: string, action = 'store') =>
    addRule(posthorn, { pattern: `${pattern}@in.sender.test`, action })
  t.match(await where('postmaster'), { taken: true, rule: null, why: /operator/ })
  t.match(await rule('*'), { place: 1, note: null })
  t.match(await rule('a', 'webhook'), { place: 1, note: null }, 'before what takes all')
  t.match(await rule('a'), { place: 2, note: 'Never reached: rule 1 takes its mail first' })
  const free = findPlan(loadPlans('config/plans.toml').email, 'Free')
  await store.write((tx) =>
    tx
      .updateTable('subscriptions')
      .set({ plan_id: free.id })
      .where('account_id', '=', accountId)
      .execute(),
  )
  if (!free.webhooks) t.match(await where('a'), { taken: true, why: /^It is stored.*No webhook/ })
  await store.write((tx) => suspend(tx, accountId, 'a test'))
  t.match(await where('b'), { taken: false, why: /^The mailbox is suspended/ })
  await store.write((tx) => unsuspend(tx, accountId))
  const day = new Date().setUTCHours(0, 0, 0, 0)
  const spent = { holder: `received ${accountId}`, span: 86_400_000, at: day, mails: 1_000_000 }
  await store.write((tx) => tx.insertInto('handed_in').values(spent).execute())
  t.match(await where('b'), { taken: false, why: /^The mailbox takes no more mail today/ })
  await store.write((tx) => tx.updateTable('domains').set({ status: 'pending' }).execute())
  t.match(await where('b'), { taken: false, why: 'The domain sender.test is not verified' })
  const { rules } = (await call('GET', '/v1/receiving/rules')).json
  t.equal(rules[0].note, 'Not in force: sender.test is not verified')
  const posed = await call('POST', '/v1/receiving/rules', {
    body: { pattern: 'x@in.sender.test', action: 'forward', forwardTo: 'a@localhost' },
  })
  t.match(posed.json, { field: 'forwardTo', error: /"a@localhost" is no address/ })
})

t.test('a host receives for one account alone, of those that are verified', async (t) => {
  const posthorn = await startReceiving(t)
  const { call, store } = posthorn
  const { apiKey: key } = await posthorn.addAccount('Other')
  const added = await call('POST', '/v1/domains', { key, body: { name: 'in.sender.test' } })
  t.equal(added.status, 201)
  const at = `/v1/domains/${added.json.id}`
  const receive = (receivingHost: string) => call('PATCH', at, { key, body: { receivingHost } })
  t.match(await receive('sender.test'), { status: 422, json: { field: 'receivingHost' } })
  t.match(await receive('in.sender.test'), {
    status: 409,
    json: { error: 'Mail to in.sender.test is received by another account already' },
  })
  // Whoever is not verified keeps nobody from it.
  const [holder] = (await call('GET', '/v1/domains')).json.domains
  await store.write((tx) =>
    tx.updateTable('domains').set({ status: 'pending' }).where('id', '=', holder.id).execute(),
  )
  t.match(await receive('in.sender.test'), { json: { receivingHost: 'in.sender.test' } })
  t.equal((await call('GET', `/v1/domains/${holder.id}`)).json.receivingHost, null)
})
