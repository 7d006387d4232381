// interface.md: POST /v1/emails/send, GET /v1/emails/:id, Body shapes by status, Limits.
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const good = {
  from: 'Shop <orders@sender.test>',
  to: 'ann@example.com',
  subject: 'Your order',
  html: '<p>Thanks</p>',
}
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const stored = async () => {
  const count = (table: 'emails' | 'queue' | 'bodies') =>
    posthorn.store.read
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
  return [(await count('emails')).n, (await count('bodies')).n]
}

t.test('200 immediate: { id, message }, and the mail is delivered', async (t) => {
  const answer = await posthorn.send({ ...good, metadata: { order: 7 }, unknown: 'ignored' })
  t.equal(answer.status, 200)
  t.same(Object.keys(answer.json), ['id', 'message'])
  t.match(answer.json.id, uuid)
  t.match(answer.json.message, /queued/)
  const email = await posthorn.until(answer.json.id, (e) => e.status === 'delivered')
  t.match(email, {
    id: answer.json.id,
    from: 'Shop <orders@sender.test>',
    to: 'ann@example.com',
    subject: 'Your order',
    status: 'delivered',
    opensCount: 0,
    clicksCount: 0,
    openedAt: null,
    clickedAt: null,
    scheduledAt: null,
    sentAt: isoTime,
    createdAt: isoTime,
    messageId: `<${answer.json.id}@sender.test>`,
    provider: 'primary',
    type: 'transactional',
    topicId: null,
    metadata: { order: 7 },
    recipients: [
      {
        email: 'ann@example.com',
        status: 'delivered',
        attempts: 1,
        nextAttemptAt: null,
        reply: /^250 /,
        updatedAt: isoTime,
      },
    ],
  })
})

t.test('"to" is comma-joined when there are several, duplicates mailed once', async (t) => {
  const to = ['Ann <ann@example.com>', 'bob@example.com', 'ann@EXAMPLE.com', 'Ann@example.com']
  const { json } = await posthorn.send({ ...good, to })
  const email = await posthorn.until(json.id, (e) => e.status === 'delivered')
  t.equal(email.to, 'Ann <ann@example.com>, bob@example.com, Ann@example.com')
  t.equal(email.recipients.length, 3, 'local parts are exact, domains are not')
})

t.test('50 recipients are taken', async (t) => {
  const to = Array.from({ length: 50 }, (_, i) => `r${i}@example.com`)
  t.equal((await posthorn.send({ ...good, to })).status, 200)
})

t.test('too many recipients: 400 { error, count, max }', async (t) => {
  for (const length of [51, 2_000]) {
    const to = Array.from({ length }, (_, i) => `r${i}@example.com`)
    const { status, json } = await posthorn.send({ ...good, to })
    t.equal(status, 400)
    t.match(json, { code: 'validation_error', error: /51|2000/, count: length, max: 50 })
  }
})

t.test('invalid from: 400 { error, domain: "" }', async (t) => {
  for (const from of [
    '',
    'nobody',
    'a@',
    '@b.test',
    'a b@c.test',
    'x <a@b.test',
    'a@b.test, c@d.test',
    `${'n'.repeat(201)} <a@sender.test>`,
    'A\r\nBcc: x <a@sender.test>',
    'a\0@sender.test',
  ]) {
    const { status, json } = await posthorn.send({ ...good, from })
    t.equal(status, 400, JSON.stringify(from))
    t.same(Object.keys(json).sort(), ['code', 'domain', 'error'])
    t.match(json, { code: 'validation_error', domain: '' })
  }
})

t.test('sending domain not verified: 400 { error, domain } and the verified ones', async (t) => {
  for (const from of ['a@other.test', 'A <a@sub.sender.test>']) {
    const { status, json } = await posthorn.send({ ...good, from })
    t.equal(status, 400)
    t.match(json, {
      code: 'domain_not_verified',
      error: String,
      domain: /\.test$/,
      verifiedDomains: ['sender.test'],
    })
  }
})

t.test("another account's domain and mail are not there", async (t) => {
  const other = await posthorn.addAccount('Other')
  const sent = await posthorn.call('POST', '/v1/emails/send', { body: good, key: other.apiKey })
  t.match(sent, { status: 400, json: { code: 'domain_not_verified', verifiedDomains: [] } })
  const { json } = await posthorn.send(good)
  const foreign = await posthorn.call('GET', `/v1/emails/${json.id}`, { key: other.apiKey })
  t.match(foreign, { status: 404, json: { code: 'not_found', error: String } })
})

t.test('GET of an id that does not exist, or is none: 404', async (t) => {
  for (const id of [
    '01900000-0000-7000-8000-000000000000',
    'x',
    '1',
    "'--",
    '%00',
    'a'.repeat(3_000),
  ]) {
    const { status, json } = await posthorn.call('GET', `/v1/emails/${id}`)
    t.equal(status, 404)
    t.match(json, { code: 'not_found', error: String })
  }
})

