import { gzipSync } from 'node:zlib'
import t from 'tap'
import { ApiError } from '../../src/errors/index.js'
import { maxFields } from '../../src/http/form.js'
import { PageHeaders, type PageRequest } from '../../src/http/index.js'
import { maxParts } from '../../src/http/multipart.js'
import { FakeClock } from '../support/clock.js'
import { startServer } from './start.js'

let asked: (() => void) | undefined
const wasAsked = new Promise<void>((resolve) => {
  asked = resolve
})
let begun: (() => void) | undefined
const hasBegun = new Promise<void>((resolve) => {
  begun = resolve
})
let told: ((address: string) => void) | undefined
const wasTold = new Promise<string>((resolve) => {
  told = resolve
})
const fixed = new PageHeaders({ 'X-Robots-Tag': 'noindex', 'Cache-Control': 'private' })
const script = Buffer.from('"use strict"')
// What reads of a file give: the first at the start.
const changing = ['as it was', 'as it was']
const app = await startServer(t, ({ pages }) => {
  pages.get('/', () => ({ html: '<h1>Hello</h1>' }))
  pages.get('/who/:name', ({ params, query, cookie }) => ({
    text: JSON.stringify([params.name, query.get('q'), cookie('session') ?? null]),
  }))
  pages.get('/pixel', () => ({
    bytes: Buffer.from('GIF89a'),
    contentType: 'image/gif',
    headers: { 'Cache-Control': 'private', 'Set-Cookie': ['a=1', 'b=2'] },
  }))
  pages.get('/link', () => ({ redirect: 'https://a.test/', status: 302, fixed }))
  pages.get('/link/first', () => ({ text: 'a', fixed, headers: { 'Set-Cookie': 'c=3' } }))
  pages.get('/go', ({ query }) => ({ redirect: query.get('to') ?? '/' }))
  pages.get('/gone', () => {
    throw new ApiError('not_found', 'No <such> link')
  })
  pages.get('/broken', () => {
    throw new Error('the password is hunter2')
  })
  pages.post('/form', {}, ({ form }) => ({
    text: JSON.stringify([form.get('name') ?? null, form.all('topic')]),
  }))
  pages.post('/unsubscribe', { crossSite: true }, ({ form }) => ({
    text: form.get('List-Unsubscribe') ?? '',
  }))
  pages.post('/hook', { raw: true, maxBodyBytes: 10 }, ({ rawBody }) => ({ text: `${rawBody}` }))
  const admitted = {
    maxBodyBytes: 1024 * 1024,
    admit: async ({ form, rawBody, cookie }: PageRequest) => {
      t.same([form.get('name'), rawBody.length], [undefined, 0])
      asked?.()
      return cookie('who') === 'ada' ? undefined : { redirect: '/login' }
    },
  }
  pages.post('/large', admitted, ({ form }) => ({ text: form.get('name') ?? '' }))
  pages.post('/slow', {}, async (request) => {
    const { signal } = request
    begun?.()
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    told?.(request.clientAddressKey)
    return { text: '' }
  })
  pages.file('/app.js', { read: () => script, contentType: 'text/javascript' })
  pages.file('/changed.js', {
    read: () => Buffer.from(changing.shift() ?? 'other'),
    contentType: 'text/javascript',
    cacheControl: 'immutable',
  })
})

const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' }

t.test('a page has the headers that keep a browser safe', async (t) => {
  const page = await app.call('GET', '/', { key: null })
  t.equal(page.status, 200)
  t.equal(page.text, '<h1>Hello</h1>')
  t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = page.headers.get('content-security-policy') ?? ''
  t.match(policy, /default-src 'self'/)
  t.notMatch(policy, /unsafe/)
  t.equal(page.headers.get('x-content-type-options'), 'nosniff')
  t.equal(page.headers.get('x-frame-options'), 'DENY')
  t.equal(page.headers.get('referrer-policy'), 'no-referrer')
  t.ok(page.headers.has('x-request-id'))
})

t.test('headers that are put together once arrive one by one, with the defaults', async (t) => {
  for (const [path, name, value] of [
    ['/link', 'location', 'https://a.test/'],
    ['/link/first', 'set-cookie', 'c=3'],
  ] as const) {
    const { headers } = await app.call('GET', path, { key: null })
    t.equal(headers.get(name), value)
    t.equal(headers.get('x-robots-tag'), 'noindex')
    t.equal(headers.get('cache-control'), 'private')
    t.match(headers.get('content-security-policy') ?? '', /default-src 'self'/)
    t.equal(headers.get('x-frame-options'), 'DENY')
  }
  t.throws(() => new PageHeaders({ 'X-A': 'b\r\nSet-Cookie: c=1' }), 'none ends the header')
})

