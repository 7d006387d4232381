import t from 'tap'
import type { Pages } from '../../src/http/index.js'
import { startServer } from './start.js'

const anyone = { redirect: 'manual' } as const

/** A server whose pages are loaded when first asked for; counts how often that was. */
async function startLate(t: Parameters<typeof startServer>[0], load?: (pages: Pages) => void) {
  let loads = 0
  const started = await startServer(t, (server) => {
    server.api.get('/v1/things', { auth: false }, () => ({ here: true }))
    server.pages.get('/healthz', () => ({ text: 'ok' }))
    server.loadPagesLater(async (pages) => {
      loads++
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (load !== undefined) return load(pages)
      pages.get('/', () => ({ text: 'front' }))
      pages.get('/a/new', () => ({ text: 'new' }))
      pages.get('/a/:id', ({ params, query }) => ({ text: `a ${params.id} ${query.get('q')}` }))
      pages.get('/:kind/new', ({ params }) => ({ text: `new ${params.kind}` }))
      pages.post('/a/:id', {}, ({ form }) => ({ text: `named ${form.get('name')}` }))
      const large = { maxBodyBytes: 1_000_000, raw: true } as const
      pages.post('/large', large, ({ rawBody }) => ({ text: `${rawBody.length} bytes` }))
    })
  })
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${started.port}${path}`, { ...anyone, ...init })
    const { status, headers } = response
    return { status, headers: new Headers(headers), text: await response.text() }
  }
  return { ...started, ask, loads: () => loads }
}

t.test('pages are loaded by who asks first, who is answered as everybody after', async (t) => {
  const form = { method: 'POST', body: new URLSearchParams({ name: 'Anna' }) }
  const asked: [path: string, init: RequestInit, status: number, text?: string][] = [
    ['/', {}, 200, 'front'],
    ['/', { method: 'HEAD' }, 200, ''],
    ['/a/new', {}, 200, 'new'],
    ['/a/b%20c?q=1', {}, 200, 'a b c 1'],
    ['/b/new', {}, 200, 'new b'],
    ['/a/x', form, 200, 'named Anna'],
    ['/a/x', { method: 'DELETE' }, 405],
    ['/a/%zz', {}, 404],
    ['/a/x/y', {}, 404],
    ['/a/', {}, 404],
    ['//new', {}, 404],
    ['/', { method: 'OPTIONS' }, 204],
    ['/A/x', {}, 404],
    ['/', { method: 'POST' }, 405],
  ]
  for (const [path, init, status, text] of asked) {
    const { ask, loads } = await startLate(t)
    const name = `${init.method ?? 'GET'} ${path}`
    const [first, second] = [await ask(path, init), await ask(path, init)]
    t.equal(first.status, status, name)
    if (text !== undefined) t.equal(first.text, text, name)
    for (const field of ['x-request-id', 'date']) {
      first.headers.delete(field)
      second.headers.delete(field)
    }
    t.same([...first.headers], [...second.headers], `${name}: the same headers later`)
    // A page about an error shows the number of its request.
    if (status === 200) t.equal(second.text, first.text, name)
    t.equal(loads(), 1, name)
  }
})

t.test('many who come at once wait for one loading', async (t) => {
  const { ask, loads } = await startLate(t)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(`/a/${i}`)))
  t.same(
    answers.map(({ text }) => text),
    Array.from({ length: 20 }, (_, i) => `a ${i} null`),
  )
  t.equal(loads(), 1)
})

t.test('neither the API nor what is there loads pages', async (t) => {
  const { ask, loads } = await startLate(t)
  t.equal((await ask('/v1/things')).status, 200)
  t.equal((await ask('/v1/nothing')).status, 404)
  t.equal((await ask('/healthz')).status, 200)
  t.equal(loads(), 0)
})

t.test('a body that begins before its page is there has the bound of its page', async (t) => {
  const post = async (path: string, bytes: number, chunked = false) => {
    const body = Buffer.alloc(bytes, 'x')
    const stream = new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes; at += 50_000)
          controller.enqueue(body.subarray(at, at + 50_000))
        controller.close()
      },
    })
    const { ask } = await startLate(t)
    const init = chunked ? { body: stream, duplex: 'half' as const } : { body: String(body) }
    const { status, text } = await ask(path, { method: 'POST', ...init })
    return status === 200 ? text : status
  }
  for (const chunked of [false, true]) {
    t.equal(await post('/large', 3, chunked), '3 bytes')
    t.equal(await post('/large', 900_000, chunked), '900000 bytes')
    t.equal(await post('/large', 1_000_001, chunked), 413)
    t.equal(await post('/a/x', 66_000, chunked), 413, 'no form is so long')
    t.equal(await post('/nothing', 900_000, chunked), 404)
  }
})

t.test('pages that cannot be loaded are tried again', async (t) => {
  let fails = true
  const { ask, loads, errors } = await startLate(t, (pages) => {
    pages.get('/page', () => ({ text: 'there' }))
    if (fails) throw new Error('no such file')
  })
  const refused = await ask('/page')
  t.equal(refused.status, 503)
  t.match(refused.text, /Restart the appliance if its files have changed/)
  const shown = await ask('/page', { headers: { accept: 'text/html' } })
  t.match(shown.headers.get('content-type'), /^text\/html/, 'a page for a browser')
  t.match(errors, [{ message: 'Pages could not be loaded', fields: { error: /no such file/ } }, {}])
  fails = false
  t.equal((await ask('/page')).text, 'there')
  t.equal(loads(), 3)
})

t.test('a page in the place of another is an error, not the end of the process', async (t) => {
  const { ask, errors } = await startLate(t, (pages) => pages.get('/healthz', () => ({ text: '' })))
  t.equal((await ask('/page')).status, 503)
  t.match(errors, [{ fields: { error: /\/healthz exists twice/ } }])
  t.equal((await ask('/healthz')).text, 'ok')
})