// Each field wrong in every way that its type allows.
const wrong: [string, unknown[]][] = [
  ['from', [undefined, null, 1, true, [], {}]],
  [
    'to',
    [
      undefined,
      null,
      1,
      '',
      'nobody',
      [],
      {},
      'a@b',
      'a b@c.test',
      'x@y.test\r\nRCPT TO:<z@y.test>',
    ],
  ],
  [
    'to.1',
    [
      ['a@b.test', 'nobody'],
      ['a@b.test', 7],
      ['a@b.test', null],
      ['a@b.test', 'c\n@d.test'],
      ['a@b.test', ['c@d.test']],
    ],
  ],
  [
    'subject',
    [
      undefined,
      null,
      1,
      '',
      ' ',
      [],
      'a\r\nBcc: x@y.test',
      'a\nb',
      'a\0b',
      'a\u0007b',
      'a\u2028b',
      'é'.repeat(500),
    ],
  ],
  ['html', [1, '', {}, ['x'], 'a\0b', 'a\ud800b', 'x'.repeat(2 * 1024 * 1024 + 1)]],
  ['text', [1, {}, 'a\0b', 'x'.repeat(2 * 1024 * 1024 + 1)]],
  ['replyTo', [1, '', 'nobody', { a: 'a@b.test' }, 'a@b.test\r\nX: y', 'a@b.test, c@d.test']],
  ['metadata', [1, 'x', [], { x: 'y'.repeat(16 * 1024) }]],
  ['scheduledAt', [1, {}, []]],
  ['type', [1, '', 'bulk', []]],
  ['topicId', [1, [], {}]],
]
t.test(
  'a field that is wrong: 400 with the raw structure, naming it; nothing is stored',
  async (t) => {
    const before = await stored()
    for (const [path, values] of wrong) {
      const [field = ''] = path.split('.')
      for (const value of values) {
        const { status, json } = await posthorn.send({ ...good, [field]: value })
        // tap takes U+2028 in a name for the end of a line.
        const shown = `${path}: ${JSON.stringify(value)?.slice(0, 40).replace('\u2028', 'LS')}`
        t.equal(status, 400, shown)
        t.match(json, { success: false, error: { name: 'StructError' } }, shown)
        const [issue] = json.error.issues
        t.equal(issue.path.join('.'), path, shown)
        t.match(
          issue,
          { code: String, expected: String, received: String, message: /Expected / },
          shown,
        )
      }
    }
    t.same(await stored(), before)
  },
)

t.test('several wrong fields are all named', async (t) => {
  const { json } = await posthorn.send({ from: 1, to: [], subject: '', html: 3 })
  t.same(json.error.issues.map((issue: { path: string[] }) => issue.path[0]).sort(), [
    'from',
    'html',
    'subject',
    'to',
  ])
})

t.test('bodies that are no JSON object', async (t) => {
  const before = await stored()
  for (const body of [
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '{"from":}',
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    '['.repeat(100_000),
  ]) {
    const { status, json } = await posthorn.call('POST', '/v1/emails/send', { body })
    t.match(
      { status, json },
      { status: 400, json: { code: 'validation_error', error: String } },
      String(body).slice(0, 20),
    )
  }
  const typed = await posthorn.call('POST', '/v1/emails/send', {
    body: JSON.stringify(good),
    headers: { 'content-type': 'text/plain' },
  })
  t.match(typed, { status: 415, json: { code: 'unsupported_media_type', error: String } })
  const large = await posthorn.send({ ...good, html: 'x'.repeat(25 * 1024 * 1024) })
  t.match(large, {
    status: 413,
    json: { code: 'validation_error', error: String, max: Number },
  })
  const deep = `{"metadata":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)},${JSON.stringify(good).slice(1)}`
  t.equal((await posthorn.call('POST', '/v1/emails/send', { body: deep })).status, 400)
  t.same(await stored(), before)
})

t.test('401: missing, garbled, unknown and deleted keys look alike', async (t) => {
  const before = await stored()
  const call = (headers: Record<string, string>) =>
    posthorn.call('POST', '/v1/emails/send', { body: good, key: null, headers })
  t.match(await call({}), { status: 401, json: { code: 'missing_api_key', error: 'Unauthorized' } })
  for (const authorization of [
    '',
    'x',
    'Bearer',
    'Bearer x',
    `Bearer ph_${'a'.repeat(43)}`,
    `Basic ${posthorn.apiKey}`,
    `Bearer ${posthorn.apiKey}x`,
    `Bearer ${posthorn.apiKey} ${posthorn.apiKey}`,
  ]) {
    const { status, json, headers } = await call({ authorization })
    t.equal(status, 401, authorization)
    t.equal(json.error, 'Unauthorized')
    t.match(json.code, /^(invalid|missing)_api_key$/)
    t.ok(headers.get('x-ratelimit-limit'))
  }
  t.same(await stored(), before)
})

t.test('every response has a request id and the rate-limit headers', async (t) => {
  for (const answer of [
    await posthorn.send(good),
    await posthorn.send({}),
    await posthorn.call('GET', '/v1/emails/x'),
    await posthorn.call('GET', '/v1/emails/x', { key: null }),
  ]) {
    t.match(answer.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
    t.match(answer.headers.get('x-ratelimit-limit'), /^\d+$/)
    t.match(answer.headers.get('x-ratelimit-remaining'), /^\d+$/)
    t.match(answer.headers.get('x-ratelimit-reset'), /^\d{10}$/)
  }
})

t.test(
  'marketing without a marketing plan: 402 { error, upgrade }; topicId without it: 422',
  async (t) => {
    const { status, json } = await posthorn.send({ ...good, type: 'marketing' })
    t.equal(status, 402)
    t.match(json, { code: 'marketing_subscription_required', error: String, upgrade: 'marketing' })
    const topicId = '01900000-0000-7000-8000-000000000000'
    const topical = await posthorn.send({ ...good, topicId })
    t.match(topical, { status: 422, json: { code: 'validation_error', error: /topicId/ } })
    t.equal((await posthorn.send({ ...good, type: 'transactional' })).status, 200)
  },
)
