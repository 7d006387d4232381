/*
 * What claiming and settling take where few mails wait and where many do, over PostgreSQL:
 * `node dist/test/bench/postgres/deep.js --few 5000 --many 1000000 --n 2000 --old 60`
 * Each of the 20 streams has its share, all of it due. The last figures are taken while a transaction of somebody else's has
 * been open since before `old` seconds of claiming and settling, so that nothing which is gone could be taken away.
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Test } from 'tap'
import { systemClock } from '../../../src/clock/index.js'
import { makeTurns, openStore } from '../../../src/store/index.js'
import { databaseOf, startPostgres } from '../../support/postgres.js'
import { makeTempDir } from '../../support/store.js'
import { loadAverage, report, rsaSignatures } from '../rig.js'
import { openMailRig, serverMs } from './mail-rig.js'

const { values } = parseArgs({
  options: {
    few: { type: 'string', default: '5000' },
    many: { type: 'string', default: '1000000' },
    n: { type: 'string', default: '2000' },
    old: { type: 'string', default: '60' },
  },
})
const [few, many, n] = [Number(values.few), Number(values.many), Number(values.n)]
const lanes = 20
const ends: (() => unknown)[] = []
const t = {
  teardown: (end: () => unknown) => void ends.unshift(end),
  passing: () => true,
} as unknown as Test

try {
  const server = await startPostgres(t, { syncs: true })
  const dataDir = makeTempDir(t)
  const url = await databaseOf(dataDir, server.url)
  const turns = makeTurns()
  const store = await openStore({ dataDir, url, clock: systemClock, turns, slot: 0 })
  const { accept, claimAll, settleAll } = await openMailRig(t, store, { lanes })
  const ask = async (text: string) => {
    const client = new pg.Client(url)
    await client.connect()
    return await client.query(text).finally(() => client.end())
  }
  const { rows } = await ask(
    "select string_agg(column_name, ', ') as rest from information_schema.columns where table_name = 'queue' and column_name not in ('id', 'due_at', 'lane')",
  )
  /** Copies of a mail behind those that are claimed here; nobody asks for the mails that they belong to. */
  const fill = async (count: number) => {
    const rest = rows[0]?.rest
    await ask(
      `insert into queue (id, due_at, lane, ${rest})
         select 9000000000000 + i, due_at + 1 + i / 1000, 'd' || i % ${lanes} || '.test', ${rest}
         from (select * from queue order by due_at desc limit 1) as one,
           generate_series((select count(*) from queue)::int, ${count}) as i`,
    )
    await ask('vacuum analyze queue')
  }
  const claiming = async () => {
    const [before, own] = [serverMs(server.pid()), process.cpuUsage()]
    const taken = await claimAll(n)
    const { user, system } = process.cpuUsage(own)
    const each = {
      server: (serverMs(server.pid()) - before) / taken.length,
      own: (user + system) / 1_000 / taken.length,
    }
    await settleAll(taken)
    return each
  }
  const rounds = 3
  const median = async (what: () => Promise<{ server: number; own: number }>) => {
    const found = []
    for (let i = 0; i < rounds; i++) found.push(await what())
    return found.sort((a, b) => a.server - b.server)[1] ?? { server: 0, own: 0 }
  }
  await accept(n * (1 + 3 * rounds))
  // V8 compiles, and the server reads what it needs, once.
  await claiming()
  await fill(few)
  const atFew = await median(claiming)
  await fill(many)
  const atMany = await median(claiming)
  const old = new pg.Client(url)
  await old.connect()
  await old.query('begin isolation level repeatable read')
  await old.query('select count(*) from accounts')
  const until = performance.now() + 1_000 * Number(values.old)
  while (performance.now() < until) {
    await accept(n)
    await settleAll(await claimAll(n))
  }
  const atOld = await median(claiming)
  await old.end()
  await store.close()
  const shown = ({ server, own }: { server: number; own: number }) =>
    `${server.toFixed(3)} and ${own.toFixed(3)} ms`
  report([
    ['load average, RSA-2048 signatures/s', `${loadAverage()}, ${rsaSignatures()}`],
    [`claim beside ${few}: server and Posthorn a mail`, shown(atFew)],
    [`claim beside ${many}`, shown(atMany)],
    ['ratio of the server (bar 1.2)', (atMany.server / atFew.server).toFixed(2)],
    [`beside a transaction that was open for ${values.old} s`, shown(atOld)],
    ['ratio of the server (bar 2)', (atOld.server / atMany.server).toFixed(2)],
  ])
} finally {
  for (const end of ends) await end()
}
