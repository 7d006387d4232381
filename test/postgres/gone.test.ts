// Issue 46: a server whose machine is gone and tells nobody, and another one that takes its place.
import { sql } from 'kysely'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { makeTurns, openStore, type Store } from '../../src/store/index.js'
import { cuttingProxy } from '../support/cutting-proxy.js'
import { eventually } from '../support/eventually.js'
import { databaseOf, noPostgres, startPostgres } from '../support/postgres.js'
import { makeTempDir } from '../support/store.js'

/** Works on as many connections as a thread has. */
const several = (store: Store) =>
  Promise.all(
    Array.from({ length: 8 }, () => store.byRow((tx) => sql`select pg_sleep(0.3)`.execute(tx))),
  )

const within = async (ms: number, work: Promise<unknown>) => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It takes more than ${ms} ms`)), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}

t.test('a server that is gone without a word', { skip: noPostgres ?? false }, async (t) => {
  const primary = await startPostgres(t)
  const dataDir = makeTempDir(t)
  const url = await databaseOf(dataDir, primary.url)
  const standby = await startPostgres(t, { standbyOf: primary })
  const way = await cuttingProxy(t, primary.port)
  const store = await openStore({
    dataDir,
    url: url.replace(`:${primary.port}/`, `:${way.port},127.0.0.1:${standby.port}/`),
    clock: systemClock,
    turns: makeTurns(),
    slot: 0,
  })
  await several(store)
  way.cut()
  primary.crash()
  standby.promote()
  // By one of its connections: on the others nothing runs, and nobody tells them that their server is gone.
  const isThere = () =>
    store
      .byRow((tx) => sql`select 1`.execute(tx))
      .then(
        () => true,
        () => false,
      )
  await eventually(isThere, 30_000)
  await within(10_000, several(store))
  t.pass('all connections are of the new server')
  await within(5_000, store.close())
})
