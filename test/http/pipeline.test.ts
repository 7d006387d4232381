import { array, nullable, number, optional, record, size, string, type, union } from 'superstruct'
import t from 'tap'
import { ApiError } from '../../src/errors/index.js'
import { pathId, queryFlag, queryWhole, structOf } from '../../src/fields/index.js'
import { described, listOf } from '../../src/fields/kinds.js'
import { openHttpServer, reply } from '../../src/http/index.js'
import { makeRateLimiter } from '../../src/http/rate-limit.js'
import { silentLog } from '../../src/log/index.js'
import { FakeClock } from '../support/clock.js'
import { Anything, type Called, startServer } from './start.js'

const uuid = '0193f0a0-1111-7000-8000-00000000000a'
const Text = described(size(string(), 1, 20), 'a string of 1 to 20 characters')
const Mail = type({
  from: Text,
  to: union([string(), listOf(string(), 3)]),
  subject: optional(size(string(), 1, 10)),
  position: optional(number()),
  labels: optional(record(string(), number())),
  sizes: optional(listOf(number(), 1000)),
})

const app = await startServer(t, ({ api }) => {
  api.post('/mails', { body: Mail }, ({ account, body }) => ({ account, body }))
  api.get(
    '/mails/:id',
    { params: type({ id: pathId('x').struct }), notFound: 'The account has no email with this id' },
    ({ params }) => {
      throw new ApiError(
        'not_found',
        params.id === uuid ? 'The account has no email with this id' : 'params',
      )
    },
  )
  const Page = type({
    limit: optional(structOf(queryWhole(1, 500, 'x'))),
    all: optional(structOf(queryFlag('x'))),
    after: optional(string()),
  })
  api.get('/mails', { query: Page }, ({ query }) => query)
  api.post('/created', {}, () => reply(201, { id: uuid }, { 'Idempotency-Replay': 'true' }))
  api.post('/refused', { body: Anything }, () => {
    throw new ApiError('validation_error', 'Too many recipients', {
      fields: { count: 51, max: 50 },
      headers: { 'X-More': 'yes' },
    })
  })
  api.get('/broken', {}, () => {
    throw new Error('the password is hunter2')
  })
  api.get('/rejected', {}, async () => {
    await null
    throw 'a string'
  })
  api.get('/plans', { auth: false }, ({ account }) => ({ open: account === undefined }))
  api.post('/import', { form: true, maxBodyBytes: 5000 }, ({ form }) => ({
    file: form.file('file')?.bytes.toString() ?? null,
    filename: form.file('file')?.filename ?? null,
    type: form.file('file')?.contentType ?? null,
    kind: form.get('kind') ?? null,
  }))
})

const valid = { from: 'a@example.test', to: ['b@example.test'] }

t.test('a valid request reaches its handler, unknown fields and all', async (t) => {
  const body = { ...valid, future: { field: 1 } }
  const response = await app.call('POST', '/mails', { body })
  t.equal(response.status, 200)
  t.match(response.json, { account: { id: 'a' }, body: valid })
  t.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
  t.equal(response.headers.get('cache-control'), 'no-store')
})

t.test('a handler may choose status and headers', async (t) => {
  const response = await app.call('POST', '/created')
  t.equal(response.status, 201)
  t.same(response.json, { id: uuid })
  t.equal(response.headers.get('idempotency-replay'), 'true')
})

t.test('a refusal has its code, message, fields and headers', async (t) => {
  const response = await app.call('POST', '/refused', { body: {} })
  t.equal(response.status, 400)
  t.same(response.json, {
    code: 'validation_error',
    error: 'Too many recipients',
    count: 51,
    max: 50,
  })
  t.equal(response.headers.get('x-more'), 'yes')
})

t.test('what nobody expected is logged under the request’s id and told to nobody', async (t) => {
  for (const path of ['/broken', '/rejected']) {
    app.errors.length = 0
    const response = await app.call('GET', path)
    t.equal(response.status, 500)
    t.same(response.json, {
      code: 'application_error',
      error: 'Something went wrong on our side',
    })
    t.match(app.errors, [{ fields: { requestId: response.headers.get('x-request-id'), path } }])
    t.equal(app.errors.length, 1)
  }
})

