/**
 * How many bounces a second are parsed, classified and committed with all that follows from them, and
 * how many are taken by SMTP meanwhile. Not a test: `npm run build && node dist/test/bench/dsn.js [count]`.
 */
import { readdirSync, readFileSync } from 'node:fs'
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

const taking = await startInbound(bench.t, { store, reads: false })
const startedAt = performance.now()
await Promise.all(
  Array.from({ length: connections }, async (_, lane) => {
    for (let i = lane; i < count; ) {
      // As many as one connection may bring.
      const client = await taking.talk()
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
const takenMs = performance.now() - startedAt
await taking.close()

const waiting = async () =>
  Number(
    (
      await store.read
        .selectFrom('inbound_spool')
        .select(({ fn }) => fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  )
const spooled = await waiting()
const readFrom = performance.now()
const cpuBefore = process.cpuUsage()
await startInbound(bench.t, { store })
while ((await waiting()) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
const readMs = performance.now() - readFrom
const { user, system } = process.cpuUsage(cpuBefore)

const bounced = await store.read
  .selectFrom('deliveries')
  .select('id')
  .where('status', '=', 'bounced')
  .execute()
console.log(
  `taken by SMTP on ${connections} connections, each committed: ${perSecond(count, takenMs)}/s
read, classified and committed with their effects:     ${perSecond(spooled, readMs)}/s (the start of the thread included)
${((user + system) / 1_000 / spooled).toFixed(2)} ms of processor time a report
${spooled} reports, ${bounced.length} deliveries bounced by them`,
)
await bench.end()

function perSecond(done: number, ms: number): number {
  return Math.round((done * 1_000) / ms)
}
