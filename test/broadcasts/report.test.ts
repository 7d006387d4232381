// Issue 44: what became of a campaign, and the people behind each number.
import t from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { broadcastReport, pageOfPeople, whoNames } from '../../src/broadcasts/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { recordConsent } from '../../src/consent/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { keepReason } from '../../src/preferences/reason.js'
import { fakeMx } from '../support/fake-mx.js'
import { aboutSqlite } from '../support/postgres.js'
import { directTo, startPosthorn } from '../support/posthorn.js'
import { collectStatements, planOf } from '../support/statements.js'

t.setTimeout(60_000)

const mx = await fakeMx(t, {
  rcpt: (to) =>
    to.startsWith('gone') ? `550 5.1.1 <${to}>: no such user (1a2b3c4d5e6f7)` : '250 OK',
})
const direct = directTo(mx)
const env = { ...direct.env, POSTHORN_HTTP_PUBLIC_URL: 'https://mail.test' }
const posthorn = await startPosthorn(t, { ...direct, env })
const { call, store, accountId } = posthorn
const [plan = null] = loadPlans(packageFile('config/plans.toml')).marketing.slice(-1)
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const list = (await call('POST', '/v1/contacts/lists', { body: { name: 'Readers' } })).json.id
for (const name of ['ann', 'bob', 'cat', 'gone1', 'gone2']) {
  await call('POST', `/v1/contacts/${list}`, { body: { email: `${name}@x.test` } })
}
const campaign = {
  listId: list,
  from: 'a@sender.test',
  subject: 'News',
  // A picture, so that it could be seen who opens it.
  html: '<img src="https://shop.test/a.png" alt=""><p><a href="https://shop.test/sale">Sale</a> <a href="https://shop.test/new">New</a></p>',
}
const until = async <T>(look: () => Promise<T>, is: (seen: T) => boolean): Promise<T> => {
  for (;;) {
    const seen = await look()
    if (is(seen)) return seen
    await new Promise((resolve) => setTimeout(resolve, 30))
  }
}
const send = async () => {
  const { id } = (await call('POST', '/v1/broadcasts', { body: campaign })).json
  const report = async () => (await call('GET', `/v1/broadcasts/${id}/report`)).json
  await until(
    report,
    ({ status, progress, total }) =>
      status === 'sent' && total.delivered + total.bouncedHard === progress.recipients,
  )
  return { id, report }
}
const emailsOf = async (id: string, query: string) => {
  const { json, status } = await call('GET', `/v1/broadcasts/${id}/recipients?${query}`)
  return status === 200 ? json.recipients.map(({ email }: { email: string }) => email) : status
}

const { id, report } = await send()