t.test('401 says whether a key was sent and nothing else', async (t) => {
  const missing = await app.call('POST', '/mails', { key: null, body: valid })
  t.equal(missing.status, 401)
  t.same(missing.json, { code: 'missing_api_key', error: 'Unauthorized' })
  t.equal(missing.headers.get('www-authenticate'), 'Bearer')
  const invalid = await app.call('POST', '/mails', { key: 'other', body: '{' })
  t.equal(invalid.status, 401, 'authentication comes before the body')
  t.same(invalid.json, { code: 'invalid_api_key', error: 'Unauthorized' })
  t.equal((await app.call('GET', '/mails/x', { key: null })).status, 401)
})

t.test(
  'a path without authentication needs no key, and shows the rate limit without counting',
  async (t) => {
    const response = await app.call('GET', '/plans', { key: null })
    t.same(response.json, { open: true })
    const left = response.headers.get('x-ratelimit-remaining')
    t.match(left, /^\d+$/)
    const again = await app.call('GET', '/plans', { key: null })
    t.equal(again.headers.get('x-ratelimit-remaining'), left)
  },
)

t.test('every response has a request id of its own', async (t) => {
  const over = 'x'.repeat(6000)
  const responses = [
    await app.call('POST', '/mails', { body: valid }),
    await app.call('POST', '/mails', { body: '[' }),
    await app.call('POST', '/mails', { key: null }),
    await app.call('POST', '/import', { body: over }),
    await app.call('PUT', '/mails'),
    await app.call('GET', '/nowhere'),
    await app.call('GET', '/broken'),
  ]
  t.same(
    responses.map((one) => one.status),
    [200, 400, 401, 413, 405, 404, 500],
  )
  const ids = responses.map((one) => one.headers.get('x-request-id') ?? '')
  for (const id of ids) t.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  t.equal(new Set(ids).size, ids.length)
})

t.test('only JSON in UTF-8 is taken where JSON is asked for', async (t) => {
  const status = async (contentType: string) =>
    (await app.call('POST', '/mails', { body: valid, headers: { 'content-type': contentType } }))
      .status
  for (const good of [
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
  ]) {
    t.equal(await status(good), 200, good)
  }
  for (const bad of [
    'text/plain',
    'application/json; charset=latin1',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'text/plain; a=application/json',
  ]) {
    t.equal(await status(bad), 415, bad)
  }
  const none = await app.raw(
    'POST /mails HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key-a\r\nContent-Length: 2\r\n\r\n{}',
  )
  t.equal(none?.status, 415)
  t.match(JSON.parse(none?.body.toString() ?? ''), { code: 'unsupported_media_type' })
})

t.test('a body that is no object in UTF-8 is a 400', async (t) => {
  for (const body of ['[]', '"x"', 'null', '1', 'true']) {
    const response = await app.call('POST', '/mails', { body })
    t.equal(response.status, 400, body)
    t.same(response.json, { code: 'validation_error', error: 'The body must be a JSON object' })
  }
  const bytes = Buffer.from('{"from":"\xff"}', 'latin1')
  const head = `POST /mails HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key-a\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`
  const response = await app.raw(Buffer.concat([Buffer.from(head), bytes]))
  t.equal(response?.status, 400)
  t.match(response?.body.toString(), /not valid UTF-8/)
  const marked = await app.call('POST', '/mails', { body: `\uFEFF${JSON.stringify(valid)}` })
  t.equal(marked.status, 200, 'a byte order mark is ignored (RFC 8259 §8.1)')
})

t.test('a schema failure has the contract’s shape', async (t) => {
  const body = { from: '', to: [1], subject: 'x'.repeat(500), position: 'first' }
  const response = await app.call('POST', '/mails', { body })
  t.equal(response.status, 400)
  t.same(response.json, {
    success: false,
    error: {
      name: 'StructError',
      issues: [
        {
          code: 'invalid_size',
          expected: 'string',
          received: 'string',
          path: ['from'],
          message: 'Expected a string of 1 to 20 characters, but got ""',
        },
        {
          code: 'invalid_type',
          expected: 'union',
          received: 'array',
          path: ['to'],
          message:
            'Expected the value to satisfy a union of `string | array`, but got an array of 1 item',
        },
        {
          code: 'invalid_type',
          expected: 'string',
          received: 'number',
          path: ['to', '0'],
          message: 'Expected a string, but got 1',
        },
        {
          code: 'invalid_size',
          expected: 'string',
          received: 'string',
          path: ['subject'],
          message: `Expected a string with a length between \`1\` and \`10\`, but got "${'x'.repeat(60)}"… (500 characters)`,
        },
        {
          code: 'invalid_type',
          expected: 'number',
          received: 'string',
          path: ['position'],
          message: 'Expected a number, but got "first"',
        },
      ],
    },
  })
})

