import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { countTurns } from '../support/turns.js'
import { startServer } from './start.js'

const longest = 200
const piece = 'x'.repeat(64 * 1024)
let made = 0
let left: (() => void) | undefined
const hasLeft = new Promise<void>((resolve) => {
  left = resolve
})

const app = await startServer(t, ({ pages }) => {
  pages.get('/rows', () => ({ stream: rows(), contentType: 'text/csv' }))
  pages.get('/quick', () => ({ stream: quick(), contentType: 'text/csv' }))
  pages.get('/large', () => ({ stream: large(), contentType: 'text/plain' }))
  pages.get('/broken', () => ({ stream: broken(), contentType: 'text/plain' }))
  pages.get('/open', ({ signal }) => ({ stream: open(signal), contentType: 'text/event-stream' }))
})

async function* rows() {
  for (let row = 0; row < 1000; row++) yield `${row}\n`
}
let turns = 0
async function* quick() {
  const end = countTurns()
  for (let n = 0; n < 100; n++) yield 'x'
  turns = end()
}
async function* large() {
  for (made = 0; made < longest; made++) yield piece
}
async function* broken() {
  yield 'begun'
  throw new Error('the disk is gone')
}
async function* open(signal: AbortSignal) {
  yield ': hello\n\n'
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  left?.()
}

t.test('pieces arrive in their order, and no more than was made', async (t) => {
  const { text, headers } = await app.call('GET', '/rows', { key: null })
  t.equal(text, Array.from({ length: 1000 }, (_, row) => `${row}\n`).join(''))
  t.equal(headers.get('content-type'), 'text/csv')
  t.equal((await app.call('HEAD', '/rows', { key: null })).status, 200)
})

t.test('others have their turn after each piece', async (t) => {
  t.equal((await app.call('GET', '/quick', { key: null })).text.length, 100)
  t.ok(turns >= 99, `${turns} turns`)
})

t.test('a client that reads slowly is waited for', async (t) => {
  const socket = connect(app.port, '127.0.0.1')
  socket.pause()
  socket.write('GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  await new Promise((resolve) => setTimeout(resolve, 300))
  t.ok(made < longest, `${made} of ${longest} pieces were made while nobody read`)
  let bytes = 0
  socket.on('data', (data) => {
    bytes += data.length
    if (bytes > longest * piece.length) socket.end()
  })
  socket.resume()
  await once(socket, 'close')
  t.ok(bytes > longest * piece.length, 'all of it arrived')
})

t.test('what fails is broken off, and not taken for complete', async (t) => {
  await t.rejects(app.call('GET', '/broken', { key: null }))
})

t.test('an answer without an end ends when its client goes', async (t) => {
  const gone = new AbortController()
  const response = await fetch(`http://127.0.0.1:${app.port}/open`, { signal: gone.signal })
  t.equal(response.status, 200)
  gone.abort()
  await hasLeft
})

t.test('an answer without an end does not hold up a server that closes', async (t) => {
  const response = await fetch(`http://127.0.0.1:${app.port}/open`)
  const rest = response.text()
  await app.server.close(600_000)
  t.equal(await rest, ': hello\n\n', 'it was ended, and not cut off')
})
