/*
 * Accepting and delivering with retention under way : without. `node dist/test/bench/retention.js`
 *   --log 1000000 mails that are too old   --mails-an-event 1 (100: few events, which go first, so that mails go)
 *   --data DIR, kept, filled if it is new: filling takes minutes a million   --rounds 0: only that
 *   --seconds 20 of each measure   --rounds 2   --rate 300 mails/s   --warm 25 s of it before they count (a young process compiles)
 * Each round starts the appliance once without and once with the job, begun as by 'posthorn job run retention', in
 * turn; it loads it at the set rate (open loop: a time counts from when the request was due), then with as much as
 * goes in. What was deleted meanwhile stands beside: without it the figures would show nothing. What is signed a
 * second (openssl) is the machine's measure.
 */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { systemClock } from '../../src/clock/index.js'
import { countNextBodies } from '../../src/retention/index.js'
import { databaseFile, makeTurns, openStore } from '../../src/store/index.js'
import { cliEntry } from '../support/process.js'
import { fillOldMails } from './fill-old-mails.js'
import {
  type Appliance,
  initDataDir,
  openSink,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
  sleep,
} from './rig.js'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    log: { type: 'string', default: '1000000' },
    'mails-an-event': { type: 'string', default: '1' },
    seconds: { type: 'string', default: '20' },
    warm: { type: 'string', default: '25' },
    rounds: { type: 'string', default: '2' },
    rate: { type: 'string', default: '300' },
    clients: { type: 'string', default: '50' },
  },
})
const [oldMails, seconds, rounds] = [values.log, values.seconds, values.rounds].map(Number) as [
  number,
  number,
  number,
]
const rate = Number(values.rate)
const tables = ['emails', 'deliveries', 'events', 'bodies'] as const
const html = `<p>${'word '.repeat(700)}</p>`
const sinkPort = 2_628
const sink = openSink('127.0.0.1', sinkPort)
const { dataDir, apiKey } = initDataDir(values.data)
const file = databaseFile(dataDir)
const newest = () => ask<{ id: string }>('select mail_id as id from retention_state')?.id ?? ''
if (newest() === '') {
  const tookS = await fillOldMails(dataDir, oldMails, Number(values['mails-an-event']))
  console.log(`filled in ${tookS} s`)
}
if (rounds === 0) process.exit(0)
await countBodies()
const databaseMb = statSync(file).size / 1e6
const newestOld = newest()
const sums = { without: newSum(), with: newSum() }
for (let round = 0; round < rounds; round++) {
  const order = round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)
  for (const kind of order) await measure(kind)
}
const { without, with: beside } = sums
const both = (of: (sum: Sum) => number) =>
  `${(of(without) / rounds).toFixed(0)}, ${(of(beside) / rounds).toFixed(0)}; ${(of(beside) / of(without)).toFixed(3)}`
const latencies = ({ tookMs }: Sum) =>
  [0.5, 0.99, 1].map((share) => quantile(tookMs, share).toFixed(1)).join(' / ')
report([
  ['database, MB', databaseMb.toFixed(0)],
  ['RSA-2048 signatures/s', rsaSignatures().toFixed(0)],
  ['at a rate, delivered/s: without, with; ratio', both(({ paced }) => paced.delivered / seconds)],
  ['  API p50 / p99 / max, ms: without', latencies(without)],
  ['  the same with retention (bar: p99 < 50)', latencies(beside)],
  ['saturated, accepted/s (bar 0.9)', both(({ full }) => full.accepted / seconds)],
  ['  delivered/s (bar 0.9)', both(({ full }) => full.delivered / seconds)],
  ...tables.map((table) => [`deleted meanwhile: ${table}`, `${beside.deleted[table]}`] as const),
])
process.exit(0)

interface Sum {
  paced: { accepted: number; delivered: number }
  full: { accepted: number; delivered: number }
  tookMs: number[]
  deleted: Record<(typeof tables)[number], number>
}