t.test('a missing field is required', async (t) => {
  t.match(issues(await app.call('POST', '/mails', { body: {} }))[0], {
    code: 'required',
    received: 'undefined',
    path: ['from'],
    message: 'Required. Expected a string of 1 to 20 characters',
  })
})

t.test('a message quotes the beginning of what came, on one line, and no secret', async (t) => {
  const body = {
    from: `a\r\n\u0000\ud800 ${'x'.repeat(200)}`,
    to: { password: 'hunter2' },
    subject: ['hunter2'],
    labels: { token: 'hunter2', a: 'sent with ph_abcdefghijklmnop' },
    position: null,
  }
  const response = await app.call('POST', '/mails', { body })
  t.same(
    issues(response).map(({ path, message }) => [path.join('.'), message.split('but got ')[1]]),
    [
      ['from', `"a\\r\\n\\u0000\ufffd ${'x'.repeat(54)}"… (206 characters)`],
      ['to', 'an object of 1 field'],
      ['subject', 'an array of 1 item'],
      ['labels.token', 'a text that is not shown'],
      ['labels.a', '"sent with ph_…"'],
    ],
  )
  t.notMatch(response.text, /hunter2|abcdef/)
})

t.test(
  'null in an optional field means absent, in objects within objects and lists too',
  async (t) => {
    const Inner = type({ must: string(), may: optional(string()) })
    const Nullish = type({
      name: optional(string()),
      data: optional(record(string(), nullable(string()))),
      inner: optional(Inner),
      list: optional(listOf(Inner, 3)),
    })
    const { call } = await startServer(t, ({ api }) =>
      api.patch('/x', { body: Nullish }, ({ body }) => ({ names: Object.keys(body), body })),
    )
    const body = {
      name: null,
      data: { own: null },
      inner: { must: 'a', may: null },
      list: [{ must: 'b' }, { must: 'c', may: null }],
    }
    t.same((await call('PATCH', '/x', { body })).json, {
      names: ['data', 'inner', 'list'],
      body: { data: { own: null }, inner: { must: 'a' }, list: [{ must: 'b' }, { must: 'c' }] },
    })
    const missing = await call('PATCH', '/x', { body: { inner: { must: null } } })
    t.match(issues(missing), [{ path: ['inner', 'must'], received: 'null' }])
  },
)

t.test('values that cannot be printed are refused like others', async (t) => {
  const hostile = { toString: 1, valueOf: null }
  const response = await app.call('POST', '/mails', { body: { from: hostile, to: hostile } })
  t.equal(response.status, 400)
  t.same(
    issues(response).map((issue) => issue.path),
    [['from'], ['to']],
  )
})

t.test(
  'at most 50 issues are listed, and long lists are counted before they are read',
  async (t) => {
    const bad = await app.call('POST', '/mails', {
      body: { ...valid, sizes: Array(1000).fill('x') },
    })
    t.equal(issues(bad).length, 50)
    const long = await app.call('POST', '/mails', {
      body: { ...valid, sizes: Array(1001).fill('x') },
    })
    t.same(issues(long), [
      {
        code: 'invalid_size',
        expected: 'array',
        received: 'array',
        path: ['sizes'],
        message: 'Expected an array of at most 1000 items, but got an array of 1001 items',
      },
    ])
  },
)

t.test('a list that fits is what an array is', (t) => {
  t.same(listOf(number(), 2, 1).validate([1])[1], array(number()).validate([1])[1])
  t.ok(listOf(number(), 2, 1).validate([])[0])
  t.ok(listOf(number(), 2).validate('ab')[0])
  t.end()
})

t.test('an id that is no UUID is a 404 like one that does not exist', async (t) => {
  const unknown = await app.call('GET', `/mails/${uuid}`)
  t.equal(unknown.status, 404)
  for (const id of ['1', `${uuid}0`, `${uuid}%00`, "'%20or%201=1", '%', uuid.toUpperCase()]) {
    const response = await app.call('GET', `/mails/${id}`)
    t.equal(response.status, 404, id)
    t.same(response.json, unknown.json, id)
  }
})

t.test('a query is turned into the types that its shape names', async (t) => {
  const get = (query: string) => app.call('GET', `/mails${query}`)
  t.same((await get('?limit=20&all=true&after=a%20b&other=1&limit=30')).json, {
    limit: 20,
    all: true,
    after: 'a b',
    other: '1',
  })
  for (const query of ['?limit=0', '?limit=501', '?limit=ten', '?limit=1.5', '?limit=']) {
    const response = await get(query)
    t.equal(response.status, 400, query)
    t.match(issues(response), [
      { path: ['limit'], message: 'Expected a whole number from 1 to 500' },
    ])
  }
  t.match(issues(await get('?all=yes')), [{ path: ['all'], message: 'Expected true or false' }])
})

