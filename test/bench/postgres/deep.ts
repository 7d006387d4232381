/*
 * What claiming and settling take where few mails wait and where many do, over PostgreSQL:
 * `node dist/test/bench/postgres/deep.js --few 5000 --many 1000000 --n 2000 --old 60`
 * Each of the 20 streams has its share, all of it due. A third database is as deep as the second, and a transaction of
 * somebody else's has been open in it since before `old` seconds of claiming and settling, so that nothing which is gone could
 * be taken away.
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import type { Test } from 'tap'
import { systemClock } from '../../../src/clock/index.js'
import { makeTurns, openStore } from '../../../src/store/index.js'
import { databaseOf, type PostgresServer, startPostgres } from '../../support/postgres.js'
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
const rounds = 5
const ends: (() => unknown)[] = []
const t = {
  teardown: (end: () => unknown) => void ends.unshift(end),
  passing: () => true,
} as unknown as Test

try {
  const server = await startPostgres(t, { syncs: true })
  const places = {
    few: await openPlace(server, few),
    many: await openPlace(server, many),
    old: await openPlace(server, many),
  }
  const old = new pg.Client(places.old.url)
  await old.connect()
  await old.query('begin isolation level repeatable read')
  await old.query('select count(*) from accounts')
  const until = performance.now() + 1_000 * Number(values.old)
  while (performance.now() < until) await places.old.passOn()
  const found = new Map(Object.keys(places).map((name) => [name, [] as Cost[]]))
  // In turn, so that what others do on the machine meets all of them.
  for (let round = 0; round < rounds; round++) {
    for (const [name, { claiming }] of Object.entries(places)) {
      found.get(name)?.push(await claiming())
    }
  }
  await old.end()
  for (const { close } of Object.values(places)) await close()
  const middle = (name: string, of: keyof Cost) =>
    (found.get(name) ?? []).map((cost) => cost[of]).sort((a, b) => a - b)[rounds >> 1] ?? 0
  const shown = (name: string) =>
    `${middle(name, 'server').toFixed(3)} and ${middle(name, 'own').toFixed(3)} ms`
  const ratio = (name: string, to: string) =>
    (middle(name, 'server') / middle(to, 'server')).toFixed(2)
  report([
    ['load average, RSA-2048 signatures/s', `${loadAverage()}, ${rsaSignatures()}`],
    [`claim beside ${few}: server and Posthorn a mail`, shown('few')],
    [`claim beside ${many}`, shown('many')],
    ['ratio of the server (bar 1.2)', ratio('many', 'few')],
    [`beside a transaction that was open for ${values.old} s`, shown('old')],
    ['ratio of the server (bar 2)', ratio('old', 'many')],
  ])
} finally {
  for (const end of ends) await end()
}

/** What a claim takes of a processor, in ms a mail. */
interface Cost {
  server: number
  own: number
}

/** A database with `waiting` mails, of which those that are claimed here are due first. */
async function openPlace(server: PostgresServer, waiting: number) {
  const dataDir = makeTempDir(t)
  const url = await databaseOf(dataDir, server.url)
  const turns = makeTurns()
  const store = await openStore({ dataDir, url, clock: systemClock, turns, slot: 0 })
  const { accept, claimAll, settleAll } = await openMailRig(t, store, { lanes })
  const passOn = async () => {
    await accept(n)
    await settleAll(await claimAll(n))
  }
  // V8 compiles, and the server reads what it needs, once.
  await passOn()
  await accept(n * rounds)
  await fill(url, waiting)
  return {
    url,
    passOn,
    async claiming(): Promise<Cost> {
      const [before, own] = [serverMs(server.pid()), process.cpuUsage()]
      const taken = await claimAll(n)
      const { user, system } = process.cpuUsage(own)
      const cost = {
        server: (serverMs(server.pid()) - before) / taken.length,
        own: (user + system) / 1_000 / taken.length,
      }
      await settleAll(taken)
      return cost
    },
    close: () => store.close(),
  }
}

/** Copies of a mail behind those that are claimed here; nobody asks for the mails that they belong to. */
async function fill(url: string, count: number): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query(
    "select string_agg(column_name, ', ') as rest from information_schema.columns where table_name = 'queue' and column_name not in ('id', 'due_at', 'lane')",
  )
  const rest = rows[0]?.rest
  await client.query(
    `insert into queue (id, due_at, lane, ${rest})
       select 9000000000000 + i, due_at + 1 + i / 1000, 'd' || i % ${lanes} || '.test', ${rest}
       from (select * from queue order by due_at desc limit 1) as one,
         generate_series((select count(*) from queue)::int, ${count}) as i`,
  )
  await client.query('vacuum analyze queue')
  await client.end()
}
