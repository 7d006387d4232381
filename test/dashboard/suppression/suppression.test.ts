import t, { type Test } from 'tap'
import { systemClock as clock } from '../../../src/clock/index.js'
import { suppressionPages } from '../../../src/dashboard/suppression/routes.js'
import { suppress, suppressionsOf } from '../../../src/suppression/index.js'
import { hostile, isTame, startAccountPages, type Who } from '../account-pages.js'

async function open(t: Test) {
  const rig = await startAccountPages(t, ({ account }, { store }) =>
    suppressionPages(account, { store, clock }),
  )
  const { store, accountId } = rig
  return {
    ...rig,
    of: (email: string) => suppressionsOf(store.read, accountId, email),
    put: (email: string, more: Partial<Parameters<typeof suppress>[2]> = {}, at = clock.now()) =>
      store.write((tx) => suppress(tx, accountId, { email, reason: 'manual', ...more }, at)),
  }
}

const usual = { reason: 'manual', scope: '', detail: '' }

t.test('addresses are added with a reason and a note, one a line', async (t) => {
  const { post, follow, of, noted, get } = await open(t)
  const emails = 'Ada@Example.com\r\n\r\nBob <bob@example.com>\r\n'
  const got = await post('/suppression/new', { ...usual, emails, detail: 'by phone' })
  t.match((await follow(got)).text, /2 addresses added/)
  t.match(await of('ada@example.com'), [{ reason: 'manual', scope: 'all', detail: 'by phone' }])
  t.equal((await of('bob@example.com')).length, 1)
  t.match(noted, [{ action: 'suppression.add', detail: { added: 2, known: 0 } }])
  const again = await post('/suppression/new', { ...usual, emails: 'ada@example.com' })
  t.match((await follow(again)).text, /0 addresses added; 1 already there/)
  t.match((await get('/suppression')).text, /ada@example\.com.*bob@example\.com/s)
})

t.test('one line that is no address keeps all of them in the form', async (t) => {
  const { post, of, noted } = await open(t)
  const got = await post('/suppression/new', { ...usual, emails: 'ada@example.com\nnobody' })
  t.equal(got.status, 422)
  t.match(got.text, /Line 2: .*nobody/)
  t.match(got.text, /ada@example\.com\nnobody/, 'what was typed')
  t.strictSame(await of('ada@example.com'), [])
  t.equal((await post('/suppression/new', { ...usual, emails: ' ' })).status, 422)
  t.equal((await post('/suppression/new', { emails: 'a@b.test', reason: 'mood' })).status, 422)
  t.strictSame(noted, [])
})

t.test(
  'an address tells why it is suppressed: the mail, the reply and what happened',
  async (t) => {
    const { store, accountId, put, get, post, follow, of, noted } = await open(t)
    const id = store.ids.uuid()
    const row = {
      id,
      account_id: accountId,
      domain_id: 'd',
      body_id: null,
      from_header: 'x@a.test',
    }
    await store.write((tx) =>
      tx
        .insertInto('emails')
        .values({
          ...row,
          to_list: '["gone@one.test"]',
          reply_to: null,
          subject: hostile,
          type: 'transactional',
          topic_id: null,
          metadata: null,
          status: 'bounced',
          message_id: `<${id}@a.test>`,
          provider: 'primary',
          waiting: 0,
          delivered: 0,
          bounced: 1,
          failed: 0,
          opened_at: null,
          clicked_at: null,
          scheduled_at: null,
          sent_at: null,
          created_at: 1,
        })
        .execute(),
    )
    const reply = `550 5.1.1 no such user ${hostile}`
    await put('gone@one.test', { reason: 'bounce', emailId: id, detail: reply })
    await put('gone@one.test', { reason: 'unsubscribe' })
    const { text, status } = await get('/suppression/address?email=Gone%40One.test')
    t.equal(status, 200)
    t.match(text, /all mail is held back/)
    t.match(text, /550 5\.1\.1 no such user &quot;&gt;&lt;img/)
    t.match(text, `/emails/${id}`)
    isTame(t, { text, status, headers: new Headers(), location: '' }, 'subject and reply')
    t.match(text, /What is known of it.*Unsubscribed.*Bounced/s, 'the newest first')

    const lifted = await post('/suppression/lift', { email: 'gone@one.test', reason: 'bounce' })
    t.match((await follow(lifted)).text, /taken off the list.*no marketing/s)
    t.match(await of('gone@one.test'), [{ reason: 'unsubscribe' }])
    t.match(noted, [{ action: 'suppression.remove', target: 'gone@one.test' }])
    t.match(
      (await get(lifted.location)).text,
      /taken off the suppression list \(bounce\) by somebody of your team/,
    )
    const twice = await post('/suppression/lift', { email: 'gone@one.test', reason: 'bounce' })
    t.equal(twice.status, 422)
    t.match(twice.text, /is not suppressed/)
  },
)

