import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { any, string, type } from 'superstruct'
import t from 'tap'
import { ApiError } from '../../src/errors/index.js'
import { reply } from '../../src/http/index.js'
import { FakeClock } from '../support/clock.js'
import type { RawResponse } from '../support/raw-http.js'
import { Anything, post, request, type Started, startServer } from './start.js'

// Numbers in brackets are rows of the table in src/http/README.md.

const limit = 1000
const served: string[] = []
const app = await startServer(
  t,
  ({ api }) => {
    api.post('/echo', { body: Anything, maxBodyBytes: limit }, ({ body, rawBody }) => {
      served.push('echo')
      return { body, raw: rawBody.length }
    })
    api.post('/named', { body: type({ name: string() }) }, () => ({}))
    api.post('/length', {}, ({ rawBody }) => ({ bytes: rawBody.length }))
    api.get('/second', {}, () => served.push('second'))
    api.get('/thing/:z', {}, ({ params }) => params)
    api.get('/header', {}, (call) => ({ joined: call.header('x-a') ?? null }))
    api.get('/none', {}, () => reply(204, undefined))
    api.get('/unchanged', {}, () => reply(304, undefined))
    api.get('/split', {}, () => reply(200, {}, { 'X-Bad': 'a\r\nX-Injected: b' }))
    api.get('/name', {}, () => reply(200, {}, { 'X Bad': 'a' }))
    api.get('/large', {}, () => ({ text: 'x'.repeat(3_000_000) }))
    api.get('/slow', {}, async () => {
      await sleep(50)
      return {}
    })
  },
  { bodyTimeoutMs: 300 },
)

const second = request('GET /second')
const json = ['Content-Type: application/json']

// uWS 20.57 refuses these; 20.30 gives them up by its own clock only (10 s): they wait while the other tests run.
const silent = openSilent({
  '[11] HTTP/1.0': 'GET /second HTTP/1.0\r\nHost: a\r\n\r\n',
  '[11] no Host': 'GET /second HTTP/1.1\r\n\r\n',
  '[11] a bad request line': 'HELLO\r\n\r\n',
  '[11] an absolute URI': 'GET http://a/second HTTP/1.1\r\nHost: a\r\n\r\n',
  '[11] OPTIONS *': 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  '[11] a folded header': 'GET /second HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n',
  '[11] a blank before the colon': 'GET /second HTTP/1.1\r\nHost : a\r\n\r\n',
  '[11] 120 header lines': request('GET /second', Array(120).fill('X-A: b')),
  '[11] a null byte in the path': 'GET /sec\0ond HTTP/1.1\r\nHost: a\r\n\r\n',
  '[11] a null byte in a header': request('GET /second', ['X-A: a\0b']),
  '[11] bare line feeds': 'GET /second HTTP/1.1\nHost: a\n\n',
  '[14] a head that never ends': 'GET /second HTTP/1.1\r\nHost: a\r\n',
})

const unread = Promise.all(
  [['X_A: b'], Array(60).fill('X-A: b')].map((headers) => app.raw(request('GET /second', headers))),
)

// Of uWS itself; empty where it closes without a word.
const refusal = /^$|^HTTP\/1\.1 (400|431|505) .*\r\nConnection: close\r\n/

t.test('[1] two Content-Length headers are a 400, in either order', async (t) => {
  for (const [first, then] of [
    [5, 3],
    [3, 5],
    [5, 5],
  ]) {
    const lengths = [`Content-Length: ${first}`, `content-length: ${then}`]
    const response = await app.raw(request('POST /echo', [...json, ...lengths], '{"a":'))
    t.equal(response?.status, 400, `${first} then ${then}`)
    t.same(jsonOf(response), {
      code: 'validation_error',
      error: 'The request has two content-length headers; expected one',
    })
    t.same(response?.headers.get('connection'), ['close'])
  }
})

t.test('[1] a Content-Length that is no number never reaches a handler', async (t) => {
  for (const length of ['3x', '-3', '+3', '0x3', '3, 3', '99999999999999999999', '']) {
    served.length = 0
    const text = request('POST /echo', [...json, `Content-Length: ${length}`], `abc${second}`)
    const response = await app.raw(text)
    t.ok(response === undefined || response.status === 400, `${length}: ${response?.status}`)
    t.same(served, [], length)
  }
})