t.test('the report tells what servers said, and the people behind each number', async (t) => {
  const seen = await report()
  t.match(seen, {
    subject: 'News',
    status: 'sent',
    progress: { recipients: 5, waiting: 0, delivered: 3, bounced: 2 },
    total: { delivered: 3, bouncedHard: 2, openedUnique: 0, rates: { delivery: 0.6, bounce: 0.4 } },
    reasons: [{ number: 1, kind: 'bounced', words: '550 5.1.1 <…>: no such user (…)', count: 2 }],
    links: [],
    compared: [],
  })
  t.equal(
    seen.overTime.reduce((sum: number, { delivered }: { delivered: number }) => sum + delivered, 0),
    3,
  )
  t.match(seen.providers, [{ provider: 'x.test', delivered: 3, bouncedHard: 2 }])
  const { json } = await call('GET', `/v1/broadcasts/${id}/recipients?who=unreached&reason=1`)
  t.match(
    json.recipients.toSorted((a: { email: string }, b: { email: string }) =>
      a.email < b.email ? -1 : 1,
    ),
    [
      { email: 'gone1@x.test', status: 'bounced', reason: /<gone1@x.test>: no such user \(1a2b/ },
      { email: 'gone2@x.test' },
    ],
    'word for word',
  )
  t.same(await emailsOf(id, 'who=unreached&reason=2'), [])
  t.same((await emailsOf(id, 'who=bounced')).length, 2)
  t.same(await emailsOf(id, 'who=failed'), [])
  t.same((await emailsOf(id, 'who=delivered')).length, 3)
  t.same((await emailsOf(id, 'who=not_opened')).length, 3)
})

t.test('people and machines, links, and who left', async (t) => {
  // As the recorder writes them once a person has come.
  const land = makeLandEvents([])
  const rows = await store.read
    .selectFrom('deliveries')
    .innerJoin('emails', 'emails.id', 'deliveries.email_id')
    .select(['deliveries.id', 'email_id', 'recipient'])
    .where('broadcast_id', '=', id)
    .execute()
  const eventOf = (name: string, type: 'opened' | 'clicked', detail: object) => {
    const row = rows.find(({ recipient }) => recipient === `${name}@x.test`)
    if (row === undefined) throw new Error(`no mail to ${name}`)
    const { id: deliveryId, email_id: emailId, recipient } = row
    const told = { accountId, emailId, deliveryId, recipient, type, detail }
    return { ...told, class: 2 as const, at: Date.now(), reply: null }
  }
  const sale = { url: 'https://shop.test/sale' }
  await store.write((tx) =>
    land(tx, [
      eventOf('ann', 'opened', { first: true }),
      eventOf('ann', 'opened', {}),
      eventOf('ann', 'clicked', { first: true, ...sale }),
      eventOf('bob', 'opened', { machine: true, sign: 'x' }),
      eventOf('bob', 'clicked', { machine: true, sign: 'x', ...sale }),
      eventOf('cat', 'opened', { first: true }),
    ]),
  )
  const left = rows.find(({ recipient }) => recipient === 'cat@x.test')
  await store.write((tx) =>
    recordConsent(tx, accountId, 'cat@x.test', {
      at: Date.now(),
      kind: 'unsubscribed',
      detail: { emailId: left?.email_id ?? '' },
    }),
  )
  const emailId = left?.email_id
  const target = { accountId, address: 'cat@x.test', emailId }
  await keepReason({ store, clock }, target, { reason: 'too_many', words: 'daily' })
  // They come back, leave again and say it again, and then something else.
  for (const kind of ['lifted', 'unsubscribed'] as const) {
    const again = { at: Date.now(), kind, detail: { emailId: emailId ?? '' } }
    await store.write((tx) => recordConsent(tx, accountId, 'cat@x.test', again))
  }
  await keepReason({ store, clock }, target, { reason: 'too_many', words: 'daily' })
  t.same((await report()).whyLeft, [{ reason: 'too_many', said: 1 }], 'each person once')
  await keepReason({ store, clock }, target, { reason: 'other', words: 'I have moved' })
  t.same((await report()).whyLeft, [{ reason: 'other', said: 1 }], 'with their last answer')
  const seen = await until(report, ({ total }) => total.unsubscribed === 1 && total.clicked === 1)
  t.same(await emailsOf(id, 'who=left&why=other'), ['cat@x.test'])
  for (const { json } of [
    await call('GET', '/v1/broadcasts'),
    await call('GET', `/v1/broadcasts/${id}`),
  ]) {
    t.equal((json.broadcasts?.[0] ?? json).stats.left, 1)
  }
  t.same(await emailsOf(id, 'who=left&why=too_many'), [])
  t.equal(await emailsOf(id, 'who=opened&why=other'), 400)
  const { json: left1 } = await call('GET', `/v1/broadcasts/${id}/recipients?who=left`)
  t.match(left1.recipients, [{ email: 'cat@x.test', whyLeft: 'other', words: 'I have moved' }])
  t.match(seen.total, {
    opened: 3,
    openedUnique: 2,
    openedByMachines: 1,
    clickedUnique: 1,
    clickedByMachines: 1,
    unsubscribed: 1,
  })
  t.match(seen.links, [
    { number: 1, url: 'https://shop.test/sale', people: 1, clicked: 1, clickedByMachines: 1 },
  ])
  t.same((await emailsOf(id, 'who=opened')).toSorted(), ['ann@x.test', 'cat@x.test'])
  t.same(await emailsOf(id, 'who=clicked'), ['ann@x.test'])
  t.same(await emailsOf(id, 'who=clicked&link=1'), ['ann@x.test'])
  t.same(await emailsOf(id, 'who=clicked&link=2'), [])
  t.same(await emailsOf(id, 'who=left'), ['cat@x.test'])
  // As the recorder marks the mail of who clicks without loading the pixel.
  const clicking = rows.find(({ recipient }) => recipient === 'bob@x.test')?.email_id ?? ''
  const mark = (at: number | null) =>
    store.write((tx) =>
      tx.updateTable('emails').set({ clicked_at: at }).where('id', '=', clicking).execute(),
    )
  const unopened = await emailsOf(id, 'who=not_opened')
  t.ok(unopened.includes('bob@x.test'))
  await mark(Date.now())
  const others = unopened.filter((email: string) => email !== 'bob@x.test')
  t.same(await emailsOf(id, 'who=not_opened'), others, 'who clicks has it open')
  await mark(null)
  t.same(await emailsOf(id, 'who=complained'), [])
  t.equal(await emailsOf(id, 'who=opened&link=1'), 400)
  t.equal(await emailsOf(id, 'link=1'), 400)
  t.equal(await emailsOf(id, 'who=opened&status=sent'), 400)
  const first = (await call('GET', `/v1/broadcasts/${id}/recipients?who=opened&limit=1`)).json
  t.equal(first.hasMore, true)
  const rest = `who=opened&limit=1&cursor=${first.nextCursor}`
  t.equal((await emailsOf(id, rest)).length, 1)
  t.equal(await emailsOf(id, `who=clicked&cursor=${first.nextCursor}`), 400)
})

t.test('it is compared with those before, and is the account’s alone', async (t) => {
  const next = await send()
  const seen = await next.report()
  t.match(seen.compared, [{ id, subject: 'News', recipients: 5, rates: { delivery: 0.6 } }])
  t.match(seen.progress, { recipients: 3 }, 'who bounced gets none')
  t.equal(seen.compared.length, 1)
  const { apiKey: key } = await posthorn.addAccount('Stranger')
  t.equal((await call('GET', `/v1/broadcasts/${id}/report`, { key })).status, 404)
})

t.test('reports and people are searched for by indexes alone', aboutSqlite, async (t) => {
  const statements = collectStatements(t)
  await broadcastReport({ store, tracking: undefined }, accountId, id)
  for (const who of whoNames) await pageOfPeople(store.read, id, { who, limit: 5 })
  await pageOfPeople(store.read, id, { who: 'clicked', link: 1, limit: 5 })
  t.ok(statements.size > 10)
  for (const text of [...statements]) {
    const plan = (await planOf(store.read, text)).join('\n')
    t.notMatch(plan, /SCAN (?!json_each|CONSTANT|\(subquery|list|VIRTUAL)/, text)
    if (!text.includes('group by')) t.notMatch(plan, /TEMP B-TREE/, text)
  }
})
