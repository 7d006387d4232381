/*
 * Whether the file stays as it is: days of mail on the plan Growth (30 days), by a clock that is moved, with a run
 * of retention after each. `node dist/test/bench/retention-month.js`
 *   --days 75   --mails 2000 a day   --words 700 in each (700: 4 KB)   --keep-days 30 of mails and bodies
 *   --postgres  over a server of its own: its database in place of the file, with a plain vacuum after each day, which
 *               autovacuum does many times in a day that is none by a moved clock
 * The longest age of these rows is that of `past_deliveries`, 60 days: from then on the file is to be flat, to within
 * 3 %; otherwise the status is 1, and the tables say which of them grew. With fewer --keep-days, for as many mails a day
 * as a disk and an hour can take, it is to be flat once those are over, `past_deliveries` left out.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import pg from 'pg'
import { databaseFile, makeTurns, migrateStore, openStore } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { day, type MailLog, openMailLog } from '../support/mail-log.js'
import { databaseOf, startPostgres } from '../support/postgres.js'
import { benchTest } from './bench-test.js'
import { report, rsaSignatures } from './rig.js'

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '75' },
    mails: { type: 'string', default: '2000' },
    words: { type: 'string', default: '700' },
    'keep-days': { type: 'string', default: '30' },
    postgres: { type: 'boolean', default: false },
  },
})
const [days, mails] = [Number(values.days), Number(values.mails)]
const keepDays = Number(values['keep-days'])
const flatFrom = keepDays < 30 ? keepDays + 2 : 61
const mailsAStep = 500
const mostGrowth = 1.03
const filler = 'word '.repeat(Number(values.words))
const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-month-'))
const { t, end } = benchTest()
try {
  const url = values.postgres ? await databaseOf(dataDir, (await startPostgres(t)).url) : undefined
  const database = url === undefined ? sqliteSizes() : postgresSizes(url)
  if (url === undefined) await migrateStore({ dataDir })
  const clock = new FakeClock()
  const store = await openStore({ dataDir, url, clock, turns: makeTurns(), slot: 0 })
  const log = await openMailLog(t, { store, clock, dataDir })
  const sizes: number[] = []
  let tablesThen: ReadonlyMap<string, number> = new Map()
  for (let today = 1; today <= days; today++) {
    const began = performance.now()
    await fillDay(log, today)
    const filled = performance.now()
    const { summary } = await log.run(shortened(log))
    await store.checkpoint()
    sizes.push(await database.size())
    const [fill, run] = [filled - began, performance.now() - filled].map((ms) => ms / 1_000)
    console.log(
      `day ${today}: ${mib(sizes.at(-1))} MiB; filled in ${fill?.toFixed(1)} s, run in ${run?.toFixed(1)} s: ${summary}`,
    )
    if (today === flatFrom) tablesThen = await database.tables()
  }
  if (days > flatFrom) sayGrowth(sizes, tablesThen, await database.tables())
  await store.close()
} finally {
  await end()
  rmSync(dataDir, { recursive: true, force: true })
}

/** A day's mails, accepted and delivered in steps through the day. */
async function fillDay({ accept, deliver, clock, store }: MailLog, today: number): Promise<void> {
  for (let from = 0; from < mails; from += mailsAStep) {
    const count = Math.min(mailsAStep, mails - from)
    await accept(
      Array.from({ length: count }, (_, i) => ({
        html: `<p>${today} ${from + i} ${filler}</p>`,
        to: [`r${from + i}@d${i % 20}.test`],
      })),
    )
    await deliver()
    await clock.advance((day / mails) * count)
    await store.checkpoint()
  }
}

/** The settings and plans with mails and bodies for --keep-days. */
function shortened({ retention: { ages, plans } }: MailLog) {
  const keepMs = keepDays * day
  return {
    ages: { ...ages, bodies: keepMs, transcripts: keepMs },
    plans: {
      ...plans,
      email: plans.email.map((plan) => ({
        ...plan,
        retentionDays: Math.min(plan.retentionDays, keepDays),
      })),
    },
  }
}

function sayGrowth(
  sizes: readonly number[],
  tablesThen: ReadonlyMap<string, number>,
  tables: ReadonlyMap<string, number>,
): void {
  const past = (then: ReadonlyMap<string, number>) =>
    keepDays < 30
      ? [...then].reduce(
          (sum, [name, size]) => sum + (name.includes('past_deliveries') ? size : 0),
          0,
        )
      : 0
  const growth =
    (Math.max(...sizes.slice(flatFrom)) - past(tables)) /
    ((sizes[flatFrom - 1] ?? 0) - past(tablesThen))
  const grown = [...tables]
    .map(([name, size]) => ({ name, size, more: size - (tablesThen.get(name) ?? 0) }))
    .sort((a, b) => b.more - a.more)
    .slice(0, 5)
  report([
    ['RSA-2048 signatures/s', rsaSignatures().toFixed(0)],
    [`largest size after day ${flatFrom}, ratio to that day`, growth.toFixed(3)],
    ...grown.map(
      ({ name, size, more }) => [`  ${name}, MiB now, more`, `${mib(size)}, ${mib(more)}`] as const,
    ),
  ])
  if (growth > mostGrowth) process.exitCode = 1
}

/** Bytes of it all, and of each table and index. */
interface Sizes {
  size(): Promise<number>
  tables(): Promise<ReadonlyMap<string, number>>
}

function sqliteSizes(): Sizes {
  return {
    size: async () => statSync(databaseFile(dataDir)).size,
    async tables() {
      const db = new Database(databaseFile(dataDir), { readonly: true })
      const rows = db.prepare('select name, sum(pgsize) from dbstat group by name').raw().all()
      db.close()
      return new Map(rows as [string, number][])
    },
  }
}

function postgresSizes(url: string): Sizes {
  const ask = async (text: string) => {
    const client = new pg.Client(url)
    await client.connect()
    return (await client.query(text).finally(() => client.end())).rows
  }
  return {
    async size() {
      await ask('vacuum')
      const [row] = await ask('select pg_database_size(current_database()) as bytes')
      return Number(row?.bytes)
    },
    async tables() {
      const rows = await ask(
        "select relname, pg_relation_size(oid) as bytes from pg_class where relkind in ('r', 'i', 't')",
      )
      return new Map(rows.map(({ relname, bytes }) => [String(relname), Number(bytes)]))
    },
  }
}

function mib(bytes: number | undefined): string {
  return ((bytes ?? 0) / 1_048_576).toFixed(1)
}
