/**
 * What 20 MiB of hostile MIME cost: time until it is done with, memory at its highest, and how long a
 * usual bounce takes meanwhile. Not a test: `npm run build && node dist/test/bench/mime-bomb.js`.
 */
import { dsn, makePast } from '../inbound/mails.js'
import { startInbound } from '../inbound/start.js'
import { openTestStore } from '../support/store.js'
import { benchTest } from './bench-test.js'

const size = 20 * 2 ** 20 - 1024
const fill = (unit: string) => unit.repeat(Math.floor(size / unit.length))
const nested = Array.from(
  { length: 100_000 },
  (_, i) => `Content-Type: multipart/mixed; boundary="b${i}"\r\n\r\n--b${i}\r\n`,
).join('')
const bombs: Readonly<Record<string, string>> = {
  depth: nested.slice(0, size),
  parts: `Content-Type: multipart/mixed; boundary=b\r\n\r\n${fill('--b\r\n\r\n\r\n').slice(100)}`,
  headers: fill('X-A: b\r\n'),
  'one header': `Subject: ${fill('=?utf-8?q?=61?=\r\n ').slice(100)}`,
  'one line': `Content-Type: text/plain\r\n\r\n${fill('a').slice(100)}`,
  'base64 of zeros': `Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${fill(`${'A'.repeat(76)}\r\n`).slice(100)}`,
  'encoded parameters': `Content-Type: multipart/mixed; ${fill("b*1*=utf-8''a;").slice(100)}\r\n\r\n`,
}

const bench = benchTest()
const store = await openTestStore(bench.t)
const past = await makePast(store)
const inbound = await startInbound(bench.t, { store })

const deliver = async (text: string, recipient: string) => {
  const mail = await past.mail({ [recipient]: 'delivered' })
  const begun = performance.now()
  const reply = await inbound.give(text, mail.deliveries[0]?.returnPath ?? '')
  if (!reply.startsWith('250')) throw new Error(reply)
  const taken = performance.now() - begun
  while ((await store.read.selectFrom('inbound_spool').select('id').execute()).length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  return { taken, done: performance.now() - begun }
}
const usual = (name: string) => deliver(dsn({ recipient: name }), name)
const ms = (value: number) => `${Math.round(value)} ms`.padStart(8)

await usual('warm-up@one.test')
const base = await usual('usual@one.test')
console.log(`a usual bounce: taken in ${ms(base.taken)}, done with after ${ms(base.done)}`)
for (const [name, bomb] of Object.entries(bombs)) {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let highest = before
  const watch = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss)
  }, 5)
  const exploding = deliver(bomb, `${name.replaceAll(' ', '-')}@one.test`)
  const beside = await usual(`beside-${name.replaceAll(' ', '-')}@one.test`)
  const { taken, done } = await exploding
  clearInterval(watch)
  const mebibytes = ((highest - before) / 2 ** 20).toFixed(0)
  console.log(
    `${name.padEnd(20)} taken in ${ms(taken)}, done with after ${ms(done)}, ${mebibytes.padStart(3)} MiB more; a usual bounce beside it ${ms(beside.done)}`,
  )
}
await bench.end()
