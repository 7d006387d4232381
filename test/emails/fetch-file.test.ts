import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { makeFetchFile } from '../../src/emails/fetch-file.js'
import { FakeClock } from '../support/clock.js'

const limits = { withinMs: 20_000, maxBytes: 1_000_000, accountId: 'ann' }

/** A server that `answer` speaks for, and what fetches from it. */
async function open(t: Test, answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => answer(socket))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const clock = new FakeClock()
  const fetchFile = makeFetchFile({ clock, resolver: {} as never, allow: ['127.0.0.1'] })
  return { clock, fetchFile, url: `http://127.0.0.1:${port}/file` }
}

t.test('a file in chunks of one byte is given up long before its end', async (t) => {
  const { fetchFile, url } = await open(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    socket.end(`${'1\r\nX\r\n'.repeat(900_000)}0\r\n\r\n`)
  })
  t.match(await fetchFile(url, limits), { failed: /in pieces that are too small/ })
})

t.test('one account has four places at once, and others go on', async (t) => {
  const waiting: Socket[] = []
  const { clock, fetchFile, url } = await open(t, (socket) => {
    waiting.push(socket)
    if (waiting.length === 5) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi')
  })
  const slow = [1, 2, 3, 4].map(() => fetchFile(url, limits))
  while (waiting.length < 4) await new Promise((done) => setTimeout(done, 5))
  await t.rejects(fetchFile(url, limits), { code: 'service_unavailable' })
  const other = await fetchFile(url, { ...limits, accountId: 'bob' })
  t.equal('pieces' in other && Buffer.concat(other.pieces).toString(), 'hi')
  await clock.advance(20_000)
  t.match(await Promise.all(slow), Array(4).fill({ failed: /took too long/ }))
  const again = fetchFile(url, limits)
  while (waiting.length < 6) await new Promise((done) => setTimeout(done, 5))
  waiting.at(-1)?.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nho')
  t.match(await again, { pieces: [Buffer.from('ho')] }, 'the places are free again')
})

t.test('a file that was cut off is none, however its end was to be known', async (t) => {
  const cuts: Record<string, { head: string; how: (socket: Socket) => void; said: RegExp }> = {
    'no length, and then silence': { head: '', how: () => {}, said: /took too long/ },
    'no length, reset': {
      head: '',
      how: (socket) => socket.resetAndDestroy(),
      said: /ECONNRESET/,
    },
    'a longer length': {
      head: 'Content-Length: 7200\r\n',
      how: (socket) => socket.end(),
      said: /ECONNRESET|broke off/,
    },
    'a longer length, and then silence': {
      head: 'Content-Length: 7200\r\n',
      how: () => {},
      said: /took too long/,
    },
    'chunks without the last one': {
      head: 'Transfer-Encoding: chunked\r\n',
      how: (socket) => socket.end(),
      said: /ECONNRESET|broke off/,
    },
    'chunks, and then silence': {
      head: 'Transfer-Encoding: chunked\r\n',
      how: () => {},
      said: /took too long/,
    },
  }
  for (const [what, { head, how, said }] of Object.entries(cuts)) {
    let sent: (() => void) | undefined
    const wasSent = new Promise<void>((done) => {
      sent = done
    })
    const { clock, fetchFile, url } = await open(t, (socket) => {
      const part = 'x'.repeat(0x468)
      const body = head.startsWith('T') ? `468\r\n${part}\r\n` : part
      socket.write(`HTTP/1.1 200 OK\r\n${head}Connection: close\r\n\r\n${body}`, () => {
        // What was written is read before the connection ends, which it shares an event loop with.
        setTimeout(() => {
          how(socket)
          sent?.()
        }, 30)
      })
    })
    const fetched = fetchFile(url, limits)
    await wasSent
    if (`${said}`.includes('too long')) await clock.advance(20_000)
    t.match(await fetched, { failed: said }, what)
  }
  const { fetchFile, url } = await open(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwhole')
  })
  t.match(await fetchFile(url, limits), { pieces: [Buffer.from('whole')] }, 'no length, and an end')
})

t.test('an answer that is none ends the fetch, and a compressed one is no file', async (t) => {
  for (const [head, said] of [
    ['101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade', /nothing could be fetched/],
    ['200 OK\r\nTransfer-Encoding: gzip, chunked', /compressed/],
    ['200 OK\r\nTransfer-Encoding: gzip', /compressed/],
  ] as const) {
    const { fetchFile, url } = await open(t, (socket) => {
      socket.end(`HTTP/1.1 ${head}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`)
    })
    t.match(await fetchFile(url, limits), { failed: said }, head)
  }
})

t.test('accounts that hold all they may leave a place for one more', async (t) => {
  const waiting: Socket[] = []
  let arrived: (() => void) | undefined
  const { clock, fetchFile, url } = await open(t, (socket) => {
    waiting.push(socket)
    arrived?.()
  })
  const of = (accountId: string) => fetchFile(url, { ...limits, accountId })
  const hogs = ['a', 'b', 'c', 'd', 'e']
  const held = hogs.flatMap((name) =>
    [1, 2, 3, 4, 5].map(() => of(name).catch(() => ({ failed: 'refused' }))),
  )
  const one = of('z')
  // Four have four, and of the four that are left the fifth may have two.
  while (waiting.length < 19) {
    await new Promise<void>((done) => {
      arrived = done
    })
  }
  waiting.at(-1)?.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi')
  t.match(await one, { pieces: [Buffer.from('hi')] })
  await clock.advance(20_000)
  await Promise.all(held)
})