t.test('[4] a body in doubt ends the connection and what follows is not served', async (t) => {
  const heads = [
    ['Transfer-Encoding: Chunked'],
    ['Transfer-Encoding: gzip, chunked'],
    ['Transfer-Encoding: identity'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: x'],
    ['Transfer-Encoding: chunked', 'Content-Length: 4'],
    ['Content-Length: 4', 'Transfer-Encoding: chunked'],
    ['Content-Length: 0', 'Content-Length: 44'],
    ['Host: other'],
  ]
  for (const head of heads) {
    for (const body of [second, `0\r\n\r\n${second}`, `5\r\nabcde\r\n0\r\n\r\n${second}`]) {
      served.length = 0
      const connection = await app.connect()
      const rest = await connection.write(request('POST /echo', [...json, ...head], body)).rest()
      t.same(served, [], head.join())
      t.ok((rest.match(/HTTP\/1\.1/g) ?? []).length <= 1, 'at most one response')
      t.notMatch(rest, /HTTP\/1\.1 2/)
    }
  }
})

t.test('[4] the refusal can be read when nothing follows', async (t) => {
  const refused = async (head: string) => (await app.raw(request('GET /second', [head])))?.status
  t.equal(await refused('Transfer-Encoding: Chunked'), 501)
  t.equal(await refused('Host: other'), 400)
  // uWS 20.57 sees two hosts itself, and answers with a body; here nothing can be answered.
  const connection = await app.connect()
  t.match(await connection.write(request('HEAD /second', ['Host: other'])).rest(), refusal)
})

t.test(
  '[2, 15] HEAD has the GET’s length, 204 and 304 have none, and the connection goes on',
  async (t) => {
    const connection = await app.connect()
    const head = await connection.write(request('HEAD /thing/a')).response(true)
    const get = await connection.write(request('GET /thing/a')).response()
    t.equal(head?.status, 200)
    t.same(head?.headers.get('content-length'), get?.headers.get('content-length'))
    t.same(jsonOf(get), { z: 'a' })
    for (const path of ['/none', '/unchanged', '/none']) {
      const response = await connection.write(request(`GET ${path}`)).response()
      t.equal(response?.headers.get('content-length'), undefined, path)
      t.ok(response?.headers.has('x-request-id'))
    }
    await connection.destroy()
  },
)

t.test('[15] OPTIONS names the methods', async (t) => {
  const response = await app.raw(request('OPTIONS /thing/a'))
  t.equal(response?.status, 204)
  t.same(response?.headers.get('allow'), ['GET, HEAD, OPTIONS'])
  t.equal(response?.headers.get('content-length'), undefined)
})

t.test('[3] a header that would split the response is a 500 and is logged', async (t) => {
  for (const path of ['/split', '/name']) {
    app.errors.length = 0
    const response = await app.raw(request(`GET ${path}`))
    t.equal(response?.status, 500)
    t.notOk(response?.headers.has('x-injected'))
    t.equal(app.errors.length, 1)
  }
})

t.test('[5] plain chunks arrive, in one piece or byte by byte', async (t) => {
  const body = '5\r\n{"a":\r\nA\r\n"12345678"\r\n1\r\n}\r\n0\r\n\r\n'
  const text = request('POST /echo', [...json, 'Transfer-Encoding: chunked'], body)
  t.same(jsonOf(await app.raw(text)), { body: { a: '12345678' }, raw: 0 })
  const connection = await app.connect()
  // The head in one piece: uWS may give up on a head in many (row 12).
  const bodyAt = text.indexOf('\r\n\r\n') + 4
  connection.write(text.slice(0, bodyAt))
  for (const byte of text.slice(bodyAt)) {
    connection.write(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.same(jsonOf(await connection.response()), { body: { a: '12345678' }, raw: 0 })
  await connection.destroy()
})

t.test('[5] broken chunks are never a request', async (t) => {
  const sizes = ['zz', '-1', 'ffffffffffffffff', '7fffffff']
  for (const size of sizes) {
    served.length = 0
    const body = `${size}\r\n{}\r\n0\r\n\r\n`
    const connection = await app.connect()
    connection.write(request('POST /echo', [...json, 'Transfer-Encoding: chunked'], body))
    const response = await connection.response()
    t.ok(response === undefined || response.status >= 400, `${size}: ${response?.status}`)
    t.same(served, [])
    await connection.destroy()
  }
})

t.test('[5] a chunk with an extension is never read: the body counts as late', async (t) => {
  served.length = 0
  const body = '2;a=b\r\n{}\r\n0\r\n\r\n'
  const text = request('POST /echo', [...json, 'Transfer-Encoding: chunked'], body)
  t.equal((await app.raw(text))?.status, 408)
  t.same(served, [])
})

t.test('[6] a body over the limit is a 413 that names the limit', async (t) => {
  const tooLarge = {
    code: 'validation_error',
    error: 'The body is larger than 1000 bytes',
    max: 1000,
  }
  const over = 'x'.repeat(limit + 1)
  const plain = request('POST /echo', [...json, `Content-Length: ${over.length}`], over)
  const chunked = request(
    'POST /echo',
    [...json, 'Transfer-Encoding: chunked'],
    `${over.length.toString(16)}\r\n${over}\r\n0\r\n\r\n`,
  )
  for (const text of [plain, chunked]) {
    const connection = await app.connect()
    const response = await connection.write(text).response()
    t.equal(response?.status, 413)
    t.same(jsonOf(response), tooLarge)
    t.equal((await connection.write(second).response())?.status, 200, 'the connection goes on')
    await connection.destroy()
  }
  const exact = JSON.stringify({ a: 'x'.repeat(limit - 8) })
  const fits = request('POST /echo', [...json, `Content-Length: ${exact.length}`], exact)
  t.equal((await app.raw(fits))?.status, 200, 'exactly the limit is allowed')
})

t.test('unfinished bodies together are bounded, and the memory is free again', async (t) => {
  const small = await startServer(
    t,
    ({ api }) => api.post('/length', {}, ({ rawBody }) => ({ bytes: rawBody.length })),
    { maxBodyMemoryBytes: 90_000 },
  )
  const body = 'x'.repeat(40_000)
  const half = request('POST /length', [`Content-Length: ${body.length}`], body.slice(0, 30_000))
  const waiting = await small.connect()
  waiting.write(half)
  const whole = request('POST /length', [`Content-Length: ${body.length}`], body)
  let refused: RawResponse | undefined
  // The server reads the first half at its own time.
  for (let tries = 0; tries < 200 && refused?.status !== 503; tries++) {
    refused = await small.raw(whole)
  }
  t.equal(refused?.status, 503)
  t.same(jsonOf(refused), {
    code: 'service_unavailable',
    error: 'Too many large requests at once; try again in a moment',
  })
  t.same(refused?.headers.get('retry-after'), ['1'])
  t.equal((await small.raw(request('POST /length', ['Content-Length: 2'], 'ab')))?.status, 200)
  const response = await waiting.write(body.slice(30_000)).response()
  t.same(jsonOf(response), { bytes: body.length }, 'who was first is served')
  for (let i = 0; i < 5; i++) t.equal((await small.raw(whole))?.status, 200)
})

t.test('large bodies that come one after another are each what was sent', async (t) => {
  const server = await startServer(
    t,
    ({ api }) => api.post('/hash', { body: Anything }, ({ body }) => ({ hash: hashOf(body) })),
    { maxBodyBytes: 4 * 1024 * 1024 },
  )
  const hashOf = (value: unknown) => createHash('sha1').update(JSON.stringify(value)).digest('hex')
  // Falling sizes leave something of the larger ones in what is read into again.
  for (const size of [1_500_000, 1_400_000, 700_000, 300_000, 600_000, 270_000, 260_000, 20_000]) {
    const bodies = ['a', 'b', 'c'].map((letter) => ({ [letter]: letter.repeat(size), size }))
    const answers = await Promise.all(
      bodies.map((body) => {
        const text = JSON.stringify(body)
        const head = [...json, `Content-Length: ${text.length}`]
        return server.raw(request('POST /hash', head, text))
      }),
    )
    t.same(
      answers.map((answer) => jsonOf(answer)),
      bodies.map((body) => ({ hash: hashOf(body) })),
      `${size}`,
    )
  }
})

t.test(
  'of a body that nobody has asked for yet little is held, and then all of it arrives',
  async (t) => {
    let letIn = () => {}
    const asked = new Promise<void>((resolve) => {
      letIn = resolve
    })
    const crowded = await startServer(
      t,
      ({ api }) => api.post('/length', {}, ({ rawBody }) => ({ bytes: rawBody.length })),
      {
        maxBodyMemoryBytes: 32 * 1024 * 1024,
        maxBodyBytes: 20 * 1024 * 1024,
        authenticate: async (authorization) => {
          if (authorization !== 'Bearer key-a') await asked
          if (authorization === 'Bearer stranger') throw new ApiError('invalid_api_key', 'Who?')
          return { id: 'a' }
        },
      },
    )
    const body = 'x'.repeat(8 * 1024 * 1024)
    const from = (key: string) =>
      request('POST /length', [`Content-Length: ${body.length}`], body).replace('key-a', key)
    const connections = await Promise.all(Array.from({ length: 8 }, () => crowded.connect()))
    const [known, ...strangers] = connections
    known?.write(from('slow'))
    for (const stranger of strangers) stranger.write(from('stranger'))
    const large = request('POST /length', ['Content-Length: 2000000'], 'y'.repeat(2_000_000))
    for (let i = 0; i < 30; i++) t.equal((await crowded.raw(large))?.status, 200)
    letIn()
    t.same(jsonOf(await known?.response()), { bytes: body.length })
    for (const stranger of strangers) t.equal((await stranger.response())?.status, 401)
  },
)

t.test('what is made of a large JSON body counts as well, until it is answered', async (t) => {
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const small = await startServer(
    t,
    ({ api }) => {
      api.post('/slow', { body: Anything }, async () => {
        await answered
        return {}
      })
      api.post('/parse', { body: Anything }, () => ({}))
    },
    { maxBodyMemoryBytes: 11 * 1024 * 1024 },
  )
  const text = JSON.stringify({ a: 'x'.repeat(2_500_000) })
  const to = (path: string) =>
    request(`POST ${path}`, [...json, `Content-Length: ${text.length}`], text)
  const first = await small.connect()
  first.write(to('/slow'))
  let refused: RawResponse | undefined
  for (let tries = 0; tries < 200 && refused?.status !== 503; tries++) {
    refused = await small.raw(to('/parse'))
  }
  t.equal(refused?.status, 503, 'one, and what another has become, are over 11 MiB')
  answer()
  t.equal((await first.response())?.status, 200)
  t.equal((await small.raw(to('/parse')))?.status, 200)
})

t.test('[6] over four times the limit nobody waits for the rest', async (t) => {
  const huge = limit * 4 + 1
  for (const text of [
    request('POST /echo', [...json, `Content-Length: ${huge}`], 'x'),
    request(
      'POST /echo',
      [...json, 'Transfer-Encoding: chunked'],
      `${(huge + 5).toString(16)}\r\n${'x'.repeat(huge)}`,
    ),
  ]) {
    const connection = await app.connect()
    const response = await connection.write(text).response()
    t.equal(response?.status, 413)
    t.same(response?.headers.get('connection'), ['close'])
    t.equal(await connection.rest(), '')
  }
})

t.test('[7] a client that leaves in the middle of a body leaves nothing behind', async (t) => {
  // This clock stands still: close() can only end because no request is left.
  const clock = new FakeClock()
  const { server, connect, errors } = await startServer(
    t,
    ({ api }) => api.post('/echo', { body: Anything }, () => ({})),
    { clock },
  )
  const heads = [
    ['Content-Length: 500'],
    ['Transfer-Encoding: chunked'],
    ['Content-Length: 99999999'],
  ]
  for (const head of heads) {
    for (const key of ['key-a', 'wrong']) {
      const connection = await connect()
      const text = request('POST /echo', [...json, ...head], '4\r\n{"a"')
      connection.write(text.replace('key-a', key))
      // Long enough for the pipeline to wait for the rest.
      await sleep(20)
      await connection.destroy()
    }
  }
  await sleep(20)
  await server.close(60_000)
  t.same(errors, [], 'an abort is nobody’s error')
})

t.test('[10] JSON that does not parse says where, not what', async (t) => {
  const cases: [string, string][] = [
    ['{"secret": ', 'line 1, column 12: expected a value but the text ends'],
    ['{"secret" 1}', 'line 1, column 11: expected :'],
    ['{"a":1,}', 'line 1, column 8: expected a name in double quotes'],
    ['{\n  "a": tru }', 'line 2, column 8: expected a value'],
    ['{"a":1} x', 'line 1, column 9: expected nothing more'],
    ['{"a":"\\x"}', 'line 1, column 7: expected a valid escape'],
    ['{"a":[1 2]}', 'line 1, column 9: expected , or ]'],
    [' ', 'line 1, column 2: expected a value but the text ends'],
  ]
  for (const [body, where] of cases) {
    const response = await app.call('POST', '/echo', { body })
    t.equal(response.status, 400)
    t.same(response.json, { code: 'validation_error', error: `Malformed JSON: ${where}` }, body)
  }
})

t.test('a body may be left out where none of its fields is required', async (t) => {
  for (const type of ['application/json', 'text/plain']) {
    const headers = { 'content-type': type }
    const left = await app.call('POST', '/echo', { body: '', headers })
    t.match(left, { status: 200, json: { body: {} } }, type)
    const needed = await app.call('POST', '/named', { body: '', headers })
    t.equal(needed.status, type === 'text/plain' ? 415 : 400, type)
  }
})

t.test(
  '[12] a head of 20 KB is read, or closed by uWS 20.30 if it comes in segments',
  async (t) => {
    const value = `X-A: ${'a'.repeat(20_000)}`
    const whole = await app.raw(request('GET /header', [value]))
    t.equal(whole?.status, 200)
    const connection = await app.connect()
    const text = request('GET /header', [value])
    for (let at = 0; at < text.length; at += 5000) {
      connection.write(text.slice(at, at + 5000))
      await sleep(5)
    }
    const split = await connection.response()
    t.ok(split === undefined || split.status === 200, `${split?.status}`)
    await connection.destroy()
  },
)

t.test('[13] pipelined requests are answered in order unless one has to wait', async (t) => {
  const connection = await app.connect()
  connection.write(request('GET /thing/1') + request('GET /thing/2'))
  t.same(jsonOf(await connection.response()), { z: '1' })
  t.same(jsonOf(await connection.response()), { z: '2' })
  connection.write(request('GET /slow') + request('GET /thing/3'))
  t.equal(await connection.response(), undefined, 'closed without either response')
})

t.test('[14] a body that stops arriving is a 408 after bodyTimeoutMs', async (t) => {
  const connection = await app.connect()
  connection.write(request('POST /echo', [...json, 'Content-Length: 50'], '{"a"'))
  const response = await connection.response()
  t.equal(response?.status, 408)
  t.match(jsonOf(response), { code: 'validation_error' })
  t.equal(await connection.rest(), '', 'and the connection is closed')
})

t.test('[14] nobody waits longer for a body whose request was refused already', async (t) => {
  const connection = await app.connect()
  const text = request('POST /echo', [...json, 'Content-Length: 50'], '{"a"')
  const response = await connection.write(text.replace('key-a', 'wrong')).response()
  t.equal(response?.status, 401)
  t.equal(await connection.rest(), '')
})

t.test('[16] parameters are decoded, paths are compared as they are', async (t) => {
  const get = async (path: string) => {
    const response = await app.raw(request(`GET ${path}`))
    return response?.status === 200 ? jsonOf(response) : response?.status
  }
  t.same(await get('/thing/%41%2Fb%20%C3%A9'), { z: 'A/b é' })
  t.equal(await get('/thing/%zz'), 404)
  t.equal(await get('/thing/%ff'), 404)
  t.equal(await get('/thing/%'), 404)
  t.equal(await get('/%74hing/a'), 404)
  t.equal(await get('/thing/a/'), 404)
  t.equal(await get('//thing/a'), 404)
})

t.test('[17] a parameter with a name of one letter arrives', async (t) => {
  t.same(jsonOf(await app.raw(request('GET /thing/b'))), { z: 'b' })
})

t.test('[18] repeated headers are joined; a value arrives with all its bytes', async (t) => {
  const joined = async (headers: string[]) => jsonOf(await app.raw(request('GET /header', headers)))
  t.same(await joined(['X-A: 1', 'x-a: 2']), { joined: '1, 2' })
  for (const [sent, joinedTo] of [
    ['\xc3\xa9', '\u00e9'],
    ['order-1\xc3\xa9', 'order-1\u00e9'],
    ['\xe9order-1\xff', '\ufffdorder-1\ufffd'],
    [' \t a \xc3\xa9b\t ', 'a \u00e9b'],
    ['', ''],
  ] as const) {
    t.same(await joined([`X-A:${sent}`]), { joined: joinedTo }, JSON.stringify(sent))
    t.same(await joined(['X-A: 1', `X-A: ${sent}`]), { joined: `1, ${joinedTo}` })
  }
  const twice = await app.raw(request('GET /header', ['Authorization: Bearer key-b']))
  t.equal(twice?.status, 401, 'two keys are none')
})

t.test('[18] a head in pieces may have an Idempotency-Key, but none that was cut', async (t) => {
  const inPieces = async (...pieces: string[]) => {
    const connection = await app.connect()
    for (const piece of pieces) {
      connection.write(piece)
      // The server reads in this loop too; several pieces that it reads at once are one, and right as well.
      for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done))
    }
    return await connection.response()
  }
  const [line = '', ...rest] = request('GET /second', ['Idempotency-Key: order-1']).split(
    /(?<=\r\n)/,
  )
  t.equal((await inPieces(line, ...rest))?.status, 200, 'line by line')
  t.equal((await inPieces(line, rest.join('')))?.status, 200)
  for (const key of ['order-1\xc3\xa9', '\xe9order-1', '\xc3\xa9']) {
    const seen = rest.join('').replace('order-1', key)
    t.equal((await inPieces(line, seen))?.status, 400, key)
    t.equal((await inPieces(line, seen.slice(0, -2), '\r\n'))?.status, 400, `${key}, then the end`)
  }
})

t.test('[18] a request that came behind another one is judged by its own head', async (t) => {
  const own = await startServer(
    t,
    ({ api, pages }) => {
      api.get('/v1/who', {}, ({ account, header }) => ({
        id: account.id,
        a: header('x-a') ?? null,
      }))
      api.post('/v1/key', {}, ({ header }) => ({ key: header('idempotency-key') ?? null }))
      pages.get('/page', () => ({ text: 'inside' }))
    },
    { allowedHosts: ['mail.example.test'] },
  )
  const both = async (first: string, then: string) => {
    const connection = await own.connect()
    connection.write(first + then)
    const answers = [await connection.response(), await connection.response()]
    await connection.destroy()
    return answers
  }
  const ask = (...headers: string[]) =>
    `${['GET /v1/who HTTP/1.1', 'Host: a', ...headers].join('\r\n')}\r\n\r\n`
  const keyA = 'Authorization: Bearer key-a'
  const keyB = 'Authorization: Bearer key-b'
  for (const odd of ['X-A: \xc3\xa9', 'X-A: \xe9', 'X-A: b\xc3\xa9b', 'X-A: b']) {
    const [one, none] = await both(ask(odd, keyA), ask())
    t.equal(one?.status, 200, `${odd}: the first is served`)
    t.equal(none?.status, 401, `${odd}: without a key behind one with`)
    const [, wrong] = await both(ask(odd, keyA), ask(odd, 'Authorization: Bearer wrong'))
    t.equal(wrong?.status, 401, `${odd}: a wrong key behind a good one`)
    const [, other] = await both(ask(odd, keyA), ask('X-A: c', keyB))
    t.same(jsonOf(other), { id: 'b', a: 'c' }, `${odd}: another's key`)
    const [, odd2] = await both(ask('X-A: c', keyA), ask(odd, keyB))
    t.match(jsonOf(odd2), { id: 'b' }, `${odd}: in the second`)
  }
  const page = (host: string, ...headers: string[]) =>
    `${['GET /page HTTP/1.1', `Host: ${host}`, ...headers].join('\r\n')}\r\n\r\n`
  const [inside, elsewhere] = await both(
    page('mail.example.test', 'X-A: \xc3\xa9'),
    page('rebound.example'),
  )
  t.equal(inside?.status, 200)
  t.equal(elsewhere?.status, 421, 'another Host behind the right one')
  // A part of a key is not taken for the key, here either.
  const keyed = (key: string) => request('POST /v1/key', [`Idempotency-Key: ${key}`])
  const [whole, part] = await both(keyed('order-1'), keyed('order-1\xc3\xa9'))
  t.same([whole?.status, part?.status], [200, 400])
})

t.test('[18] the end of a body is not taken for the head behind it', async (t) => {
  const seen = request('GET /header', ['X-A: \xe9inside'])
  const behind = request('GET /header', ['X-A: own'])
  const size = 1 + seen.length
  const chunked = `${size.toString(16)}\r\n`
  for (const [line, framing, end] of [
    ['POST /length', `Content-Length: ${size}\r\n\r\n`, ''],
    ['POST /nowhere', `Content-Length: ${size}\r\n\r\n`, ''],
    ['GET /header', `Content-Length: ${size}\r\n\r\n`, ''],
    ['DELETE /none', `Transfer-Encoding: chunked\r\n\r\n${chunked}`, '\r\n0\r\n\r\n'],
  ] as const) {
    const connection = await app.connect()
    connection.write(`${request(line).slice(0, -2)}${framing}x`)
    for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done))
    connection.write(`${seen}${end}${behind}${behind.replace('key-a', 'wrong')}`)
    await connection.response()
    t.same(jsonOf(await connection.response()), { joined: 'own' }, line)
    t.equal((await connection.response())?.status, 401, line)
    await connection.destroy()
  }
})