t.test('an unknown path is a 404, an unknown method a 405 with Allow', async (t) => {
  const unknown = await app.call('GET', '/nowhere', { key: null })
  t.equal(unknown.status, 404)
  t.match(unknown.json, { code: 'not_found' })
  const method = await app.call('DELETE', '/mails', { key: null })
  t.equal(method.status, 405)
  t.match(method.json, { code: 'not_found' })
  t.equal(method.headers.get('allow'), 'GET, HEAD, OPTIONS, POST')
  t.ok(method.headers.has('x-ratelimit-limit'))
})

t.test('a file comes in by multipart', async (t) => {
  const form = new FormData()
  form.set('kind', 'contacts')
  form.set('file', new Blob(['email\r\n--x\r\na@b.test\r\n'], { type: 'text/csv' }), 'a"b.csv')
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  const whole = await sent.text()
  const response = await app.call('POST', '/import', { body: whole, headers })
  t.same(response.json, {
    file: 'email\r\n--x\r\na@b.test\r\n',
    filename: 'a"b.csv',
    type: 'text/csv',
    kind: 'contacts',
  })
  t.comment('[8] cut off')
  for (const cut of [whole.length - 6, Math.floor(whole.length / 2), 20, 0]) {
    const response = await app.call('POST', '/import', { body: whole.slice(0, cut), headers })
    t.equal(response.status, 400, `${cut} bytes`)
    t.match(response.json, { code: 'validation_error', error: /^Malformed multipart body/ })
  }
  const csv = await app.call('POST', '/import', {
    body: 'a',
    headers: { 'content-type': 'text/csv' },
  })
  t.equal(csv.status, 415)
})

t.test('the rate limit counts by key in windows that begin with the first request', async (t) => {
  const clock = new FakeClock(10_000)
  const { call } = await startServer(t, ({ api }) => api.get('/', {}, () => ({})), {
    clock,
    rateLimit: { requests: 2, windowMs: 60_000 },
  })
  t.same(standing(await call('GET', '/')), [200, '2', '1', '70'])
  await clock.advance(20_500)
  t.same(standing(await call('GET', '/')), [200, '2', '0', '70'])
  const refused = await call('GET', '/')
  t.same(standing(refused), [429, '2', '0', '70'])
  t.match(refused.json, { code: 'rate_limit_exceeded' })
  t.equal(refused.headers.get('retry-after'), '40')
  t.same(standing(await call('GET', '/', { key: 'key-b' })), [200, '2', '1', '91'], 'another key')
  await clock.advance(39_499)
  t.equal((await call('GET', '/')).status, 429)
  await clock.advance(1)
  t.same(standing(await call('GET', '/')), [200, '2', '1', '130'])
})

t.test(
  'requests without a valid key are counted by address, apart from those with one',
  async (t) => {
    const clock = new FakeClock(10_000)
    const { call } = await startServer(t, ({ api }) => api.get('/', {}, () => ({})), {
      clock,
      rateLimit: { requests: 2, windowMs: 60_000 },
      trustedProxies: ['127.0.0.0/8', '10.1.0.0/16'],
    })
    const from = (forwarded: string, key: string | null = 'wrong') =>
      call('GET', '/', { key, headers: { 'x-forwarded-for': forwarded } })
    t.same(standing(await from('192.0.2.1')), [401, '2', '1', '70'])
    t.same(standing(await from('192.0.2.1', null)), [401, '2', '0', '70'])
    const refused = await from('6.6.6.6, 192.0.2.1, 10.1.2.3')
    t.same(standing(refused), [429, '2', '0', '70'], 'what a client puts first does not count')
    t.equal(refused.headers.get('retry-after'), '60')
    t.equal((await from('192.0.2.1', 'key-a')).status, 200, 'a valid key from there goes on')
    t.equal((await from('192.0.2.2')).status, 401)
    t.equal((await from('2001:db8:0:1::1')).status, 401)
    t.equal((await from('2001:db8:0:1:ffff::2')).status, 401)
    t.equal((await from('2001:db8:0:1:1::3')).status, 429, 'one /64 is one client')
    t.equal((await from('2001:db8:0:2::3')).status, 401)
  },
)