function newSum(): Sum {
  const none = { accepted: 0, delivered: 0 }
  const deleted = { emails: 0, deliveries: 0, events: 0, bodies: 0 }
  return { paced: { ...none }, full: { ...none }, tookMs: [], deleted }
}

/** Once with or without, in an appliance that has just started: a run of retention would go on. */
async function measure(kind: keyof typeof sums): Promise<void> {
  const sum = sums[kind]
  const appliance = await serveAppliance({
    dataDir,
    apiKey,
    sinkPort,
    connections: 50,
    settings: '[jobs]\nretention = "off"\n',
  })
  await atRate(appliance, Number(values.warm))
  const before = oldRows()
  if (kind === 'with') startRetention()
  const delivered = sink.count()
  sum.tookMs.push(...(await atRate(appliance, seconds)))
  sum.paced.delivered += sink.count() - delivered
  await saturate(appliance, sum.full)
  if (kind === 'with') failIfEnded()
  const after = oldRows()
  for (const table of tables) sum.deleted[table] += before[table] - after[table]
  // What is left leaves before the next measure begins.
  for (let last = -1; last !== sink.count(); await sleep(2_000)) last = sink.count()
  await appliance.stop()
  await countBodies()
}

/** So that the next run of retention begins with what is to be deleted, not with what these measures sent. */
async function countBodies(): Promise<void> {
  const store = await openStore({ dataDir, clock: systemClock, turns: makeTurns(), slot: 0 })
  while ((await countNextBodies({ store })).more);
  await store.close()
}

function mail() {
  const to = `r@d${Math.floor(Math.random() * 20)}.test`
  return { from: 'Bench <bench@example.test>', to, subject: 'Mail', html }
}

/** Resolves with how long each request took, in ms, counted from when it was due. */
async function atRate({ post }: Appliance, forSeconds: number): Promise<number[]> {
  const tookMs: number[] = []
  const pending: Promise<void>[] = []
  const began = performance.now()
  for (let sent = 0; sent < rate * forSeconds; await sleep(1)) {
    for (; sent < ((performance.now() - began) * rate) / 1_000; sent++) {
      const dueAt = began + (sent * 1_000) / rate
      const sending = post('/v1/emails/send', mail())
      pending.push(sending.then(() => void tookMs.push(performance.now() - dueAt)))
    }
  }
  await Promise.all(pending)
  return tookMs
}

async function saturate({ post }: Appliance, sum: Sum['full']): Promise<void> {
  const before = sink.count()
  const until = performance.now() + seconds * 1_000
  const client = async () => {
    for (; performance.now() < until; sum.accepted++) await post('/v1/emails/send', mail())
  }
  await Promise.all(Array.from({ length: Number(values.clients) }, client))
  sum.delivered += sink.count() - before
}

/** In the appliance, by its control socket: so it takes its turns, and gives way. */
function startRetention(): void {
  const args = [cliEntry, 'job', 'run', 'retention', '--no-wait', '--data', dataDir]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

function failIfEnded(): void {
  const run = ask<{ result: string; summary: string | null; error: string | null }>(
    "select result, summary, error from job_runs where name = 'retention' order by id desc limit 1",
  )
  if (run?.result === 'running') return
  throw new Error(
    `Retention ended before the measure; it needs a larger --log: ${JSON.stringify(run)}`,
  )
}

/** How many of the old mails' rows there are still. */
function oldRows(): Record<(typeof tables)[number], number> {
  const count = (rows: string) => ask<{ rows: number }>(`select count(*) as rows from ${rows}`)
  return {
    emails: count(`emails where id <= '${newestOld}'`)?.rows ?? 0,
    deliveries: count(`deliveries where id <= ${oldMails}`)?.rows ?? 0,
    events: count(`events where id <= ${oldMails}`)?.rows ?? 0,
    bodies: count(`bodies where id <= ${oldMails / 4}`)?.rows ?? 0,
  }
}

function ask<T>(question: string): T | undefined {
  const db = new Database(file, { readonly: true })
  const row = db.prepare(question).get() as T | undefined
  db.close()
  return row
}
