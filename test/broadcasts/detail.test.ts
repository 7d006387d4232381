// Issue 'For developers' 1: what a campaign was given is shown.
import t from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { runCli } from '../cli/run.js'
import { startPosthorn } from '../support/posthorn.js'

const { call, store, accountId } = await startPosthorn(t)
const plan = loadPlans('config/plans.toml').marketing.at(-1) ?? null
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const listId = (await call('POST', '/v1/contacts/lists', { body: { name: 'Readers' } })).json.id
const draft = {
  listId,
  from: 'News <a@sender.test>',
  subject: 'News',
  html: '<p>x</p>',
  draft: true,
}
const shown = async (more: object) => {
  const { json } = await call('POST', '/v1/broadcasts', { body: { ...draft, ...more } })
  return (await call('GET', `/v1/broadcasts/${json.id}`)).json
}

t.test('a campaign shows its sender, and all that was given for its mails', async (t) => {
  const given = {
    replyTo: ['help@sender.test', 'Desk <desk@sender.test>'],
    headers: { 'X-Season': 'winter' },
    tags: [{ name: 'season', value: 'winter' }],
  }
  const attachments = [
    { filename: 'a.txt', content: 'aGVsbG8=' },
    { filename: 'logo.png', content: 'aGVs', contentType: 'image/png', contentId: 'logo' },
  ]
  const campaign = await shown({ ...given, attachments })
  t.match(campaign, { from: draft.from, ...given, status: 'draft' })
  t.same(campaign.attachments, [
    {
      filename: 'a.txt',
      contentType: 'text/plain',
      size: 5,
      contentId: null,
      disposition: 'attachment',
    },
    {
      filename: 'logo.png',
      contentType: 'image/png',
      size: 3,
      contentId: 'logo',
      disposition: 'inline',
    },
  ])
})

t.test('a campaign whose mails cannot be made says that there is no room', async (t) => {
  const full = await startPosthorn(t, { env: { POSTHORN_OUTBOUND_MAX_QUEUED: '1' } })
  await full.store.write((tx) => setMarketingPlan(tx, full.accountId, plan))
  const list = (await full.call('POST', '/v1/contacts/lists', { body: { name: 'All' } })).json.id
  await full.call('POST', `/v1/contacts/${list}`, { body: { email: 'ann@example.test' } })
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const mail = { from: 'a@sender.test', to: 'b@example.test', subject: 's', html: '<p>x</p>' }
  t.equal((await full.send({ ...mail, scheduledAt })).status, 200)
  const body = { ...draft, listId: list, draft: false }
  const { json } = await full.call('POST', '/v1/broadcasts', { body })
  const found = async () => (await full.call('GET', `/v1/broadcasts/${json.id}`)).json
  t.match(await found(), { status: 'sending', progress: { waitsForRoom: true } })
  const show = await runCli(['broadcast', 'show', json.id, '--data', full.dataDir])
  t.match(show.stdout, /\nNot made yet +1, and they wait: The queue is full: 1 deliveries wait/)
  const told = await runCli(['broadcast', 'show', json.id, '--json', '--data', full.dataDir])
  t.same(JSON.parse(told.stdout), await found(), 'to the letter what the API answers')
  t.match(told.stderr, 'Its mails wait: The queue is full')
  await full.store.write((tx) => tx.deleteFrom('queue').execute())
})

t.test('a campaign waits for room before single mails are refused', async (t) => {
  const nearly = await startPosthorn(t, { env: { POSTHORN_OUTBOUND_MAX_QUEUED: '501' } })
  await nearly.store.write((tx) => setMarketingPlan(tx, nearly.accountId, plan))
  const list = (await nearly.call('POST', '/v1/contacts/lists', { body: { name: 'All' } })).json.id
  await nearly.call('POST', `/v1/contacts/${list}`, { body: { email: 'ann@example.test' } })
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const mail = { from: 'a@sender.test', subject: 's', html: '<p>x</p>', scheduledAt }
  for (const to of ['b@example.test', 'c@example.test']) {
    t.equal((await nearly.send({ ...mail, to })).status, 200)
  }
  const body = { ...draft, listId: list, draft: false }
  const { json } = await nearly.call('POST', '/v1/broadcasts', { body })
  const { progress } = (await nearly.call('GET', `/v1/broadcasts/${json.id}`)).json
  t.equal(progress.waitsForRoom, true)
  const args = ['broadcast', 'show', json.id, '--json', '--data', nearly.dataDir]
  t.match((await runCli(args)).stderr, 'Its mails wait: The queue is nearly full')
  await nearly.store.write((tx) => tx.deleteFrom('queue').execute())
})

t.test('a campaign without any of it shows that it has none', async (t) => {
  const none = { replyTo: [], headers: {}, tags: [], attachments: [] }
  const { from, replyTo, headers, tags, attachments } = await shown({})
  t.same({ from, replyTo, headers, tags, attachments }, { from: draft.from, ...none })
  t.same((await shown({ replyTo: 'help@sender.test' })).replyTo, ['help@sender.test'])
})
