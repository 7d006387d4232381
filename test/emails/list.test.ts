// Issue 'For developers', 2: which mails there are, by filters, page by page.
import { spawnSync } from 'node:child_process'
import type { Compilable } from 'kysely'
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { candidates } from '../../src/emails/candidates.js'
import { listEmails } from '../../src/emails/index.js'
import type { EmailStatus, Read, Store } from '../../src/store/index.js'
import { openCampaigns } from '../support/campaigns.js'
import { aboutSqlite } from '../support/postgres.js'
import { startPosthorn } from '../support/posthorn.js'
import { cliEntry } from '../support/process.js'
import { queryPlan } from '../support/query-plan.js'
import { openTestStore } from '../support/store.js'

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const plan = findPlan(loadPlans(packageFile('config/plans.toml')).marketing, 'Marketing Pro')
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const made = async (path: string, body: object) => {
  const { json, status } = await posthorn.call('POST', path, { body })
  if (status >= 300) throw new Error(JSON.stringify(json))
  return json.id as string
}
const mail = { from: 'Shop <shop@sender.test>', to: 'ann@one.test', subject: 's', html: '<p>x</p>' }
const topicId = await made('/v1/topics', { name: 'News' })
const later = new Date(Date.now() + 3_600_000).toISOString()
const ids = {
  plain: await made('/v1/emails/send', mail),
  copies: await made('/v1/emails/send', {
    ...mail,
    cc: 'cleo@two.test',
    bcc: ['Dan <dan@Bücher.test>'],
  }),
  tagged: await made('/v1/emails/send', { ...mail, tags: [{ name: 'kind', value: 'a:b' }] }),
  other: await made('/v1/emails/send', { ...mail, from: 'news@sender.test', to: 'bob@one.test' }),
  topic: await made('/v1/emails/send', { ...mail, type: 'marketing', topicId }),
  later: await made('/v1/emails/send', { ...mail, scheduledAt: later }),
  cancelled: await made('/v1/emails/send', { ...mail, scheduledAt: later }),
  bounced: await made('/v1/emails/send', { ...mail, to: 'bounced@simulator.posthorn.test' }),
}
await posthorn.call('DELETE', `/v1/emails/${ids.cancelled}/cancel`)
await posthorn.until(ids.bounced, ({ status }) => status === 'bounced')
for (const id of [ids.plain, ids.copies, ids.tagged, ids.other, ids.topic]) {
  await posthorn.until(id, ({ status }) => status === 'delivered')
}
const all = Object.values(ids).reverse()
const ask = async (query: string) => await posthorn.call('GET', `/v1/emails?${query}`)
const found = async (query: string): Promise<string[]> => {
  const { json, status } = await ask(query)
  t.equal(status, 200, JSON.stringify(json))
  return json.emails.map(({ id }: { id: string }) => id)
}

t.test('each filter finds its mails, newest first', async (t) => {
  const { plain, copies, tagged, other, topic, later, cancelled, bounced } = ids
  for (const [query, expected] of [
    ['', all],
    ['status=delivered', [topic, other, tagged, copies, plain]],
    ['status=bounced', [bounced]],
    ['status=bounced,cancelled', [bounced, cancelled]],
    ['status=scheduled,bounced', [bounced, later]],
    ['status=failed', []],
    ['to=bob@one.test', [other]],
    ['to=Bob%20<bob@ONE.test>', [other]],
    ['to=BOB@one.test', [other]],
    ['to=cleo@two.test', [copies]],
    ['to=dan@xn--bcher-kva.test', [copies]],
    ['from=News@sender.test', [other]],
    ['domain=SENDER.test&limit=3', all.slice(0, 3)],
    ['domain=else.test', []],
    ['type=marketing', [topic]],
    [`topicId=${topicId.toUpperCase()}`, [topic]],
    ['tag=kind:a:b', [tagged]],
    ['tag=kind:a', []],
    ['tag=kind:a:b&status=bounced', []],
    // Each is one mail, however often its status is asked for.
    ['status=bounced,bounced', [bounced]],
    ['template=none', []],
    [`broadcastId=${topicId}`, []],
    ['to=ann@one.test&type=transactional&status=delivered', [tagged, copies, plain]],
    [`messageId=${encodeURIComponent(`<${plain}@sender.test>`)}`, [plain]],
    [`messageId=${plain}@sender.test`, [plain]],
    [`messageId=${plain}@else.test`, []],
    [`automationId=${topicId}`, []],
    [`automationId=${topicId}&step=one`, []],
    ['createdAfter=2020-01-01T00:00:00Z', all],
    ['createdBefore=2020-01-01T00:00:00Z', []],
    ['createdAfter=2089-01-01T00:00:00Z', []],
  ] as const) {
    t.same(await found(query), expected, query)
  }
  const { createdAt } = await posthorn.email(other)
  t.ok((await found(`createdAfter=${createdAt}`)).includes(other), 'from this time on')
  t.notOk((await found(`createdBefore=${createdAt}`)).includes(other), 'before this time')
  t.ok((await found(`createdBefore=${createdAt}`)).includes(plain))
})

