import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { ApiError } from '../../src/errors/index.js'
import type { Upload } from '../../src/http/index.js'
import { FakeClock } from '../support/clock.js'
import { request, startServer } from './start.js'

const type = 'multipart/form-data; boundary=xyz'
const part = (name: string, content: string, filename = '; filename="a.csv"') =>
  `--xyz\r\nContent-Disposition: form-data; name="${name}"${filename}\r\nContent-Type: text/csv\r\n\r\n${content}\r\n`
const maxBodyBytes = 1024 * 1024

let gate: Promise<void> | undefined
const opened: Upload[] = []
const ended: unknown[] = []
let sizes: number[] = []

const clock = new FakeClock()
const app = await startServer(
  t,
  ({ api }) => {
    api.post('/file', { upload: 'file', maxBodyBytes }, async ({ upload, rawBody }) => {
      const { filename, contentType, bytes } = await upload()
      let text = ''
      for await (const piece of bytes) text += piece.toString('latin1')
      return { filename, contentType, text, raw: rawBody.length }
    })
    api.post('/slow', { upload: 'file', maxBodyBytes: 64 * 1024 * 1024 }, async ({ upload }) => {
      const file = await upload()
      opened.push(file)
      await gate
      sizes = []
      try {
        for await (const piece of file.bytes) sizes.push(piece.length)
        return { bytes: sizes.reduce((sum, size) => sum + size, 0) }
      } catch (error) {
        ended.push(error)
        throw error
      }
    })
    api.post('/refused', { upload: 'file', maxBodyBytes }, () => {
      throw new ApiError('subscription_past_due', 'Not now')
    })
  },
  { clock },
)

const head = (path: string, length: number) =>
  request(`POST ${path}`, [`Content-Type: ${type}`, `Content-Length: ${length}`])
const post = (path: string, body: string) =>
  app.call('POST', path, { body, headers: { 'content-type': type } })

t.test('a file arrives as it was sent, whatever surrounds it', async (t) => {
  const content = 'a,b\r\n--xy\r\n\r\n--xyZ\r\n\n--xyz\r\r\n--'
  const after = part('more', 'x'.repeat(9_000), '')
  const body = `preamble\r\n${part('first', 'no', '')}${part('file', content)}${after}--xyz--`
  const expected = { filename: 'a.csv', contentType: 'text/csv', text: content, raw: 0 }
  t.same((await post('/file', body)).json, expected)
  t.same((await post('/file', `${part('file', '')}--xyz--\r\n`)).json, { ...expected, text: '' })

  t.comment('in pieces, cut everywhere')
  const short = `${part('a', 'x', '')}${part('file', content)}--xyz--\r\n`
  const connection = await app.connect()
  connection.write(head('/file', short.length))
  for (const byte of short) {
    connection.write(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.same(JSON.parse((await connection.response())?.body.toString() ?? ''), expected)
  await connection.destroy()
})

t.test('what is no such form, or is cut off, is refused', async (t) => {
  const whole = `${part('file', 'a,b')}--xyz--\r\n`
  for (const [body, message] of [
    ['', /closing boundary is missing/],
    ['nothing', /closing boundary is missing/],
    ['--xyz--\r\n', /no field "file"/],
    [`${part('other', 'a')}--xyz--`, /no field "file"/],
    [whole.slice(0, -11), /closing boundary is missing/],
    [whole.slice(0, 40), /closing boundary is missing|no header section|no name/],
    [`--xyz\r\n${'x'.repeat(9_000)}\r\n\r\n--xyz--`, /no header section/],
    ['--xyz!\r\n\r\n--xyz--', /not followed by a line end/],
    [`${'--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(300)}`, /no field/],
  ] as const) {
    t.match(await post('/file', body), {
      status: 400,
      json: { code: 'validation_error', error: message },
    })
  }
  const csv = { body: 'a,b', headers: { 'content-type': 'text/csv' } }
  t.match(await app.call('POST', '/file', csv), { status: 415 })
  const none = { body: whole, headers: { 'content-type': 'multipart/form-data' } }
  t.match(await app.call('POST', '/file', none), { status: 400, json: { error: /boundary is/ } })
  t.match(await app.call('POST', '/file', { ...csv, key: null }), { status: 401 })
})

t.test('over the limit: 413, by what is announced and by what comes', async (t) => {
  const body = `${part('file', 'x'.repeat(maxBodyBytes))}--xyz--`
  t.match(await post('/file', body), { status: 413, json: { max: maxBodyBytes } })
  const connection = await app.connect()
  connection.write(request('POST /file', [`Content-Type: ${type}`, 'Transfer-Encoding: chunked']))
  for (const piece of body.match(/[\s\S]{1,50000}/g) ?? []) {
    connection.write(`${piece.length.toString(16)}\r\n${piece}\r\n`)
  }
  connection.write('0\r\n\r\n')
  t.equal((await connection.response())?.status, 413)
  connection.write(request('GET /nowhere'))
  t.equal((await connection.response())?.status, 404, 'the connection is still good')
  await connection.destroy()
})

t.test('refused before it is read, and the next request is served', async (t) => {
  const body = `${part('file', 'x'.repeat(900_000))}--xyz--`
  const connection = await app.connect()
  connection.write(head('/refused', body.length)).write(body)
  t.equal((await connection.response())?.status, 403)
  connection.write(request('GET /nowhere'))
  t.equal((await connection.response())?.status, 404)
  await connection.destroy()
})

t.test('a client sends no faster than the file is read', async (t) => {
  let openGate = () => {}
  gate = new Promise((resolve) => {
    openGate = resolve
  })
  const content = Buffer.alloc(40 * 1024 * 1024, 'x')
  const start = Buffer.from(part('file', '').slice(0, -2))
  const end = Buffer.from('\r\n--xyz--\r\n')
  const socket = connect(app.port, '127.0.0.1')
  await once(socket, 'connect')
  const length = start.length + content.length + end.length
  socket.write(Buffer.concat([Buffer.from(head('/slow', length)), start]))
  const all = new Promise<string>((resolve) => socket.write(content, () => resolve('all of it')))
  socket.write(end)
  const some = new Promise((resolve) => setTimeout(resolve, 500, 'some of it'))
  t.equal(await Promise.race([all, some]), 'some of it', 'nobody reads: the sockets are full')
  openGate()
  const [answer] = (await once(socket, 'data')) as [Buffer]
  t.match(answer.toString(), `{"bytes":${content.length}}`)
  // uWS 20.57 reads up to ten times half a megabyte before it looks at what was paused.
  t.ok(Math.max(...sizes) < 6 * 1024 * 1024, `pieces of at most ${Math.max(...sizes)} bytes`)
  socket.destroy()
  gate = undefined
})

t.test('a client that leaves, or stays away, ends the reading', async (t) => {
  const left = await app.connect()
  const before = opened.length
  left.write(head('/slow', 100_000)).write(part('file', 'x'.repeat(20_000)))
  while (opened.length === before) await new Promise((resolve) => setImmediate(resolve))
  await left.destroy()
  while (ended.length === 0) await new Promise((resolve) => setImmediate(resolve))
  t.match(ended, [{ message: 'The body did not arrive' }])

  const away = await app.connect()
  away.write(head('/slow', 100_000)).write(part('file', 'x'))
  let answered = false
  const late = away.response().finally(() => {
    answered = true
  })
  while (!answered) await clock.advance(60_000)
  t.equal((await late)?.status, 408)
  await away.destroy()
})

t.test('nothing of this was unexpected', async (t) => {
  t.same(app.errors, [])
})