t.test('a flood of made-up keys is forgotten, oldest first', (t) => {
  const limiter = makeRateLimiter({ requests: 5, windowMs: 60_000 }, new FakeClock(), {
    maxKeys: 10,
  })
  limiter.take('first')
  for (let n = 0; n < 9; n++) limiter.take(`flood-${n}`)
  t.equal(limiter.take('first').remaining, 3, 'ten are remembered')
  limiter.take('one more')
  t.equal(limiter.take('flood-8').remaining, 3)
  t.equal(limiter.take('first').remaining, 4, 'the eleventh took the place of the oldest')
  t.end()
})

t.test('without trusted proxies X-Forwarded-For says nothing', async (t) => {
  const { call } = await startServer(
    t,
    ({ pages }) => pages.get('/', ({ clientAddressKey }) => ({ html: clientAddressKey })),
    {},
  )
  const headers = { 'x-forwarded-for': '192.0.2.1' }
  t.equal((await call('GET', '/', { headers })).text, '127.0.0.1')
})

t.test('an authentication that breaks is a 500, not a way in', async (t) => {
  const { call, errors } = await startServer(t, ({ api }) => api.get('/', {}, () => ({})), {
    authenticate: async () => {
      throw new Error('database is locked')
    },
  })
  const response = await call('GET', '/')
  t.equal(response.status, 500)
  t.ok(response.headers.has('x-ratelimit-remaining'))
  t.equal(errors.length, 1)
})

t.test('mistakes in adding routes show at start', async (t) => {
  const server = await openHttpServer({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    clock: new FakeClock(),
  })
  const { api } = server
  t.throws(() => api.get('/a', {}, () => ({})), /needs a server with authenticate/)
  api.get('/a/:id', { auth: false }, () => ({}))
  t.throws(() => api.get('/a/:name', { auth: false }, () => ({})), /exists twice/)
  t.throws(() => api.get('/a/*', { auth: false }, () => ({})), /no path/)
  await server.listen()
  t.throws(() => api.get('/late', { auth: false }, () => ({})), /after the server had started/)
  await server.close(0)
})

interface ShownIssue {
  path: string[]
  message: string
  [field: string]: unknown
}

function issues(response: Called): ShownIssue[] {
  const error = response.json.error as { issues?: ShownIssue[] } | undefined
  return error?.issues ?? []
}

function standing(response: Called): unknown[] {
  const header = (name: string) => response.headers.get(`x-ratelimit-${name}`)
  return [response.status, header('limit'), header('remaining'), header('reset')]
}

t.test('a change by who has hung up since has its address in the log', async (t) => {
  let begin = () => {}
  let leave = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  let note = (_address: string) => {}
  const noted = new Promise<string>((resolve) => {
    note = resolve
  })
  const audited = await startServer(
    t,
    ({ api }) =>
      api.delete('/thing', {}, async () => {
        begin()
        await left
        return {}
      }),
    { auditOf: () => async (change) => note(change.clientAddressKey) },
  )
  const connection = await audited.connect()
  connection.write(
    'DELETE /thing HTTP/1.1\r\nHost: mail.test\r\nAuthorization: Bearer key-a\r\n\r\n',
  )
  await begun
  await connection.destroy()
  // The server hears of it a moment later; the test would pass too early, and not fail.
  await new Promise((resolve) => setTimeout(resolve, 200))
  leave()
  t.equal(await noted, '127.0.0.1')
})

t.test('a body is read into what an earlier one was read into, and into no other', async (t) => {
  const held: Buffer[] = []
  const { call } = await startServer(t, ({ api }) => {
    api.post('/json', { body: Anything }, async ({ body }) => {
      await new Promise(setImmediate)
      return body
    })
    // Keeps what it got, longer than its request lasts.
    api.post('/raw', {}, ({ rawBody }) => {
      held.push(rawBody)
      return rawBody.length
    })
  })
  const textOf = (i: number) => `${i} `.repeat(1 + ((i * 997) % 6_000))
  for (let round = 0; round < 3; round++) {
    const calls = Array.from({ length: 60 }, async (_, i) => {
      const body = { text: textOf(i + round) }
      if (i % 4 === 0) await call('POST', '/raw', { body: JSON.stringify(body) })
      else t.same((await call('POST', '/json', { body })).json, body)
    })
    await Promise.all(calls)
  }
  t.equal(held.length, 45)
  for (const bytes of held) {
    const { text } = JSON.parse(bytes.toString()) as { text: string }
    t.equal(text, textOf(Number(/^\d+/.exec(text)?.[0])))
  }
})
