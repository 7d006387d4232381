/*
 * What appliances cost that have nothing to do: `node dist/test/bench/postgres/idle.js`
 *   --nodes 2  how many of them  --rest 120 seconds before  --seconds 60 a window  --top 12 statements that are shown
 * Appliances as processes over a server of the bench's own. Statements and transactions are the server's own counts.
 * WAL a day: what is written on and on, and, as the first change of a page after a checkpoint writes that page whole, the
 * first window after one more than the second, for 288 checkpoints a day. Bars: 5 statements a second a node, 50 MB a day.
 */
import { parseArgs } from 'node:util'
import type { Test } from 'tap'
import { mailsTo, nodesRig } from '../../support/nodes.js'
import { loadAverage, report, sleep } from '../rig.js'

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '60' },
    rest: { type: 'string', default: '120' },
    top: { type: 'string', default: '12' },
  },
})
const nodes = Number(values.nodes)
const seconds = Number(values.seconds)
const ends: (() => unknown)[] = []
const t = {
  teardown: (end: () => unknown) => void ends.unshift(end),
  passing: () => true,
  comment() {},
} as unknown as Test
const lines: [string, string][] = [['load average', loadAverage()]]
// `checkpoint_timeout` is five minutes where nobody says otherwise.
const checkpointsADay = 288
const daySeconds = 86_400
// What begins with a start has ended by then, threads that have nothing to do have, and new tables are analyzed.
const restMs = Number(values.rest) * 1_000

/** What an appliance asks; what begins and ends a transaction counts by itself. */
interface Counts {
  statements: number
  transactions: number
  wal: number
}

try {
  const rig = await nodesRig(t, {}, '', { counts: true })
  const { ask, mx, send } = rig
  await ask('create extension pg_stat_statements')
  const started = []
  for (let n = 1; n <= nodes; n++) started.push(await rig.start(`mail${n}`))
  const [first] = started
  if (first === undefined) throw new Error('There is to be a node')
  await send(first, mailsTo('seed', 10))
  await mx.waitForMessages(10, 30_000)
  await sleep(restMs)

  const ofAppliances = `dbid = (select oid from pg_database where datname = 'mail')
    and query not like '%pg_stat_statements%' and query not ilike 'checkpoint%'`
  const read = async (): Promise<Counts> => {
    const [row] = await ask<{ statements: string; transactions: string; wal: string }>(
      `select (select sum(calls) from pg_stat_statements where ${ofAppliances}
          and query not ilike 'begin%' and query not ilike 'commit%' and query not ilike 'rollback%') as statements,
        (select xact_commit + xact_rollback from pg_stat_database where datname = 'mail') as transactions,
        pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal`,
    )
    return {
      statements: Number(row?.statements),
      transactions: Number(row?.transactions),
      wal: Number(row?.wal),
    }
  }
  const during = async (): Promise<Counts> => {
    const before = await read()
    await sleep(seconds * 1_000)
    const after = await read()
    return {
      statements: after.statements - before.statements,
      transactions: after.transactions - before.transactions,
      wal: after.wal - before.wal,
    }
  }
  await ask('checkpoint')
  await ask('select pg_stat_statements_reset()')
  const withPages = await during()
  const on = await during()
  const aSecond = (of: 'statements' | 'transactions') =>
    ((withPages[of] + on[of]) / 2 / seconds / nodes).toFixed(1)
  const pages = Math.max(0, withPages.wal - on.wal)
  const walADay = checkpointsADay * pages + (on.wal / seconds) * daySeconds
  lines.push(
    ['nodes', String(nodes)],
    ['statements a second a node', aSecond('statements')],
    ['transactions a second a node', aSecond('transactions')],
    ['WAL a day, MB', (walADay / 1e6).toFixed(1)],
    ['of it pages after checkpoints, MB', ((checkpointsADay * pages) / 1e6).toFixed(1)],
  )
  const top = await ask<{ calls: string; query: string }>(
    `select calls, regexp_replace(query, '\\s+', ' ', 'g') as query from pg_stat_statements
      where ${ofAppliances} order by calls desc limit ${Number(values.top)}`,
  )
  for (const { calls, query } of top) {
    const rate = (Number(calls) / 2 / seconds / nodes).toFixed(2)
    lines.push([`${rate} a second`, query.slice(0, 160)])
  }
  // Where it is one of statements: vacuum and the server itself write more.
  const writing = await ask<{ bytes: string; fpi: string; query: string }>(
    `select wal_bytes as bytes, wal_fpi as fpi, regexp_replace(query, '\\s+', ' ', 'g') as query from pg_stat_statements
      where ${ofAppliances} and wal_bytes > 0 order by wal_bytes desc limit ${Math.ceil(Number(values.top) / 3)}`,
  )
  for (const { bytes, fpi, query } of writing)
    lines.push([`${bytes} bytes of WAL, ${fpi} pages`, query.slice(0, 100)])
  for (const one of started) await one.kill('SIGKILL')
} finally {
  for (const end of ends) await end()
}
lines.push(['load average at the end', loadAverage()])
report(lines)
