import { parseArgs } from 'node:util'
import type { Test } from 'tap'
import { startPostgres } from '../../support/postgres.js'
import { benchContent } from '../content.js'
import {
  type Appliance,
  askOver,
  initDataDir,
  loadAverage,
  openSink,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
  sleep,
} from '../rig.js'

/*
 * How long the API takes to accept a mail of 10 KB with an idempotency key, over a PostgreSQL of this machine and over
 * SQLite, in turn: `node dist/test/bench/postgres/api.js --warm-up 20 --seconds 20 --rounds 2`
 * First each takes as many as it can, 50 at once, in which V8 compiles; then both take half of what the slower one took.
 * With `--pace` so many a second instead. The mails leave meanwhile, to a sink. A send is late from the moment on at which it was due. To be held: p99 ≤ 2 times.
 */
const { values } = parseArgs({
  options: {
    'warm-up': { type: 'string', default: '20' },
    seconds: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '2' },
    pace: { type: 'string' },
  },
})
const [warmUpMs, pacedMs] = [Number(values['warm-up']) * 1_000, Number(values.seconds) * 1_000]
const engines = ['postgres', 'sqlite'] as const
const atOnce = 50
const sinkPort = 2_631

const ends: (() => unknown)[] = []
const t = {
  teardown: (end: () => unknown) => void ends.unshift(end),
  passing: () => true,
} as unknown as Test
const ask = askOver(200)
const { html, text } = benchContent()
let sent = 0

/** Hands in one mail; what it took, in ms. */
function send(appliance: Appliance): Promise<number> {
  const n = sent++
  const mail = { from: 'a@example.test', to: `r${n}@d${n % 20}.test`, subject: 'Bench', html, text }
  return ask(appliance, 'POST', '/v1/emails/send', mail, { 'idempotency-key': `bench-${n}` })
}

/** Mails a second, as many as it takes. */
async function most(appliance: Appliance): Promise<number> {
  const [before, began] = [sent, performance.now()]
  const one = async () => {
    while (performance.now() - began < warmUpMs) await send(appliance)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return ((sent - before) * 1_000) / (performance.now() - began)
}

/** Begins so many a second, whether those before have ended or not; each from when it was due, in ms. */
async function paced(appliance: Appliance, aSecond: number): Promise<number[]> {
  const began = performance.now()
  const took: Promise<number>[] = []
  const dueAfter = () => (took.length * 1_000) / aSecond
  for (let now = 0; now < pacedMs; now = performance.now() - began) {
    for (; dueAfter() <= now; ) {
      const late = now - dueAfter()
      took.push(send(appliance).then((ms) => ms + late))
    }
    await sleep(2)
  }
  return await Promise.all(took)
}

try {
  const server = await startPostgres(t, { syncs: true })
  const sink = openSink('127.0.0.1', sinkPort)
  const appliances: Appliance[] = []
  for (const engine of engines) {
    if (engine === 'postgres') process.env.POSTHORN_STORE_URL = `${server.url}/postgres`
    else delete process.env.POSTHORN_STORE_URL
    const appliance = await serveAppliance({ ...initDataDir(), sinkPort, connections: 20 })
    ends.unshift(() => appliance.stop())
    appliances.push(appliance)
  }
  const signatures = rsaSignatures()
  const rates: number[] = []
  for (const appliance of appliances) {
    rates.push(await most(appliance))
    await untilQuiet(sink)
  }
  const pace = Number(values.pace ?? Math.min(...rates) / 2)
  const took = engines.map((): number[] => [])
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [n, appliance] of appliances.entries()) {
      took[n]?.push(...(await paced(appliance, pace)))
      await untilQuiet(sink)
    }
  }
  const of = (n: number, share: number) => quantile(took[n] ?? [], share)
  report([
    ['load average; RSA-2048 signatures/s', `${loadAverage()}; ${signatures}, ${rsaSignatures()}`],
    ['at most, mails/s', rates.map((rate, n) => `${engines[n]} ${rate.toFixed(0)}`).join(', ')],
    ['pace, mails/s', pace.toFixed(0)],
    ...engines.map((engine, n): [string, string] => [
      `${engine}, p50, p90, p99 (n)`,
      `${[0.5, 0.9, 0.99].map((share) => of(n, share).toFixed(1)).join(', ')} ms (${took[n]?.length})`,
    ]),
    ['p99, PostgreSQL : SQLite (bar: 2)', (of(0, 0.99) / of(1, 0.99)).toFixed(2)],
  ])
  sink.process.kill()
} finally {
  for (const end of ends) await end()
}
process.exit(0)

/** What one engine has left must not run beside the other. */
async function untilQuiet(sink: ReturnType<typeof openSink>): Promise<void> {
  for (let before = -1; sink.count() !== before; await sleep(2_000)) before = sink.count()
}
