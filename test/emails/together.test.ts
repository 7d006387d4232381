import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { findPlan, readUsage, setPlan } from '../../src/billing/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { acceptBatch, acceptEmail, type EmailDeps } from '../../src/emails/index.js'
import { ApiError } from '../../src/errors/index.js'
import { suppress } from '../../src/suppression/index.js'
import { attachmentRules } from '../support/attachment-rules.js'
import { openCampaigns, plans } from '../support/campaigns.js'
import { poison } from '../support/poison.js'
import { aboutSqlite } from '../support/postgres.js'
import { countStatements } from '../support/statements.js'

const mail = { from: 'News <news@sender.test>', to: 'a@one.test', subject: 'Hi', html: '<p>x</p>' }

async function open(t: Test) {
  const rig = await openCampaigns(t)
  const { store, clock, accountId } = rig
  const { retry, maxQueued } = loadConfig({ env: {} }).outbound
  const deps: EmailDeps = {
    clock,
    store,
    log: rig.log,
    renderer: rig.renderer,
    plans,
    backlog: rig.backlog,
    attachments: attachmentRules,
    defaultCountry: 'NG',
    retry,
    maxQueued,
    surges: { minimum: 0, times: 10 },
    ring: () => {},
  }
  return {
    rig,
    deps,
    store,
    accountId,
    other: async () => {
      const { id } = await createAccount({ store, clock }, 'Other')
      const key = makeApplianceKey(Buffer.alloc(32, 7))
      await addDomain({ ...rig, key }, id, 'sender.test', { trust: true })
      return id
    },
    used: async (id = accountId) => (await readUsage(store.read, id, clock.now())).dayMails,
    mails: async () => {
      const query = store.read.selectFrom('emails').select(['id', 'status', 'waiting', 'body_id'])
      return await query.orderBy('id').execute()
    },
    queued: async () => {
      const rows = await store.read.selectFrom('queue').select('recipient').orderBy('id').execute()
      return rows.map(({ recipient }) => recipient)
    },
  }
}

const codes = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.map((one) => (one.status === 'fulfilled' ? 'accepted' : one.reason.code))

t.test('mails that come together cost a part of a statement each', async (t) => {
  const { deps, accountId, queued } = await open(t)
  await acceptEmail(deps, accountId, mail)
  const counts = countStatements(t)
  for (const count of [50, 10]) {
    counts.clear()
    await Promise.all(
      Array.from({ length: count }, (_, i) =>
        acceptEmail(deps, accountId, { ...mail, to: `r${i}@one.test` }),
      ),
    )
    const made = [...counts.values()].reduce((sum, times) => sum + times, 0)
    // No more than for one, but for the sizes in which rows are inserted: 50 = 32 + 16 + 2.
    t.ok(made > 0, 'they are seen')
    t.ok(made <= 20, `${made} statements for ${count} mails`)
  }
  t.equal((await queued()).length, 61)
})

// They reach the database in the order of the calls only where what they look up is answered at once.
t.test('of mails that come together each is refused for itself', aboutSqlite, async (t) => {
  const { deps, rig, store, accountId, other, used, mails, queued } = await open(t)
  const second = await other()
  const plan = findPlan(plans.email, 'Starter')
  const { dailyLimit: limit } = plan
  if (limit === null) throw new Error('The plan has a daily cap')
  const today = new Date(rig.clock.now()).toISOString().slice(0, 10)
  const before = { account_id: accountId, period: today, mails: limit - 4, campaign_mails: 0 }
  await store.write(async (tx) => {
    await setPlan(tx, accountId, plan)
    await tx.insertInto('usage').values(before).execute()
    await suppress(tx, accountId, { email: 'gone@one.test', reason: 'manual' }, rig.clock.now())
  })
  const isFirst = new ApiError('concurrent_idempotent_request', 'Another was first')
  const to = (...recipients: string[]) => ({ ...mail, to: recipients.map((r) => `${r}@one.test`) })
  const results = await Promise.allSettled([
    acceptEmail(deps, accountId, to('a', 'gone')),
    acceptEmail(deps, accountId, to('gone')),
    acceptEmail(deps, second, to('gone')),
    acceptEmail(deps, accountId, to('b'), () => Promise.reject(isFirst)),
    acceptEmail(deps, accountId, to('c', 'd')),
    acceptBatch(deps, accountId, { items: [to('e'), to('f')] }),
    acceptEmail(deps, accountId, to('g')),
    acceptEmail(deps, accountId, to('h')),
  ])
  const full = 'daily_quota_exceeded'
  const expected = ['accepted', 'accepted', 'accepted', isFirst.code, 'accepted']
  t.same(codes(results), [...expected, full, 'accepted', full])
  t.match(results[5], { reason: { fields: { canSend: 0 } } })
  t.match(results[7], { reason: { fields: { dailyLimit: limit, dailySent: limit } } })
  const expectedTo = ['a', 'c', 'd', 'g', 'gone'].map((r) => `${r}@one.test`)
  t.same((await queued()).sort(), expectedTo)
  t.equal(await used(), limit)
  t.equal(await used(second), 1)
  const states = (await mails()).map(({ status, waiting }) => `${status} ${waiting}`)
  t.same(states.sort(), ['queued 1', 'queued 1', 'queued 1', 'queued 2', 'suppressed 0'])
})

t.test('a write that runs again has all of its mails, which are let go of after it', async (t) => {
  const { deps, store, accountId } = await open(t)
  await poison(store, 'insert on queue', "new.recipient = 'bad@one.test'", 'rollback')
  const items = ['a', 'b'].map((name) => ({ ...mail, to: `${name}@one.test`, html: `<p>${name}` }))
  const results = await Promise.allSettled([
    acceptBatch(deps, accountId, { items }),
    acceptEmail(deps, accountId, { ...mail, to: 'bad@one.test' }),
    acceptEmail(deps, accountId, { ...mail, text: 'in words' }),
  ])
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  t.same(items, [], 'nothing of the batch is held')
  const bodies = await store.read
    .selectFrom('bodies')
    .select(['html', 'text'])
    .orderBy('html')
    .execute()
  t.same(bodies, [
    { html: '<p>a', text: null },
    { html: '<p>b', text: null },
    { html: mail.html, text: 'in words' },
  ])
})

t.test('equal bodies of one request are one row, of two requests two', async (t) => {
  const { deps, accountId, mails, other } = await open(t)
  await Promise.all([
    acceptBatch(deps, accountId, { items: [mail, mail] }),
    acceptEmail(deps, accountId, mail),
    acceptEmail(deps, await other(), mail),
  ])
  const bodies = new Set((await mails()).map((row) => row.body_id))
  t.equal(bodies.size, 3)
})