t.test(
  'a mail of the list is that of its own endpoint, without what is long or looked up',
  async (t) => {
    const { json } = await ask('tag=kind:a:b')
    const {
      recipients,
      metadata,
      held,
      headers,
      replyTo,
      attachments,
      contentDeleted,
      warnings,
      ...rest
    } = await posthorn.email(ids.tagged)
    t.same(json, { emails: [rest], hasMore: false, nextCursor: null })
  },
)

t.test(
  'pages follow one another without a gap or a repeat, and a cursor is of one list',
  async (t) => {
    for (const filter of ['', 'status=delivered', 'to=ann@one.test', 'type=transactional']) {
      const whole = await found(filter)
      const seen: string[] = []
      let cursor = ''
      for (let pages = 0; pages < 20; pages++) {
        const { json } = await ask(`${filter}&limit=2${cursor}`)
        t.ok(json.emails.length <= 2)
        seen.push(...json.emails.map(({ id }: { id: string }) => id))
        t.equal(json.hasMore, json.nextCursor !== null)
        if (!json.hasMore) break
        cursor = `&cursor=${json.nextCursor}`
      }
      t.same(seen, whole, filter)
    }
    const { nextCursor } = (await ask('limit=1')).json
    t.equal((await ask(`limit=1&cursor=${nextCursor}`)).status, 200)
    const error = 'The cursor does not belong to this list'
    const refused = { status: 400, json: { code: 'validation_error', error } }
    t.match(await ask(`status=sent&cursor=${nextCursor}`), refused)
    t.match(await ask('cursor=x'), refused)
  },
)

t.test('what is no filter is refused, and says what would be one', async (t) => {
  for (const query of [
    'status=gone',
    'status=',
    'status=sent,',
    'to=nobody',
    'from=',
    'type=bulk',
    'tag=kind',
    'tag=:x',
    'createdAfter=2026-11-21',
    'createdBefore=soon',
    'limit=0',
    'limit=501',
    'template=',
    'domain=',
    'topicId=x',
    'broadcastId=4711',
  ]) {
    const { status, json } = await ask(query)
    t.equal(status, 400, query)
    t.match(json.error.issues[0].message, /^Expected /)
  }
})

t.test("another account's mails are nobody's", async (t) => {
  const { apiKey: key } = await posthorn.addAccount('Other')
  for (const query of ['', 'tag=kind:a:b', 'to=ann@one.test', 'status=bounced']) {
    const { json } = await posthorn.call('GET', `/v1/emails?${query}`, { key })
    t.same(json, { emails: [], hasMore: false, nextCursor: null })
  }
})

t.test('campaigns and templates are found by their mails, and on the command line', async (t) => {
  const rig = await openCampaigns(t, { store, accountId, clock: systemClock })
  await rig.addMany(3)
  const campaign = await rig.create({ tags: [{ name: 'issue', value: '7' }] })
  await rig.expand()
  for (const query of [`broadcastId=${campaign.id}`, 'tag=issue:7']) {
    const { json } = await ask(query)
    t.equal(json.emails.length, 3)
    for (const one of json.emails) {
      t.match(one, { broadcastId: campaign.id, tags: [{ name: 'issue', value: '7' }] })
    }
  }
  const cli = (...args: string[]) =>
    spawnSync(process.execPath, [cliEntry, ...args, '--data', posthorn.dataDir], {
      encoding: 'utf8',
      input: '<p>Hello</p>',
    })
  t.equal(
    cli('template', 'put', 'hello', '--account', 'Test', '--html', '-', '--subject', 'Hi').status,
    0,
  )
  const id = await made('/v1/emails/send', { from: mail.from, to: mail.to, template: 'hello' })
  t.match((await ask('template=hello')).json, {
    emails: [{ id, template: 'hello', subject: 'Hi' }],
  })
  const listed = cli('email', 'list', '--account', 'Test', '--template', 'hello')
  t.match(listed.stdout, new RegExp(`^ID .*\\n${id} .* ann@one\\.test +Hi\\n$`))
  const args = ['--account', 'Test', '--tag', 'kind:a:b', '--status', 'delivered', '--json']
  t.same(
    JSON.parse(cli('email', 'list', ...args).stdout),
    (await ask('tag=kind:a:b&status=delivered')).json,
    'to the letter what the API answers',
  )
  const more = cli('email', 'list', '--account', 'Test', '--limit', '1')
  t.match(more.stderr, 'There are more')
  const wrong = cli('email', 'list', '--account', 'Test', '--status', 'gone')
  t.match(wrong.stderr, /It must be\s+one or more of queued/)
  t.equal(wrong.status, 2)
})

