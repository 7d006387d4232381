/*
 * What a mail costs in the database, SQLite and PostgreSQL in turn: `node dist/test/bench/postgres/mail.js`
 *   --n 5000 mails a round  --rounds 3  --only sqlite (to compare two checkouts)
 * The product's own functions without HTTP, SMTP and signing: accepted in batches of 100, claimed from 20 streams 5 at a
 * time, settled 64 at a time, four at once each, with the rates of their account. 10 KB each, one account. The server is
 * the bench's own, syncs, and has Debian's settings but for `shared_buffers`; its processor time is that of all its
 * processes, from /proc. Statements and milliseconds are a mail's; medians of the rounds.
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Test } from 'tap'
import { systemClock } from '../../../src/clock/index.js'
import { makeTurns, openStore } from '../../../src/store/index.js'
import { databaseOf, startPostgres } from '../../support/postgres.js'
import { countStatements } from '../../support/statements.js'
import { makeTempDir } from '../../support/store.js'
import { makeDatabase } from '../../support/template.js'
import { loadAverage, report } from '../rig.js'
import { openMailRig, serverMs } from './mail-rig.js'

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
  },
})
const n = Number(values.n)
const lanes = 20
const phases = ['accept', 'claim', 'settle'] as const
type Phase = (typeof phases)[number]

interface Cost {
  statements: number
  clientMs: number
  serverMs: number
}

const ends: (() => unknown)[] = []
const t = {
  teardown: (end: () => unknown) => void ends.unshift(end),
  passing: () => true,
} as unknown as Test
const counts = countStatements(t)
const engines = (['sqlite', 'postgres'] as const).filter((one) => (values.only ?? one) === one)
const server = engines.includes('postgres') ? await startPostgres(t, { syncs: true }) : undefined
const hot: number[] = []
const found = { sqlite: [] as Record<Phase, Cost>[], postgres: [] as Record<Phase, Cost>[] }
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const engine of engines) found[engine].push(await measure(engine))
  }
} finally {
  for (const end of ends) await end()
}
show()

async function measure(engine: 'sqlite' | 'postgres'): Promise<Record<Phase, Cost>> {
  const dataDir = makeTempDir(t)
  const url = engine === 'postgres' ? await databaseOf(dataDir, server?.url) : undefined
  if (url === undefined) await makeDatabase(dataDir)
  const turns = makeTurns()
  const store = await openStore({ dataDir, url, clock: systemClock, turns, slot: 0 })
  const { accept, claimAll, settleAll } = await openMailRig(t, store, { lanes })
  // V8 compiles, and statements are parsed, once.
  await accept(500)
  await settleAll(await claimAll())
  const cost = async <T>(work: () => Promise<T>): Promise<[T, Cost]> => {
    counts.clear()
    const [before, own] = [serverMs(server?.pid()), process.cpuUsage()]
    const value = await work()
    const { user, system } = process.cpuUsage(own)
    const statements = [...counts.values()].reduce((sum, times) => sum + times, 0)
    const each = (sum: number) => sum / n
    return [
      value,
      {
        statements: each(statements),
        clientMs: each((user + system) / 1_000),
        serverMs: each(serverMs(server?.pid()) - before),
      },
    ]
  }
  const [, accepted] = await cost(() => accept(n))
  const [all, claimed] = await cost(claimAll)
  if (all.length !== n) throw new Error(`${all.length} of ${n} mails were claimed`)
  const [, settled] = await cost(() => settleAll(all))
  await store.close()
  if (url !== undefined) hot.push(await hotShare(url))
  return { accept: accepted, claim: claimed, settle: settled }
}

/** Of all updates of `emails` those that no index heard of. */
async function hotShare(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ share: number }>(
    "select n_tup_hot_upd / greatest(n_tup_upd, 1)::float as share from pg_stat_user_tables where relname = 'emails'",
  )
  await client.end()
  return rows[0]?.share ?? 0
}

function show(): void {
  const lines: [string, string][] = [['load average', loadAverage()]]
  const totals: Record<string, number> = {}
  for (const engine of engines) {
    for (const phase of phases) {
      const middle = (of: keyof Cost) =>
        found[engine].map((one) => one[phase][of]).sort((a, b) => a - b)[
          Math.floor(found[engine].length / 2)
        ] ?? 0
      const cost = {
        statements: middle('statements'),
        clientMs: middle('clientMs'),
        serverMs: middle('serverMs'),
      }
      for (const [name, value] of Object.entries(cost)) {
        totals[`${engine} ${name}`] = (totals[`${engine} ${name}`] ?? 0) + value
      }
      lines.push([
        `${engine} ${phase}: statements, client ms, server ms a mail`,
        [cost.statements.toFixed(2), cost.clientMs.toFixed(3), cost.serverMs.toFixed(3)].join(', '),
      ])
    }
  }
  for (const [name, value] of Object.entries(totals)) {
    lines.push([`together, ${name}`, value.toFixed(3)])
  }
  for (const share of hot) lines.push(['HOT updates of `emails`', share.toFixed(2)])
  const [sqlite = 1, postgres = 0] = [totals['sqlite clientMs'], totals['postgres clientMs']]
  lines.push(['client ms, PostgreSQL : SQLite', (postgres / sqlite).toFixed(2)])
  report(lines)
}
