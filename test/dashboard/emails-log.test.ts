// Issue 15, point 2: the log of an account's mails: filters, search, pages, CSV, and who may see it.
import t from 'tap'
import { exportEmails } from '../../src/dashboard/emails/export.js'
import { logIn } from '../support/log-in.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { accountId } = posthorn
const base = `/a/${accountId}`
const viewer = await logIn(posthorn, accountId, 'viewer')
const mail = { from: 'Shop <shop@sender.test>', to: 'ann@one.test', subject: 's', html: '<p>x</p>' }
const sendOne = async (more: object) => {
  const { json, status } = await posthorn.send({ ...mail, ...more })
  if (status !== 200) throw new Error(JSON.stringify(json))
  return json.id as string
}
const hostile = `=HYPERLINK("http://evil.test","<b onclick=x>")`
const later = new Date(Date.now() + 3_600_000).toISOString()
const ids = {
  first: await sendOne({ subject: 'First' }),
  formula: await sendOne({ subject: hostile, to: 'bob@one.test' }),
  later: await sendOne({ subject: 'Later', scheduledAt: later }),
  bounced: await sendOne({ to: 'bounced@simulator.posthorn.test', subject: 'Bounced' }),
}
await posthorn.until(ids.bounced, ({ status }) => status === 'bounced')
for (const id of [ids.first, ids.formula]) {
  await posthorn.until(id, ({ status }) => status === 'delivered')
}

