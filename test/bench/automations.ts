/*
 * Automations: `node dist/test/bench/automations.js`
 *   --n 4000 contacts a round  --rounds 3  --runs 1000000 live at once (0: none)  --seconds 30
 * First, in this process and without outgoing mail: events with a payload, each of which starts a run,
 * in batches of 100; delays, one a run and turn; sends, each merged with what is known of its contact
 * and behind a delay. Beside them in each round better-sqlite3 alone writes the same rows of the same
 * events (event, run, entry; their indexes), 100 events a commit. Bars, as shares of its events a
 * second: 0.25, 0.4, 0.12. The best round counts: other work on the machine makes none better. Where it
 * is busy, processor time (of all threads of this process) tells more than the rates.
 * Then runs that all fall due within a minute, each with a mail to send, in a running appliance that
 * takes 20 transactional mails a second. Bars: due scan of 200 below 2 ms, growth of the process below
 * 150 MB, the answer's p99 below 50 ms, from request to MAIL at the receiver p99 below 500 ms, 1 KB of
 * database a run.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { migrateStore, type Store } from '../../src/store/index.js'
import { openConnection } from '../../src/store/sqlite/connection.js'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { openBenchEngine, type Rate, startTiming } from './automation-engine.js'
import { dueAtOnce } from './automation-runs.js'
import { fillList } from './fill-list.js'
import { initDataDir, loadAverage, report, rsaSignatures } from './rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '4000' },
    rounds: { type: 'string', default: '3' },
    runs: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '30' },
  },
})
const tables = ['automation_events', 'automation_live', 'automation_entries'] as const

report([['RSA-2048 signatures/s, load average', `${rsaSignatures()}, ${loadAverage()}`]])
if (Number(values.n) > 0) await rates(Number(values.n), Number(values.rounds))
if (Number(values.runs) > 0) await dueAtOnce(Number(values.runs), Number(values.seconds))
process.exit(0)

type Round = Record<'raw' | 'ingest' | 'steps' | 'sends', Rate>

async function rates(n: number, rounds: number): Promise<void> {
  const { dataDir, accountId } = initDataDir()
  await fillList(dataDir, accountId, n)
  const engine = await openBenchEngine(dataDir, accountId)
  const contacts = await engine.store.read.selectFrom('contacts').select('id').execute()
  const ids = shuffled(contacts.map(({ id }) => id))
  const found: Round[] = []
  for (let round = 0; round < rounds; round++) {
    await engine.enable(`steps.${round}`, ['trigger', 'delay', 'delay', 'delay', 'delay'])
    await engine.enable(`sends.${round}`, [
      ...(['trigger', 'delay', 'send', 'delay', 'send', 'delay', 'send', 'delay'] as const),
    ])
    const ingest = await engine.ingest(`steps.${round}`, ids)
    const raw = await rawRate(engine.store, `steps.${round}`)
    // To the first delay, then from each to the next, then to the end.
    await engine.work(n, 1)
    const steps = await engine.work(n, 3)
    await engine.work(n, 1)
    await engine.ingest(`sends.${round}`, ids)
    await engine.work(n, 1)
    const sends = await engine.work(n, 3)
    await engine.work(n, 1)
    found.push({ raw, ingest, steps, sends })
  }
  await engine.close()
  const bestOf = (of: keyof Round): Rate => ({
    perSecond: Math.max(...found.map((round) => round[of].perSecond)),
    cpuMicros: Math.min(...found.map((round) => round[of].cpuMicros)),
  })
  const raw = bestOf('raw')
  const line = (name: string, of: Exclude<keyof Round, 'raw'>, bar: number) => {
    const { perSecond, cpuMicros } = bestOf(of)
    const byTime = (perSecond / raw.perSecond).toFixed(2)
    const byCpu = (raw.cpuMicros / cpuMicros).toFixed(2)
    return [
      `${name}, ratio (bar: ${bar})`,
      `${perSecond.toFixed(0)}/s, ${byTime}; ${cpuMicros.toFixed(0)} µs of CPU, ${byCpu}`,
    ] as const
  }
  report([
    ['contacts a round, rounds', `${n}, ${rounds}`],
    [
      'better-sqlite3 alone, events with their rows',
      `${raw.perSecond.toFixed(0)}/s; ${raw.cpuMicros.toFixed(0)} µs of CPU`,
    ],
    line('events in batches of 100', 'ingest', 0.25),
    line('steps without sends', 'steps', 0.4),
    line('sends', 'sends', 0.12),
    ['load average', loadAverage()],
  ])
}

/** Events a second that SQLite takes by itself: the rows that the events of that name have made. */
async function rawRate({ read }: Store, name: string): Promise<Rate> {
  const dir = mkdtempSync(join(tmpdir(), 'posthorn-raw-'))
  await migrateStore({ dataDir: dir })
  const db = openConnection(databaseFile(dir), { busyTimeoutMs: 1_000 })
  const events = await read
    .selectFrom('automation_events')
    .selectAll()
    .where('name', '=', name)
    .orderBy('id')
    .execute()
  const live = await read.selectFrom('automation_live').selectAll().execute()
  const entries = await read.selectFrom('automation_entries').selectAll().execute()
  const runs = new Map(live.map((row) => [row.trigger_event, row]))
  const entryOf = new Map(entries.map((row) => [`${row.automation_id} ${row.contact_id}`, row]))
  const sets = events.map((event) => {
    const run = runs.get(event.id)
    const entry = entryOf.get(`${run?.automation_id} ${event.contact_id}`)
    if (run === undefined || entry === undefined) throw new Error('An event has started no run')
    return [event, run, entry].map((row) => Object.values(row))
  })
  const [first] = events
  const inserts = [first, live[0], entries[0]].map((row, place) => {
    const columns = Object.keys(row ?? {})
    const marks = columns.map(() => '?')
    return db.prepare(`insert into ${tables[place]} (${columns}) values (${marks})`)
  })
  const write = db.transaction((some: typeof sets) => {
    for (const set of some) {
      for (const [place, insert] of inserts.entries()) insert.run(...(set[place] ?? []))
    }
  })
  const done = startTiming()
  for (let at = 0; at < sets.length; at += 100) write(sets.slice(at, at + 100))
  const rate = done(sets.length)
  db.close()
  rmSync(dir, { recursive: true })
  return rate
}

function shuffled<T>(items: readonly T[]): T[] {
  const mixed = [...items]
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1))
    const [a, b] = [mixed[last], mixed[other]]
    if (a !== undefined && b !== undefined) [mixed[last], mixed[other]] = [b, a]
  }
  return mixed
}
