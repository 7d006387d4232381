// interface.md: Campaigns, Campaign status, Marketing usage; decisions.md: test campaign limit, preview.
import PostalMime from 'postal-mime'
import t from 'tap'
import {
  findPlan,
  loadPlans,
  pauseMarketing,
  setMarketingPlan,
  suspend,
  unsuspend,
} from '../../src/billing/index.js'
import { pauseBroadcast } from '../../src/broadcasts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { suppress } from '../../src/suppression/index.js'
import { createTopic, optOut, updateTopic } from '../../src/topics/index.js'
import { copiedMail } from '../support/copied-mail.js'
import { fakeMx } from '../support/fake-mx.js'
import { directTo, startPosthorn } from '../support/posthorn.js'

const mx = await fakeMx(t, {
  rcpt: (to) => (to.includes('gone') ? '550 5.1.1 No such user' : '250 OK'),
})
const posthorn = await startPosthorn(t, directTo(mx))
const { store, accountId } = posthorn
const clock = systemClock
const plans = loadPlans(packageFile('config/plans.toml'))
const nobody = '01900000-0000-7000-8000-000000000000'
const inAnHour = () => new Date(clock.now() + 3_600_000).toISOString()

const call = (one: string, body?: object, headers: Record<string, string> = {}) => {
  const [method = '', path = ''] = one.split(' ')
  return posthorn.call(method, path, { headers, ...(body && { body }) })
}
const messagesTo = (to: string) => mx.messages.filter((message) => message.to[0] === to)

/** A list of these addresses, each called by its local part. */
async function listOf(...emails: string[]): Promise<string> {
  const { json } = await call('POST /v1/contacts/lists', { name: 'Readers' })
  for (const email of emails) {
    const contact = { email, firstName: email.split('@')[0], metadata: { town: 'Lagos' } }
    await call(`POST /v1/contacts/${json.id}`, contact)
  }
  return json.id
}
const readers = await listOf('ann@x.test', 'bob@x.test', 'gone@x.test')
const good = {
  listId: readers,
  from: 'News <news@sender.test>',
  subject: 'For {{ firstName | default: "you" }}',
  html: '<body><p>Hi {{firstName}} of {{ town }}</p></body>',
}
const create = (more: object = {}, headers = {}) =>
  call('POST /v1/broadcasts', { ...good, ...more }, headers)
