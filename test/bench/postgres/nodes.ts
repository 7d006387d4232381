/*
 * What nodes cost and how fast one takes over: `node dist/test/bench/postgres/nodes.js`
 *   --n 100000 deliveries that a killed node leaves  --idle 30 seconds of rest
 * Two appliances as processes over a server of the bench's own, which does not sync. Statements at rest are those of
 * pg_stat_statements where the server has it, else transactions. The deliveries are put in by SQL; one of each thousand
 * is due, so that the first mail is seen at the MX. Bars: the first mail within the lease and 2 s, all taken over within
 * 30 s, 20,000 rows a second of a core of the server, 5 statements a second a node at rest.
 */

import { parseArgs } from 'node:util'
import type { Test } from 'tap'
import { becomes, mailsTo, nodesRig } from '../../support/nodes.js'
import { loadAverage, report, sleep } from '../rig.js'
import { serverMs } from './mail-rig.js'

const { values } = parseArgs({
  options: { n: { type: 'string', default: '100000' }, idle: { type: 'string', default: '30' } },
})
const n = Number(values.n)
const idleS = Number(values.idle)
const ends: (() => unknown)[] = []
const t = {
  teardown: (end: () => unknown) => void ends.unshift(end),
  passing: () => true,
  comment() {},
} as unknown as Test
const lines: [string, string][] = [['load average', loadAverage()]]

try {
  const rig = await nodesRig(t)
  const { ask, mx, send, server } = rig
  const number = async (sql: string) => (await ask<{ n: number }>(sql))[0]?.n ?? 0
  const first = await rig.start('mail1')
  const second = await rig.start('mail2')

  const asked = () =>
    number(
      "select (xact_commit + xact_rollback)::int as n from pg_stat_database where datname = 'mail'",
    )
  await sleep(10_000)
  const before = await asked()
  await sleep(idleS * 1_000)
  const perNode = ((await asked()) - before) / idleS / 2
  lines.push(['transactions a second a node at rest', perNode.toFixed(1)])

  // Mail like any other, of which the queue is made many times over; what it copies has no mail of its own to end.
  await send(second, mailsTo('seed', 1))
  await mx.waitForMessages(1, 30_000)
  mx.change({ dot: { reply: '250 ok', delayMs: 5_000 } })
  await send(second, mailsTo('copied', 1))
  await becomes(
    () => number('select count(*)::int as n from queue where node = 2'),
    (found) => found > 0,
    20_000,
  )
  const columns = (
    await ask<{ c: string }>(
      "select string_agg(quote_ident(column_name), ',') as c from information_schema.columns where table_name = 'queue' and column_name not in ('id', 'due_at', 'lease', 'node', 'recipient')",
    )
  )[0]?.c
  await ask(`insert into queue (id, due_at, lease, node, recipient, ${columns})
    select 9000000000000 + i, (extract(epoch from clock_timestamp()) * 1000)::bigint
        + case when i % 1000 = 0 then 0 else 86400000 end, null, 2, 'c' || i || '@d0.test', ${columns}
      from (select * from queue where node = 2 limit 1) as one, generate_series(1, ${n}) as i`)
  await ask('analyze queue')
  mx.change({ dot: '250 ok' })
  const seen = mx.messages.length
  const serverBefore = serverMs(server.pid())
  second.process.kill('SIGKILL')
  await second.exited
  const at = performance.now()
  let firstMs = 0
  void mx
    .waitUntil(() => mx.messages.slice(seen).some(({ to }) => to[0]?.startsWith('c')), 120_000)
    .then(() => {
      firstMs = performance.now() - at
    })
  let startedMs = 0
  let startedCpu = 0
  await becomes(
    async () => {
      const left = await number('select count(*)::int as n from queue where node = 2')
      if (left < n * 0.99 && startedMs === 0) {
        startedMs = performance.now() - at
        startedCpu = serverMs(server.pid())
      }
      return left
    },
    (left) => left === 0,
    120_000,
  )
  const allMs = performance.now() - at
  const cpuMs = serverMs(server.pid()) - (startedCpu || serverBefore)
  await sleep(2_000)
  lines.push(
    [`${n} deliveries: the first mail after`, `${(firstMs / 1_000).toFixed(1)} s`],
    ['all taken over after', `${(allMs / 1_000).toFixed(1)} s`],
    [
      'rows a second of the server’s processor, all it did meanwhile',
      ((n / cpuMs) * 1_000).toFixed(0),
    ],
  )
  await first.kill('SIGKILL')
} finally {
  for (const end of ends) await end()
}
lines.push(['load average at the end', loadAverage()])
report(lines)
