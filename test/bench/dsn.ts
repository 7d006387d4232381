/**
 * How many bounces a second are parsed, classified and committed with all that follows from them, and
 * how many are taken by SMTP meanwhile. Not a test: `npm run build && node dist/test/bench/dsn.js [count]`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { systemClock } from '../../src/clock/index.js'
import { openSpool } from '../../src/inbound/spool.js'
import { dsn, makePast } from '../inbound/mails.js'
import { startInbound } from '../inbound/start.js'
import { openTestStore } from '../support/store.js'
import { benchTest } from './bench-test.js'

const count = Number(process.argv[2] ?? 3_000)
const connections = 10

const bench = benchTest()
const store = await openTestStore(bench.t)
const past = await makePast(store)
const realistic = readdirSync('test/fixtures/reports')
  .filter((name) => name.endsWith('.eml'))
  .map((name) => readFileSync(`test/fixtures/reports/${name}`))

const returnPaths: string[] = []
for (let i = 0; i < count; i++) {
  const mail = await past.mail({ [`r${i}@d${i % 50}.test`]: 'delivered' })
  returnPaths.push(mail.deliveries[0]?.returnPath ?? '')
}
// Every other one is what other systems really send, the rest the plainest form.
const message = (i: number) =>
  i % 2 === 0
    ? dsn({ recipient: `r${i}@d${i % 50}.test` })
    : (realistic[i % realistic.length] ?? '')

const waiting = async () =>
  Number(
    (
      await store.read
        .selectFrom('inbound_spool')
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  )
const workedOff = async () => {
  while ((await waiting()) > 0) await new Promise((resolve) => setTimeout(resolve, 10))
}

// What an appliance that was down for a while finds: half of them.
const half = Math.floor(count / 2)
// One network has a tenth of it.
const limits = { mails: 10 * count, bytes: Number.MAX_SAFE_INTEGER }
const spool = await openSpool({ store, clock: systemClock }, limits)
const envelope = { remoteAddress: '192.0.2.1', mailFrom: '', helo: '' }
const arrival = { envelope, operator: [], forward: false }
for (let i = 0; i < half; i++) {
  const raw = Buffer.from(message(i))
  const reports = [returnPaths[i] ?? '']
  await spool.keep({ ...arrival, reports, raw, sizeBytes: raw.length })
}
const reading = measure()
const inbound = await startInbound(bench.t, { store })
await workedOff()
console.log(
  `read, classified, committed:              ${reading(half)}, the start of the thread included`,
)

// The other half comes by SMTP.
const all = measure()
await Promise.all(
  Array.from({ length: connections }, async (_, lane) => {
    for (let i = half + lane; i < count; ) {
      // As many as one connection may bring.
      const client = await inbound.talk()
      await client.say('EHLO mx.one.test')
      for (let n = 0; n < 100 && i < count; n++, i += connections) {
        await client.say('MAIL FROM:<>')
        await client.say(`RCPT TO:<${returnPaths[i]}>`)
        await client.say('DATA')
        client.write(message(i))
        await client.say('\r\n.')
      }
      await client.say('QUIT')
    }
  }),
)
const taken = all(count - half)
await workedOff()
console.log(`taken by SMTP on ${connections} connections meanwhile:  ${taken}`)
console.log(
  `taken, read, classified, committed:       ${all(count - half)}, the sender's work included`,
)

const bounced = await store.read
  .selectFrom('deliveries')
  .select('id')
  .where('status', '=', 'bounced')
  .execute()
console.log(`${count} reports, ${bounced.length} deliveries bounced by them`)
await bench.end()

/** Since when; the returned function tells the rate and the processor time of so many. */
function measure(): (done: number) => string {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  return (done) => {
    const seconds = (performance.now() - startedAt) / 1_000
    const { user, system } = process.cpuUsage(before)
    const cpuMs = (user + system) / 1_000 / done
    return `${Math.round(done / seconds)}/s, ${cpuMs.toFixed(2)} ms of processor time each`
  }
}