/** Mails of two accounts, every hundredth bounced. */
async function fill(store: Store, mails: number): Promise<string> {
  const accountId = store.ids.uuid()
  const other = store.ids.uuid()
  await store.write(async (tx) => {
    for (let i = 0; i < mails; i++) {
      const id = store.ids.uuid()
      const status: EmailStatus = i % 100 === 50 ? 'bounced' : 'delivered'
      await tx
        .insertInto('emails')
        .values({
          id,
          account_id: i % 2 === 0 ? accountId : other,
          domain_id: 'd',
          body_id: null,
          from_header: 'a@sender.test',
          to_list: `["r${i}@one.test"]`,
          reply_to: null,
          subject: 's',
          type: 'transactional',
          topic_id: null,
          metadata: null,
          status,
          message_id: `<${id}@sender.test>`,
          provider: 'primary',
          waiting: 0,
          delivered: 1,
          bounced: 0,
          failed: 0,
          opened_at: null,
          clicked_at: null,
          scheduled_at: null,
          sent_at: null,
          created_at: systemClock.now(),
        })
        .execute()
    }
  })
  return accountId
}

t.test('a filter that fits few looks at a bounded number of mails, and goes on', async (t) => {
  const store = await openTestStore(t)
  const accountId = await fill(store, 3_000)
  const few = { to: 'r0@one.test' }
  const page = (before?: string) =>
    listEmails(store.read, accountId, { from: 'nobody@x.test' }, { limit: 5, before, most: 1_000 })
  const first = await page()
  t.match(first, { emails: [], next: String })
  t.same(await page(first.next), { emails: [], next: undefined }, 'the account has 1,500')
  const oldest = await listEmails(store.read, accountId, few, { limit: 5 })
  t.equal(oldest.emails.length, 1)
  t.same(
    (await listEmails(store.read, accountId, { status: ['bounced'] }, { limit: 100 })).emails
      .length,
    30,
  )
})

t.test(
  'every look is a search by an index, in order and without sorting',
  aboutSqlite,
  async (t) => {
    const store = await openTestStore(t)
    const broadcastId = store.ids.uuid()
    for (const [filter, indexes] of [
      [{}, ['emails_account']],
      [{ status: ['delivered'] }, ['emails_account']],
      [{ status: ['bounced', 'failed'] }, ['emails_rare', 'emails_rare']],
      [{ status: ['scheduled'] }, ['emails_scheduled_account']],
      [{ template: 'hello' }, ['emails_template']],
      [{ steps: new Set([1, 2]) }, ['emails_automation', 'emails_automation']],
      [{ messageId: '<a@b.test>' }, ['emails_account', 'sqlite_autoindex_emails_1']],
      [{ broadcastId }, ['emails_broadcast']],
      [{ tag: { name: 'a', value: 'b' } }, ['sqlite_autoindex_emails_1']],
      [{ createdAfter: 1, createdBefore: 2, type: 'marketing' }, ['emails_account']],
      [{ to: 'ann@one.test' }, ['emails_account', 'sqlite_autoindex_emails_1']],
    ] as [Parameters<typeof candidates>[2], string[]][]) {
      const plans = await plansOf(store.read, (read) =>
        candidates(read, 'account', filter, { below: undefined, limit: 10 }),
      )
      const name = JSON.stringify(filter)
      for (const plan of plans) {
        // One row, and the list of ids that was found; of the entries the first alone is read.
        const few = /SCAN (?:recipient_index|json_each|recipient_entries)\b/.test(plan)
        t.ok(few || !/SCAN|TEMP B-TREE/.test(plan), `${name}: ${plan}`)
      }
      for (const index of indexes) t.match(plans.join('\n'), index, name)
    }
  },
)

/** The plans of all that is asked of the database meanwhile. */
async function plansOf(read: Read, work: (read: Read) => Promise<unknown>) {
  const asked: Compilable[] = []
  const executor = read.getExecutor()
  const { compileQuery } = executor
  executor.compileQuery = ((...args: Parameters<typeof compileQuery>) => {
    const compiled = compileQuery.apply(executor, args)
    asked.push({ compile: () => compiled } as never)
    return compiled
  }) as typeof compileQuery
  try {
    await work(read)
  } finally {
    executor.compileQuery = compileQuery
  }
  return (await Promise.all(asked.map((one) => queryPlan(read, one)))).flat()
}