t.test('a page sees parameters, query and cookies', async (t) => {
  const headers = { cookie: 'other=1; session=abc=; x' }
  const page = await app.call('GET', '/who/J%C3%BCrgen?q=a+b', { headers })
  t.same(JSON.parse(page.text), ['Jürgen', 'a b', 'abc='])
  t.same(JSON.parse((await app.call('GET', '/who/x')).text), ['x', null, null])
})

t.test('a page may send bytes and headers of its own', async (t) => {
  const pixel = await app.call('GET', '/pixel')
  t.equal(pixel.headers.get('content-type'), 'image/gif')
  t.equal(pixel.headers.get('cache-control'), 'private')
  t.same(pixel.headers.getSetCookie(), ['a=1', 'b=2'])
})

t.test('a redirect cannot carry a header with it', async (t) => {
  const to = encodeURIComponent('https://a.test/ü?q=1\r\nX-Injected: yes')
  const page = await app.call('GET', `/go?to=${to}`)
  t.equal(page.status, 303)
  t.equal(page.headers.get('location'), 'https://a.test/%C3%BC?q=1%0D%0AX-Injected:%20yes')
  t.notOk(page.headers.has('x-injected'))
})

t.test('errors are small pages without detail', async (t) => {
  const gone = await app.call('GET', '/gone')
  t.equal(gone.status, 404)
  t.match(gone.text, /No &lt;such&gt; link/)
  t.ok(gone.text.includes(gone.headers.get('x-request-id') ?? '-'))
  const broken = await app.call('GET', '/broken')
  t.equal(broken.status, 500)
  t.notMatch(broken.text, /hunter2/)
  t.match(app.errors, [{ fields: { requestId: broken.headers.get('x-request-id') } }])
  t.equal((await app.call('GET', '/who/%ff')).status, 404)
  const method = await app.call('PUT', '/form')
  t.equal(method.status, 405)
  t.equal(method.headers.get('allow'), 'OPTIONS, POST')
  const unknown = await app.call('GET', '/nowhere', { headers: { accept: 'text/html,*/*' } })
  t.equal(unknown.status, 404)
  t.equal(unknown.headers.get('content-type'), 'text/html; charset=utf-8')
})

t.test('forms are read in both of their types', async (t) => {
  const body = 'name=J%C3%BCrgen+K&topic=a&topic=b'
  const page = await app.call('POST', '/form', { body, headers: urlencoded })
  t.same(JSON.parse(page.text), ['Jürgen K', ['a', 'b']])
  const form = new FormData()
  form.set('List-Unsubscribe', 'One-Click')
  const sent = new Response(form)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  // RFC 8058 §3.1: providers post either type.
  const click = await app.call('POST', '/unsubscribe', { body: await sent.text(), headers })
  t.equal(click.text, 'One-Click')
  t.same(JSON.parse((await app.call('POST', '/form')).text), [null, []])
  const wrong = { 'content-type': 'text/plain' }
  t.equal((await app.call('POST', '/form', { body, headers: wrong })).status, 415)
  t.equal((await app.call('POST', '/hook', { body: 'x', headers: wrong })).text, 'x')
  t.equal((await app.call('POST', '/hook', { body: '12345678901' })).status, 413)
})

t.test(
  'who is let in is known before the body is there, and decides whether it is read',
  async (t) => {
    const connection = await app.connect()
    const head = `POST /large HTTP/1.1\r\nHost: mail.test\r\nContent-Length: 500000\r\n`
    connection.write(`${head}Content-Type: ${urlencoded['content-type']}\r\n\r\nname=`)
    await wasAsked
    connection.write('x'.repeat(499_995))
    const turnedAway = await connection.response()
    t.equal(turnedAway?.status, 303)
    t.same(turnedAway?.headers.get('location'), ['/login'])
    const unfit = { body: 'a&'.repeat(5000), headers: urlencoded }
    t.equal((await app.call('POST', '/large', unfit)).status, 303, 'a form that nobody took apart')
    const headers = { ...urlencoded, cookie: 'who=ada' }
    const body = `name=${'x'.repeat(499_995)}`
    t.equal((await app.call('POST', '/large', { body, headers })).text.length, 499_995)
  },
)

t.test('a form has so many fields and no more, in both of its types', async (t) => {
  const fields = (count: number) => `name=one${'&a'.repeat(count - 1)}`
  const send = (body: string, headers: Record<string, string> = urlencoded) =>
    app.call('POST', '/form', { body, headers })
  t.same(JSON.parse((await send(fields(maxFields))).text), ['one', []])
  const refused = await send(fields(maxFields + 1))
  t.equal(refused.status, 400)
  t.match(refused.text, 'more than 1000 fields')
  const parts = (count: number) =>
    `${'--b\r\nContent-Disposition: form-data; name="name"\r\n\r\none\r\n'.repeat(count)}--b--\r\n`
  const multipart = { 'content-type': 'multipart/form-data; boundary=b' }
  t.same(JSON.parse((await send(parts(maxParts), multipart)).text), ['one', []])
  t.equal((await send(parts(maxParts + 1), multipart)).status, 400)
})