/** The ids of the mails that a page lists, in its order. */
const listed = (text: string) =>
  [...text.matchAll(/\/emails\/([0-9a-f-]{36})"/g)].map(([, id]) => id)

t.test('the log lists all mails, newest first, and each filter its own', async (t) => {
  const { first, formula, bounced } = ids
  const found = async (query: string) => {
    const { status, text } = await viewer.get(`${base}/emails${query}`)
    t.equal(status, 200, query)
    return listed(text)
  }
  t.same(await found(''), [bounced, ids.later, formula, first])
  t.same(await found('?status=bounced'), [bounced])
  t.same(await found('?status=scheduled'), [ids.later])
  t.same(await found('?status=delivered&range=1h'), [formula, first])
  t.same(await found('?q=BOB%40one.test'), [formula])
  t.same(await found(`?q=${encodeURIComponent(`<${first}@sender.test>`)}`), [first])
  t.same(await found(`?q=${first}@sender.test`), [first], 'a Message-ID without its brackets')
  t.same(await found('?q=BO'), [bounced, formula], 'how addresses begin')
  t.same(await found('?q=lATe'), [ids.later], 'a part of the subject')
  t.same(await found('?q=one.test'), [], 'no part within an address')
  t.same(await found('?type=marketing'), [])
  t.same(await found('?createdBefore=2020-01-01T00:00:00Z'), [])
})

t.test('a search by its id leads to the mail, in whatever case', async (t) => {
  const { status, to } = await viewer.get(`${base}/emails?q=${ids.first.toUpperCase()}`)
  t.equal(status, 303)
  t.equal(to, `${base}/emails/${ids.first}`)
  const none = await viewer.get(`${base}/emails?q=${accountId}`)
  t.match(none.text, 'No mail of this account has that id')
})

t.test('what cannot be searched for is said, with what was typed', async (t) => {
  for (const [query, says] of [
    ['q=%3Cb%3Eann', 'No such mail'],
    ['status=gone', 'status: Expected one or more of queued'],
    ['step=one', 'step needs automationId'],
    ['automationId=x', 'automationId: Expected a UUID'],
  ] as const) {
    const { status, text } = await viewer.get(`${base}/emails?${query}`)
    t.equal(status, 200)
    t.match(text, says, query)
    t.same(listed(text), [], query)
  }
  const wrong = await viewer.get(`${base}/emails?before=x`)
  t.equal(wrong.status, 400)
})

t.test('a page has fifty mails, and older ones follow without a gap or a repeat', async (t) => {
  const other = await posthorn.addAccount('Many')
  const ann = await logIn(posthorn, other.accountId, 'member')
  const domain = await posthorn.store.read
    .selectFrom('domains')
    .select('id')
    .executeTakeFirstOrThrow()
  const made = Array.from({ length: 120 }, () => posthorn.store.ids.uuid())
  await posthorn.store.write(async (tx) => {
    for (const id of made) {
      await tx
        .insertInto('emails')
        .values({
          id,
          account_id: other.accountId,
          domain_id: domain.id,
          body_id: null,
          from_header: 'a@many.test',
          to_list: '["r@one.test"]',
          reply_to: null,
          subject: id,
          type: 'transactional',
          topic_id: null,
          metadata: null,
          status: 'delivered',
          message_id: `<${id}@many.test>`,
          provider: 'primary',
          waiting: 0,
          delivered: 1,
          bounced: 0,
          failed: 0,
          opened_at: null,
          clicked_at: null,
          scheduled_at: null,
          sent_at: null,
          created_at: Date.now(),
          template: null,
          extras: null,
        })
        .execute()
    }
  })
  const seen: (string | undefined)[] = []
  let path: string | undefined = `/a/${other.accountId}/emails?status=delivered`
  const sizes: number[] = []
  while (path !== undefined) {
    const { text } = await ann.get(path)
    t.ok(text.length < 60_000, `${text.length} characters`)
    sizes.push(listed(text).length)
    seen.push(...listed(text))
    path = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&')
  }
  t.same(sizes, [50, 50, 20])
  t.same(seen, made.reverse())
})

t.test('the CSV has what fits, and no cell is a formula', async (t) => {
  const { text, headers } = await viewer.get(`${base}/emails.csv?status=delivered`)
  t.match(headers.get('content-type'), 'text/csv')
  t.match(headers.get('content-disposition'), 'attachment; filename="emails.csv"')
  const [head, formula = '', first = '', ...rest] = text.split('\r\n')
  t.match(head, /^id,createdAt,from,to,cc,bcc,subject,status,/)
  t.match(formula, `"'=HYPERLINK(""http://evil.test"",""<b onclick=x>"")"`)
  t.match(first, `${ids.first},`)
  t.same(rest, [''])
  t.equal((await viewer.get(`${base}/emails.csv?status=gone`)).status, 400)
  const rows = await posthorn.store.read.selectFrom('audit_log').selectAll().execute()
  const detail = JSON.stringify({ filter: 'status=delivered' })
  t.match(
    rows.filter(({ action }) => action === 'emails.export'),
    [{ account_id: accountId, name: /^viewer-/, detail }],
    'who took it away is in the log',
  )
})

t.test('an export that finds nothing can be ended, page by page', async (t) => {
  const { accountId } = await posthorn.addAccount('Long log')
  const { store } = posthorn
  const { id: domain_id } = await store.read
    .selectFrom('domains')
    .select('id')
    .executeTakeFirstOrThrow()
  const mailOf = () => {
    const id = store.ids.uuid()
    return {
      id,
      account_id: accountId,
      domain_id,
      body_id: null,
      subject: 's',
      reply_to: null,
      from_header: 'a@many.test',
      to_list: '["r@one.test"]',
      type: 'transactional' as const,
      topic_id: null,
      metadata: null,
      status: 'delivered' as const,
      template: null,
      message_id: `<${id}@many.test>`,
      provider: 'primary' as const,
      waiting: 0,
      delivered: 1,
      bounced: 0,
      failed: 0,
      opened_at: null,
      clicked_at: null,
      scheduled_at: null,
      sent_at: null,
      created_at: Date.now(),
      extras: null,
    }
  }
  for (let part = 0; part < 21; part++) {
    const mails = Array.from({ length: 500 }, mailOf)
    await store.write((tx) => tx.insertInto('emails').values(mails).execute())
  }
  const pieces = exportEmails(store.read, accountId, { domain: 'none.test' })
  t.match((await pieces.next()).value, /^id,/)
  t.same(await pieces.next(), { value: '', done: false }, 'after 10,000 mails')
  t.same(await pieces.next(), { value: '', done: false }, 'and at the end')
  t.ok((await pieces.next()).done)
})

t.test('what was written is shown and never run', async (t) => {
  const { text } = await viewer.get(`${base}/emails`)
  t.match(text, '&lt;b onclick=x&gt;')
  t.notMatch(text, '<b onclick')
})

t.test("another account's log is not there, and an empty one says what to do", async (t) => {
  const other = await posthorn.addAccount('Other')
  const bob = await logIn(posthorn, other.accountId, 'member')
  t.equal((await bob.get(`${base}/emails`)).status, 404)
  t.equal((await bob.get(`${base}/emails.csv`)).status, 404)
  const { text } = await bob.get(`/a/${other.accountId}/emails`)
  t.match(text, 'No mail yet')
  t.match(text, `/a/${other.accountId}/emails/new`)
  t.notMatch((await viewer.get(`${base}/emails`)).text, 'New mail', 'a viewer sends none')
})