t.test('[18] the last piece of a head is not taken for the whole of it', async (t) => {
  const connection = await app.connect()
  connection.write('GET /header HTTP/1.1\r\nHost: a\r\nX-A: one\r\nX-B: ')
  for (let turn = 0; turn < 5; turn++) await new Promise((done) => setImmediate(done))
  connection.write('GET /header HTTP/1.1\r\nAuthorization: Bearer key-a\r\nX-C: \xc3\xa9\r\n\r\n')
  t.same(jsonOf(await connection.response()), { joined: 'one' })
  await connection.destroy()
})

t.test('[12] a head over 32 KiB is not served', async (t) => {
  served.length = 0
  const connection = await app.connect()
  connection.write(request('GET /second', [`X-A: ${'a'.repeat(30_000)}`]).slice(0, -2))
  await sleep(5)
  connection.write(`X-B: ${'b'.repeat(30_000)}\r\n\r\n`)
  t.match(await connection.rest(), refusal)
  t.same(served, [])
})

t.test('[19] a method that nobody knows is a 405, or closed; get is not GET', async (t) => {
  served.length = 0
  for (const method of ['PROPFIND', 'get', 'GETT']) {
    const response = await app.raw(request(`${method} /second`))
    t.ok(response === undefined || response.status === 405, `${method}: ${response?.status}`)
  }
  t.same(served, [])
  t.equal((await app.raw(request('TRACE /second')))?.status, 405)
})