t.test('a form is not inflated: no browser packs one', async (t) => {
  const packed = gzipSync('name=one')
  for (const coding of ['gzip', 'x-gzip', 'br', 'gzip, identity']) {
    const response = await fetch(`http://127.0.0.1:${app.port}/form`, {
      method: 'POST',
      body: packed,
      headers: { ...urlencoded, 'content-encoding': coding },
    })
    t.equal(response.status, 415, coding)
  }
  const headers = { ...urlencoded, 'content-encoding': 'identity' }
  t.equal((await app.call('POST', '/form', { body: 'name=one', headers })).status, 200)
})

t.test('who has hung up has done it from somewhere all the same', async (t) => {
  const connection = await app.connect()
  connection.write('POST /slow HTTP/1.1\r\nHost: mail.test\r\nContent-Length: 0\r\n\r\n')
  await hasBegun
  await connection.destroy()
  t.equal(await wasTold, '127.0.0.1')
})

t.test('a form on another site cannot be sent here', async (t) => {
  const send = async (path: string, headers: Record<string, string>) => {
    const request = await app.raw(
      [
        `POST ${path} HTTP/1.1`,
        'Host: mail.test',
        ...Object.entries(headers).map((h) => h.join(': ')),
      ]
        .concat('Content-Length: 0', '', '')
        .join('\r\n'),
    )
    return request?.status
  }
  t.equal(await send('/form', { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' }), 200)
  t.equal(await send('/form', { Origin: 'https://mail.test' }), 200)
  t.equal(await send('/form', { 'Sec-Fetch-Site': 'cross-site' }), 403)
  t.equal(await send('/form', { 'Sec-Fetch-Site': 'same-site' }), 403)
  t.equal(await send('/form', { Origin: 'https://evil.test' }), 403)
  t.equal(await send('/form', { Origin: 'null' }), 403)
  t.equal(await send('/unsubscribe', { Origin: 'https://evil.test' }), 200)
})

t.test('[22] a file is sent once and then confirmed by its ETag', async (t) => {
  const first = await app.call('GET', '/app.js')
  t.equal(first.text, script.toString())
  t.equal(first.headers.get('content-type'), 'text/javascript')
  const etag = first.headers.get('etag') ?? ''
  t.match(etag, /^W\/"[\w-]{22}"$/)
  const again = await app.call('GET', '/app.js', { headers: { 'if-none-match': `"x", ${etag}` } })
  t.equal(again.status, 304)
  t.equal(again.text, '')
  t.equal((await app.call('GET', '/app.js', { headers: { 'if-none-match': '"x"' } })).status, 200)
})

t.test('pages may be limited by address', async (t) => {
  const clock = new FakeClock()
  const { call } = await startServer(t, ({ pages }) => pages.get('/', () => ({ text: 'hi' })), {
    clock,
    pageRateLimit: { requests: 1, windowMs: 1000 },
  })
  t.equal((await call('GET', '/')).status, 200)
  const refused = await call('GET', '/')
  t.equal(refused.status, 429)
  t.equal(refused.headers.get('retry-after'), '1')
  await clock.advance(1000)
  t.equal((await call('GET', '/')).status, 200)
})

t.test('a file is gzipped for who takes that', async (t) => {
  const get = async (coding?: string) => {
    const accept = coding === undefined ? '' : `Accept-Encoding: ${coding}\r\n`
    const answer = await app.raw(`GET /app.js HTTP/1.1\r\nHost: mail.test\r\n${accept}\r\n`)
    t.same(answer?.headers.get('vary'), ['Accept-Encoding'])
    return answer?.headers.get('content-encoding')?.[0]
  }
  for (const coding of ['gzip, deflate, br', 'br;q=1.0, gzip;q=0.8', 'GZIP']) {
    t.equal(await get(coding), 'gzip', coding)
  }
  for (const coding of [undefined, 'identity', 'br', 'gzip;q=0', 'gzip; q=0.0, br']) {
    t.equal(await get(coding), undefined, coding ?? 'none')
  }
  const unpacked = await fetch(`http://127.0.0.1:${app.port}/app.js`)
  t.equal(await unpacked.text(), '"use strict"')
})

t.test('a file that has changed since the start is not served by its old name', async (t) => {
  const plain = { key: null, headers: { 'accept-encoding': 'identity' } }
  t.equal((await app.call('GET', '/changed.js', plain)).text, 'as it was')
  const { status, headers } = await app.call('GET', '/changed.js', plain)
  t.same([status, headers.get('cache-control')], [500, 'no-store'])
})