const detail = async (id: string) => (await call(`GET /v1/broadcasts/${id}`)).json
async function until(id: string, status: string) {
  for (;;) {
    const found = await detail(id)
    if (found.status === status) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

t.test('without a marketing plan: 402 { error, upgrade }', async (t) => {
  const refusal = { status: 402, json: { code: String, error: String, upgrade: 'marketing' } }
  t.match(await create(), refusal)
  t.match(await call('POST /v1/broadcasts/test', { ...good, to: 'a@sender.test' }), refusal)
  t.match((await call('GET /v1/broadcasts/plan/usage')).json, {
    plan: { name: 'Marketing Free', maxMarketingContacts: 500 },
    subscribed: false,
  })
  await store.write((tx) =>
    setMarketingPlan(tx, accountId, findPlan(plans.marketing, 'Marketing Plus')),
  )
})

t.test('sent at once: each gets a mail of their own, and the figures tell the rest', async (t) => {
  const made = await create({ name: 'Week 47' })
  t.same(made.json, { id: made.json.id, status: 'sending', recipientCount: 3 })
  const done = await until(made.json.id, 'sent')
  const raw = messagesTo('ann@x.test')[0]?.raw
  const mail = await PostalMime.parse(raw ?? '')
  t.match(mail, { subject: 'For ann', html: /Hi ann of Lagos/, text: /Hi ann of Lagos/ })
  await store.write((tx) =>
    tx.updateTable('broadcasts').set({ opened: 1, clicked: 1 }).where('id', '=', done.id).execute(),
  )
  const item = {
    id: made.json.id,
    name: 'Week 47',
    subject: good.subject,
    status: 'sent',
    pausedReason: null,
    pausedBy: null,
    failedReason: null,
    waitsFor: null,
    listId: readers,
    audience: { lists: [readers], segments: [], withoutLists: [], withoutSegments: [] },
    topicId: null,
    recipientCount: 3,
    scheduledAt: null,
    sentAt: done.sentAt,
    createdAt: done.createdAt,
    stats: {
      recipients: 3,
      delivered: 2,
      bounced: 1,
      opened: 1,
      clicked: 1,
      left: 0,
      openRate: 50,
      clickRate: 50,
    },
  }
  const none = { openedAt: null, clickedAt: null, opensCount: 0, clicksCount: 0 }
  const shown = await detail(made.json.id)
  shown.recipients.sort((a: { email: string }, b: { email: string }) =>
    a.email < b.email ? -1 : 1,
  )
  t.same(shown, {
    ...item,
    from: good.from,
    previewText: null,
    blocks: null,
    rate: null,
    window: null,
    localTimeOf: null,
    notice: null,
    archive: false,
    variants: [],
    variantTest: null,
    replyTo: [],
    headers: {},
    tags: [],
    warnings: [],
    attachments: [],
    progress: {
      waiting: 0,
      relayed: 0,
      failed: 0,
      suppressed: 0,
      cancelled: 0,
      waitsForRoom: false,
    },
    recipients: [
      { email: 'ann@x.test', status: 'delivered', ...none },
      { email: 'bob@x.test', status: 'delivered', ...none },
      { email: 'gone@x.test', status: 'bounced', ...none },
    ],
  })
  t.same((await call('GET /v1/broadcasts')).json, {
    broadcasts: [item],
    hasMore: false,
    nextCursor: null,
  })
  t.match((await call(`POST /v1/broadcasts/${item.id}/cancel`)).json, { code: 'conflict' })
})

t.test('a preview counts who is reachable, and shows some of them masked', async (t) => {
  const topic = await createTopic({ store, clock }, accountId, { name: 'Books' })
  const listId = await listOf('émile@x.test', 'left@x.test', ...sequence(6))
  const { id } = topic
  await store.write((tx) => optOut(tx, accountId, { topicId: id, address: 'left@x.test' }, 1_000))
  await store.write((tx) =>
    suppress(tx, accountId, { email: 'n0@x.test', reason: 'unsubscribe' }, 1_000),
  )
  const whole = await call('POST /v1/broadcasts/preview', { listId })
  t.match(whole, { status: 200, json: { recipientCount: 7, note: String } })
  const scoped = await call('POST /v1/broadcasts/preview', { listId, topicId: topic.id })
  t.equal(scoped.json.recipientCount, 6)
  t.same(scoped.json.sample, ['é***@x.test', ...Array(4).fill('n***@x.test')])
  const empty = await call('POST /v1/broadcasts/preview', { listId: await listOf() })
  t.match(empty.json, { recipientCount: 0, sample: [] })
})
const sequence = (count: number) => Array.from({ length: count }, (_, n) => `n${n}@x.test`)

t.test('a scheduled one waits, and can be cancelled until it is dispatched', async (t) => {
  const scheduledAt = inAnHour()
  const { json } = await create({ scheduledAt })
  const { id } = json
  t.same(json, { id, status: 'scheduled', scheduledAt, estimatedRecipients: 2 }, 'gone is bounced')
  t.match(await detail(id), { status: 'scheduled', sentAt: null, recipients: [] })
  const cancelled = { id, status: 'cancelled', message: 'Campaign cancelled' }
  t.same((await call(`POST /v1/broadcasts/${id}/cancel`)).json, cancelled)
  t.match(await call(`POST /v1/broadcasts/${id}/cancel`), { status: 409 })
  t.match(await call(`POST /v1/broadcasts/${id}/send`), { status: 409 })
  const paused = (await create({ scheduledAt })).json.id
  const row = await store.read
    .selectFrom('broadcasts')
    .selectAll()
    .where('id', '=', paused)
    .executeTakeFirstOrThrow()
  await pauseBroadcast({ store, clock }, row, { reason: 'ask first' })
  t.match(await detail(paused), { status: 'paused', pausedReason: 'ask first' })
  t.match(await call(`POST /v1/broadcasts/${paused}/cancel`), { status: 200 })
})

t.test('a draft is sent when it is told to, at its time if that is to come', async (t) => {
  const { json } = await create({ draft: true })
  t.same(json, { id: json.id, status: 'draft', estimatedRecipients: 2 })
  const sent = await call(`POST /v1/broadcasts/${json.id}/send`)
  t.same(sent.json, { id: json.id, status: 'sending', recipientCount: 2 })
  t.match(await until(json.id, 'sent'), { stats: { delivered: 2 } })
  const scheduledAt = inAnHour()
  const later = (await create({ draft: true, scheduledAt })).json.id
  t.same((await call(`POST /v1/broadcasts/${later}/send`)).json, {
    id: later,
    status: 'scheduled',
    scheduledAt,
    estimatedRecipients: 2,
  })
  const { json: empty } = await call('POST /v1/contacts/lists', { name: 'Later' })
  const early = await create({ draft: true, listId: empty.id })
  t.match(early.json, { status: 'draft', estimatedRecipients: 0 })
  t.match(await call(`POST /v1/broadcasts/${early.json.id}/send`), {
    status: 400,
    json: { error: /^Nobody on the list/ },
  })
  const dropped = (await create({ draft: true })).json.id
  t.match(await call(`POST /v1/broadcasts/${dropped}/cancel`), { status: 200 })
})

t.test('of many recipients the first 1,000 are shown', async (t) => {
  const { json } = await create({ draft: true })
  const email = await copiedMail(store.read)
  const broadcast = { broadcast_id: json.id }
  const rows = Array.from({ length: 1_001 }, () => ({
    ...email,
    ...broadcast,
    id: store.ids.uuid(),
  }))
  await store.write(async (tx) => {
    for (const row of rows) await tx.insertInto('emails').values(row).execute()
  })
  const { recipients } = await detail(json.id)
  t.equal(recipients.length, 1_000)
})

t.test('a repeat with the same key makes no second campaign', async (t) => {
  const key = { 'idempotency-key': 'week-48' }
  const scheduledAt = inAnHour()
  const first = await create({ scheduledAt }, key)
  const again = await create({ scheduledAt }, key)
  t.same(again.json, first.json)
  t.equal(again.headers.get('idempotency-replay'), 'true')
  t.match(await create({ scheduledAt, name: 'x' }, key), { status: 409 })
})

t.test('pages follow each other, newest first', async (t) => {
  const all = (await call('GET /v1/broadcasts')).json.broadcasts.map(({ id }: { id: string }) => id)
  const paged: string[] = []
  for (let cursor = ''; ; ) {
    const { json } = await call(`GET /v1/broadcasts?limit=3${cursor}`)
    paged.push(...json.broadcasts.map(({ id }: { id: string }) => id))
    t.equal(json.hasMore, json.nextCursor !== null)
    if (!json.hasMore) break
    cursor = `&cursor=${json.nextCursor}`
  }
  t.ok(all.length > 6)
  t.same(paged, all)
  t.same(all, all.toSorted().toReversed())
  t.match(await call('GET /v1/broadcasts?cursor=x'), { status: 400 })
})

t.test('what is refused', async (t) => {
  const { json: other } = await call('POST /v1/contacts/lists', { name: 'Empty' })
  const topic = await createTopic({ store, clock }, accountId, { name: 'Old' })
  await updateTopic({ store }, accountId, topic.id, { archived: true })
  for (const [more, status, error] of [
    [{ listId: other.id }, 400, /^Nobody on the list/],
    [{ listId: nobody }, 404, /list/],
    [{ listId: 'x' }, 404, /list/],
    [{ topicId: nobody }, 404, /topic/],
    [{ topicId: "no'body" }, 404, /topic/],
    [{ listId: 'x', draft: true }, 404, /list/],
    [{ topicId: topic.id }, 409, /archived/],
    [{ from: 'a@elsewhere.test' }, 400, /not verified/],
    [{ scheduledAt: '2020-01-01T00:00:00Z' }, 400, /past/],
    [{ html: '{{ firstName' }, 422, /^The campaign has a syntax error/],
    [
      { subject: ' {{firstName}} ' },
      422,
      /empty without firstName; .* \{\{ firstName \| default: "Hello" \}\} \(subject\)$/,
    ],
    [{ subject: '{{ unsubscribe_url }}' }, 422, /subject is empty/],
  ] as const) {
    t.match(await create(more), { status, json: { code: String, error } })
  }
  for (const more of [
    { subject: 'é'.repeat(201) },
    { subject: 'a\r\nBcc: x' },
    { subject: ' ' },
    { html: '' },
    { listId: 7 },
    { listId: null },
    { topicId: 7 },
    { draft: 'yes' },
    { name: 7 },
    { replyTo: 'nobody' },
  ]) {
    const path = [Object.keys(more)[0]]
    t.match(await create(more), {
      status: 400,
      json: { success: false, error: { issues: [{ path }] } },
    })
  }
  const longest = await create({ subject: '😀'.repeat(200), scheduledAt: inAnHour() })
  t.equal(longest.status, 200)
})

t.test("another account's campaign is a 404", async (t) => {
  const { apiKey: key } = await posthorn.addAccount('Other')
  const { json } = await create({ scheduledAt: inAnHour() })
  const get = { key }
  t.match(await posthorn.call('GET', `/v1/broadcasts/${json.id}`, get), { status: 404 })
  for (const verb of ['send', 'cancel']) {
    const answer = await posthorn.call('POST', `/v1/broadcasts/${json.id}/${verb}`, get)
    t.match(answer, { status: 404 })
  }
  t.same((await posthorn.call('GET', '/v1/broadcasts', get)).json.broadcasts, [])
})

const test = (more: object = {}, headers = {}) =>
  call('POST /v1/broadcasts/test', { ...good, to: 'me@sender.test', ...more }, headers)

t.test('a test is the real mail to a mailbox of one’s own', async (t) => {
  t.match(await test({ to: 'me@x.test' }), { status: 403, json: { code: 'forbidden' } })
  t.match(await test({ to: 'me@sub.sender.test' }), { status: 403 })
  const person = {
    id: 'ada',
    email: 'Ada@home.test',
    address: 'ada@home.test',
    name: 'Ada',
    password: null,
    totp_secret: null,
    totp_step: 0,
    disabled_at: null,
    last_login_at: null,
    operator: 0,
    created_at: 1,
    proved_at: 1,
  } as const
  await store.write((tx) => tx.insertInto('users').values(person).execute())
  t.match(await test({ to: 'ada@HOME.test' }), { status: 403 }, 'of no team of the account')
  const member = { user_id: 'ada', account_id: accountId, role: 'viewer', created_at: 1 } as const
  await store.write((tx) => tx.insertInto('memberships').values(member).execute())
  const toMember = await test({ to: 'Ada <ada@HOME.test>' })
  t.match(toMember, { status: 200, json: { message: 'Test campaign sent' } })
  await posthorn.until(toMember.json.id, ({ status }) => status === 'delivered')
  t.equal(messagesTo('ada@home.test').length, 1)
  await store.write((tx) => tx.updateTable('users').set({ disabled_at: 2 }).execute())
  t.match(await test({ to: 'ada@home.test' }), { status: 403 }, 'who may not log in any more')
  await store.write((tx) => tx.deleteFrom('memberships').execute())
  await store.write((tx) => tx.deleteFrom('broadcast_tests').execute())
  const key = { 'idempotency-key': 'test-1' }
  const { json } = await test({}, key)
  t.same(json, { id: json.id, message: 'Test campaign sent' })
  t.same((await test({}, key)).json, json)
  await posthorn.until(json.id, ({ status }) => status === 'delivered')
  const sent = messagesTo('me@sender.test')
  t.equal(sent.length, 1)
  const mail = await PostalMime.parse(sent[0]?.raw ?? '')
  t.match(mail, { subject: 'For you', html: /Hi {2}of/ })
  t.match(mail.html, /unsubscribe/i)
  t.ok(mail.headers.some(({ key }) => key === 'list-unsubscribe-post'))

  await listOf('Me@sender.test')
  const known = await test()
  await posthorn.until(known.json.id, ({ status }) => status === 'delivered')
  t.match(await PostalMime.parse(messagesTo('me@sender.test')[1]?.raw ?? ''), {
    subject: 'For Me',
    html: /Hi Me of Lagos/,
  })
  await store.write((tx) =>
    suppress(tx, accountId, { email: 'out@sender.test', reason: 'unsubscribe' }, 1_000),
  )
  const out = await test({ to: 'out@sender.test' })
  t.match(out.json.message, /^Nothing was sent/)
  t.match(await posthorn.email(out.json.id), { status: 'suppressed' })
})

t.test('twenty tests an hour; what was not sent does not count', async (t) => {
  const sentAt = clock.now() - 3_000_000
  const counted = async () =>
    (await store.read.selectFrom('broadcast_tests').select('id').execute()).length
  t.equal(await counted(), 2)
  const rows = Array.from({ length: 17 }, (_, id) => ({
    id,
    account_id: accountId,
    sent_at: sentAt,
  }))
  await store.write((tx) => tx.insertInto('broadcast_tests').values(rows).execute())
  t.equal((await test()).status, 200)
  const refused = await test()
  t.match(refused, { status: 429, json: { code: 'rate_limit_exceeded' } })
  const wait = Number(refused.headers.get('retry-after'))
  t.ok(wait > 500 && wait <= 600, String(wait))
  t.equal(await counted(), 20)
  await store.write((tx) =>
    tx.updateTable('broadcast_tests').set({ sent_at: 1 }).where('sent_at', '=', sentAt).execute(),
  )
  t.equal((await test()).status, 200)
  t.equal(await counted(), 4, 'the old ones are forgotten')
  const ahead = clock.now() + 5_000_000_000
  const later = rows.map((row) => ({ ...row, id: row.id + 100, sent_at: ahead }))
  await store.write((tx) => tx.insertInto('broadcast_tests').values(later).execute())
  t.equal((await test()).status, 200, 'nor do those count that a clock ahead has dated')
  t.equal(await counted(), 5)
})

t.test('a stopped account’s campaign that is sending shows as paused, and why', async (t) => {
  const { json } = await create({ scheduledAt: inAnHour() })
  const row = { status: 'sending', expanded: 1, waiting: 1 } as const
  await store.write((tx) =>
    tx.updateTable('broadcasts').set(row).where('id', '=', json.id).execute(),
  )
  const shown = async () => {
    const { status, pausedReason } = await detail(json.id)
    const { paused, pausedReason: why } = (await call('GET /v1/broadcasts/plan/usage')).json
    const [first] = (await call('GET /v1/broadcasts?limit=1')).json.broadcasts
    t.same([first.status, first.pausedReason], [status, pausedReason])
    if (status !== 'scheduled') t.equal(why, pausedReason)
    return [status, paused, pausedReason]
  }
  t.same(await shown(), ['sending', false, null])
  await store.write((tx) => pauseMarketing(tx, accountId, 'complaint'))
  t.match(await shown(), ['paused', true, /complaints/])
  t.match(await create(), { status: 403, json: { code: 'account_paused' } })
  await store.write((tx) => suspend(tx, accountId, 'a secret note'))
  t.same(await shown(), ['paused', true, 'The account is suspended; contact the operator'])
  t.match(await create(), { status: 403, json: { code: 'account_suspended' } })
  const change = (values: { status: 'scheduled' | 'cancelled'; scheduled_at?: number }) =>
    store.write((tx) =>
      tx.updateTable('broadcasts').set(values).where('id', '=', json.id).execute(),
    )
  await change({ status: 'scheduled' })
  t.equal((await shown())[0], 'scheduled', 'its time has not come')
  await change({ status: 'scheduled', scheduled_at: clock.now() - 1 })
  t.equal((await shown())[0], 'paused')
  // Or it would be dispatched now.
  await change({ status: 'cancelled' })
  await store.write((tx) => unsuspend(tx, accountId))
  const free = { paused: null, marketing_paused: null }
  await store.write((tx) => tx.updateTable('subscriptions').set(free).execute())
})

t.test('the free plan has a monthly cap, which the usage shows', async (t) => {
  const free = findPlan(plans.marketing, 'Marketing Free')
  await store.write((tx) => setMarketingPlan(tx, accountId, free))
  const usage = { campaign_mails: 1_999 }
  await store.write((tx) => tx.updateTable('usage').set(usage).execute())
  const refused = await create()
  t.match(refused, {
    status: 402,
    json: { code: 'plan_limit_exceeded', limit: 2_000, used: 1_999, plan: 'Marketing Free' },
  })
  const { json } = await call('GET /v1/broadcasts/plan/usage')
  const now = new Date()
  t.same(json, {
    plan: { id: free.id, name: 'Marketing Free', priceNaira: 0, maxMarketingContacts: 500 },
    subscribed: true,
    contacts: json.contacts,
    contactLimit: 500,
    monthlySendLimit: 2_000,
    sentThisMonth: 1_999,
    unlimitedSends: false,
    periodEnd: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString(),
    paused: false,
    pausedReason: null,
  })
  t.ok(json.contacts > 5)
})