t.test('Expect: 100-continue is answered before the body is sent', async (t) => {
  const connection = await app.connect()
  connection.write(request('POST /echo', [...json, 'Content-Length: 2', 'Expect: 100-continue']))
  t.equal((await connection.response())?.status, 100)
  t.equal((await connection.write('{}').response())?.status, 200)
  await connection.destroy()
})

t.test('a large response reaches a reader that is slow to start', async (t) => {
  const connection = await app.connect()
  connection.write(request('GET /large'))
  await sleep(100)
  t.equal((await connection.response())?.body.length, 3_000_011)
  t.equal((await connection.write(second).response())?.status, 200)
  await connection.destroy()
})

t.test('a body in many small pieces is kept whole', async (t) => {
  const connection = await app.connect()
  const size = 200_000
  connection.write(request('POST /length', [`Content-Length: ${size}`]))
  for (let sent = 0; sent < size; sent += 10_000) {
    connection.write('x'.repeat(10_000))
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.same(jsonOf(await connection.response()), { bytes: size })
  await connection.destroy()
})

t.test('an upgrade is a request like any other', async (t) => {
  const headers = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: AAAA']
  t.equal((await app.raw(request('GET /second', headers)))?.status, 200)
})

t.test('[11, 14] what uWS does not read is refused and closed, or closed', async (t) => {
  for (const [what, answer] of await silent) t.match(answer, refusal, what)
})

t.test('[11] what uWS 20.30 alone does not read is served, or closed', async (t) => {
  for (const response of await unread) {
    t.ok(response === undefined || response.status === 200, `${response?.status}`)
  }
})

t.test('[21] closing lets the request in flight end and refuses later ones', async (t) => {
  const gate = new EventTarget()
  const { server, connect } = await startServer(t, ({ api }) => {
    api.get('/held', {}, async () => {
      gate.dispatchEvent(new Event('begun'))
      await once(gate, 'release')
      return { held: true }
    })
    api.post('/echo', { body: Anything }, () => ({}))
  })
  const held = await connect()
  const idle = await connect()
  t.equal((await idle.write(post('/echo', {})).response())?.status, 200)
  const begun = once(gate, 'begun')
  held.write(request('GET /held'))
  await begun
  const closed = server.close(60_000)
  const refused = await idle.write(post('/echo', {})).response()
  t.equal(refused?.status, 503)
  t.same(refused?.headers.get('connection'), ['close'])
  t.ok(refused?.headers.has('retry-after'))
  t.match(jsonOf(refused), { code: 'service_unavailable' })
  await t.rejects(connect(), { code: 'ECONNREFUSED' })
  gate.dispatchEvent(new Event('release'))
  const response = await held.response()
  t.same(jsonOf(response), { held: true })
  t.same(response?.headers.get('connection'), ['close'])
  await closed
  t.equal(await held.rest(), '')
})

t.test('[21] after graceMs the connections are closed all the same', async (t) => {
  const clock = new FakeClock()
  const begun = new EventTarget()
  const { server, connect } = await startServer(
    t,
    ({ api }) =>
      api.get('/never', {}, () => {
        begun.dispatchEvent(new Event('begun'))
        return new Promise(() => {})
      }),
    { clock },
  )
  const connection = await connect()
  const waiting = once(begun, 'begun')
  connection.write(request('GET /never'))
  await waiting
  const closed = server.close(5000)
  await clock.advance(5000)
  await closed
  t.equal(await connection.rest(), '')
})

t.test('a port that is taken is an operator’s error', async (t) => {
  const second = startServer(t, () => {}, { port: app.port })
  await t.rejects(second, { name: 'OperatorError', message: /EADDRINUSE/ })
})

t.test('a name that the server does not go by is refused, an address is not', async (t) => {
  const { raw } = await startServer(
    t,
    ({ api }) => api.get('/', { query: type({ a: any() }) }, () => ({})),
    { allowedHosts: ['mail.example.test'] },
  )
  const status = async (host: string) =>
    (await raw(request('GET /?a=1').replace('localhost', host)))?.status
  t.equal(await status('mail.example.test:8080'), 200)
  t.equal(await status('MAIL.example.test'), 200)
  t.equal(await status('127.0.0.1:8080'), 200)
  t.equal(await status('[::1]:8080'), 200)
  t.equal(await status('rebound.example'), 421)
  t.equal(await status('127.0.0.1.example'), 421)
})

function jsonOf(response: RawResponse | undefined): unknown {
  return JSON.parse(response?.body.toString() || 'null')
}

async function openSilent(requests: Record<string, string>): Promise<Map<string, string>> {
  const answers = new Map<string, string>()
  await Promise.all(
    Object.entries(requests).map(async ([what, text]) => {
      const connection = await connectTo(app)
      answers.set(what, await connection.write(text).rest())
    }),
  )
  return answers
}

function connectTo({ connect }: Started) {
  return connect()
}