t.test('an address that is not suppressed says so, and what is none leads back', async (t) => {
  const { get, follow } = await open(t)
  const { text } = await get('/suppression/address?email=free@one.test')
  t.match(text, /not suppressed/)
  t.match(text, /suppression\/new\?email=free%40one\.test/)
  t.match((await get('/suppression/new?email=free@one.test')).text, /\nfree@one\.test<\/textarea>/)
  const wrong = await get(`/suppression/address?email=${encodeURIComponent(hostile)}`)
  t.equal(wrong.status, 303)
  isTame(t, await follow(wrong), 'the message')
})

t.test('a file is imported, or only looked at, and its faults are told by line', async (t) => {
  const { post, of, noted } = await open(t)
  const body = `email,reason\nada@example.com,bounce\n${hostile.slice(2)},\n'=sum@example.com,complaint\n`
  const form = (more: Record<string, string> = {}) => {
    const data = new FormData()
    for (const [name, value] of Object.entries({ ...usual, ...more })) data.set(name, value)
    data.set('file', new Blob([body]), `${hostile}.csv`)
    return data
  }
  const trial = await post('/suppression/import', form({ trial: 'on' }))
  t.match(trial.text, /Would be added.*2.*Left out.*1/s)
  t.strictSame(await of('ada@example.com'), [])
  const done = await post('/suppression/import', form())
  t.equal(done.status, 200)
  t.match(done.text, /Added.*2/s)
  isTame(t, done, 'the file name and the faults')
  t.match(await of('ada@example.com'), [{ reason: 'bounce' }])
  t.equal(
    (await of('=sum@example.com')).length,
    1,
    'the apostrophe of an export is none of the address',
  )
  t.match(noted.at(-1), { action: 'suppression.import', detail: { added: 2, known: 0, faults: 1 } })
  const empty = new FormData()
  empty.set('reason', 'manual')
  const refused = await post('/suppression/import', empty)
  t.equal(refused.status, 422)
  t.match(refused.text, /Choose a file/)
})

t.test('the export is a file that no spreadsheet takes for formulas', async (t) => {
  const { put, get, noted } = await open(t)
  await put('=cmd@example.com', { detail: '@sum(1), "x"' })
  const { text, headers } = await get('/suppression.csv', 'viewer')
  t.match(headers.get('content-disposition'), 'attachment; filename="suppression.csv"')
  t.match(text, /^email,reason,scope,.*\r\n"'=cmd@example\.com",manual,all,,"'@sum\(1\), ""x""",/)
  t.match(
    noted,
    [{ action: 'suppression.export', actor: { userId: 'viewer' } }],
    'it is in the log',
  )
})

t.test('the list goes on by keys, of one reason too, and searches exactly', async (t) => {
  const { put, get } = await open(t)
  for (let made = 10; made < 70; made++) {
    await put(`a${made}@example.com`, { reason: made % 2 === 0 ? 'bounce' : 'manual' })
  }
  const next = (text: string) =>
    (/href="([^"]*after=[^"]*)"/.exec(text)?.[1] ?? '').replace('&amp;', '&')
  const first = await get('/suppression')
  t.match(first.text, /a10@.*a59@/s)
  t.notMatch(first.text, /a60@/)
  t.ok(first.text.length < 60_000, `${first.text.length} bytes`)
  const second = await get(next(first.text))
  t.match(second.text, /a60@.*a69@/s)
  t.notMatch(second.text, /a59@/)
  const bounced = await get('/suppression?reason=bounce')
  t.match(bounced.text, /a10@.*a68@/s)
  t.notMatch(bounced.text, /a11@/)
  t.equal(
    (
      await get(
        `/suppression?reason=bounce&after=${new URLSearchParams(next(first.text).split('?')[1]).get('after')}`,
      )
    ).status,
    400,
  )
})

t.test('viewers look, strangers see nothing, and nobody else adds or lifts', async (t) => {
  const { get, post, put, of, otherId } = await open(t)
  await put('ada@example.com')
  const statuses: Record<string, number> = {}
  for (const who of ['owner', 'member', 'operator', 'viewer', 'stranger', 'nobody'] as Who[]) {
    statuses[who] = (await get('/suppression', who)).status
  }
  const outside = { stranger: 404, nobody: 303 }
  t.strictSame(statuses, { owner: 200, member: 200, operator: 200, viewer: 200, ...outside })
  t.notMatch((await get('/suppression', 'viewer')).text, /Add addresses/)
  t.notMatch(
    (await get('/suppression/address?email=ada@example.com', 'viewer')).text,
    /<button class="danger">/,
  )
  t.match(
    (await get(`/a/${otherId}/suppression/address?email=ada@example.com`, 'stranger')).text,
    /not suppressed/,
  )
  for (const path of ['/suppression/new', '/suppression/import', '/suppression/lift']) {
    for (const who of ['operator', 'viewer'] as Who[]) {
      t.equal((await post(path, { email: 'ada@example.com' }, who)).status, 403, `${who} ${path}`)
    }
  }
  const theirs = `/a/${otherId}/suppression/lift`
  t.equal((await post(theirs, { email: 'ada@example.com' }, 'stranger')).status, 422)
  t.equal((await of('ada@example.com')).length, 1)
})
