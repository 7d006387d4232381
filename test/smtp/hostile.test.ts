import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t from 'tap'
import { connectSmtp } from '../../src/smtp/index.js'
import { type Tester, towards } from './open.js'

const sessions = 400
const deadlineMs = 60
const deadlines = Object.fromEntries(
  ['connect', 'banner', 'ehlo', 'startTls', 'mail', 'rcpt', 'data', 'block', 'dot', 'reset'].map(
    (phase) => [`${phase}Ms`, deadlineMs],
  ),
)

/** Replies as a good server gives them to each command; the fuzzer spoils them. */
const banner = '220 mx ESMTP\r\n'
const good: Record<string, string> = {
  EHLO: '250-mx\r\n250-PIPELINING\r\n250-SIZE 1000000\r\n250-STARTTLS\r\n250 8BITMIME\r\n',
  HELO: '250 mx\r\n',
  STARTTLS: '220 go ahead\r\n',
  MAIL: '250 2.1.0 ok\r\n',
  RCPT: '250 2.1.5 ok\r\n',
  DATA: '354 go ahead\r\n',
  '.': '250 2.0.0 accepted\r\n',
  RSET: '250 2.0.0 flushed\r\n',
}

/** A small generator with a seed (mulberry32), so that a find can be repeated. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (((mixed ^ (mixed >>> 14)) >>> 0) % 1_000_000) % below
  }
}

/** Bytes that are nearly the reply, or nothing like it. */
function spoiled(reply: string, random: (below: number) => number): Buffer {
  const bytes = Buffer.from(reply)
  switch (random(60)) {
    case 0:
      return Buffer.from(Array.from({ length: random(3_000) }, () => random(256)))
    case 1:
      return bytes.subarray(0, random(bytes.length))
    case 2:
      bytes[random(bytes.length)] = random(256)
      return bytes
    case 3:
      return Buffer.concat([bytes, Buffer.from(banner)])
    case 4:
    case 7:
    case 8:
    case 9:
      return Buffer.from(`${[421, 450, 550, 199, 600, 252][random(6)]} 5.7.1 no\r\n`)
    case 5:
      return Buffer.from(reply.replaceAll('\r\n', ['\n', '\r', '\0', '\r\r\n'][random(4)] ?? ''))
    case 6:
      return Buffer.from(`250-${'x'.repeat(random(4_000))}\r\n`.repeat(random(100)))
    default:
      return bytes
  }
}

/** A server that answers every command, but one in nine wrongly, and hangs up at whim. */
async function hostileServer(t: Tester) {
  const sockets = new Set<Socket>()
  let seed = 0
  const server = createServer((socket) => {
    const random = seeded(seed++)
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    const say = (reply: string) => {
      if (socket.writable) socket.write(spoiled(reply, random))
    }
    say(banner)
    socket.on('data', (chunk: Buffer) => {
      const commands = String(chunk).match(/^(?:[A-Z]+|\.)(?=[ \r])/gm) ?? []
      for (const command of commands) {
        if (random(100) === 0) return void socket.end()
        if (random(100) === 0) return void socket.resetAndDestroy()
        say(good[command] ?? '')
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

t.test(
  `${sessions} sessions with a mad server: no exception, no wait past the deadlines`,
  async (t) => {
    const server = await hostileServer(t)
    const seen = new Map<string, number>()
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
    let slowestMs = 0
    for (let done = 0; done < sessions; done += 20) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, at) => {
          const began = performance.now()
          const pipelining = at % 4 !== 0
          const mode = at % 5 === 0 ? 'opportunistic' : 'off'
          const opened = await connectSmtp(
            towards(server, { deadlines, pipelining, tls: { mode } }),
          )
          count(opened.kind === 'failed' ? `failed at ${opened.phase}` : 'ready')
          if (opened.kind === 'ready') {
            const { connection } = opened
            const envelope = { from: '', to: 'a@example.test' }
            const body = [Buffer.alloc(at === 1 ? 200_000 : 1_000, 'x')]
            const results = await Promise.all([1, 2, 3].map(() => connection.send(envelope, body)))
            for (const result of results) {
              count(result.kind)
              if ('reply' in result && result.reply !== undefined) {
                t.ok(Buffer.byteLength(result.reply.text) <= 1_000)
                t.notMatch(result.reply.text, /[\0-\x09\x0b-\x1f\x7f]/)
              }
            }
            t.ok(connection.transcript().length < 10_000)
            if (connection.alive) connection.quit()
            await connection.closed
          }
          slowestMs = Math.max(slowestMs, performance.now() - began)
        }),
      )
    }
    // Opening has four waits, a message four and one block, and three messages share a session.
    t.ok(slowestMs < 20 * deadlineMs + 5_000, `the slowest took ${Math.round(slowestMs)} ms`)
    t.comment(Object.fromEntries(seen))
    for (const kind of [
      'ready',
      'failed at banner',
      'failed at ehlo',
      'accepted',
      'refused',
      'lost',
    ]) {
      t.ok(seen.has(kind), `some ${kind}`)
    }
  },
)
