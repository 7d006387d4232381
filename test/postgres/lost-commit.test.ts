// A COMMIT whose answer is lost: the caller gets the truth, and no work is done twice or left out.
import pg from 'pg'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { makeTurns, openStore, type Store, type Tx } from '../../src/store/index.js'
import { type Cut, commitCutter } from '../support/commit-cutter.js'
import { databaseOf, noPostgres, type PostgresServer, startPostgres } from '../support/postgres.js'
import { makeTempDir } from '../support/store.js'

async function openBehindCutter(t: Test, server: PostgresServer) {
  const dataDir = makeTempDir(t)
  const url = await databaseOf(dataDir, server.url)
  const cutter = await commitCutter(t, server.port)
  const store = await openStore({
    dataDir,
    url: url.replace(`:${server.port}/`, `:${cutter.port}/`),
    clock: systemClock,
    turns: makeTurns(),
    slot: 0,
  })
  t.teardown(() => store.close())
  return { store, cutter, url }
}

const insert = (tx: Tx, id: string) =>
  tx.insertInto('accounts').values({ id, name: id, created_at: 0 }).execute()

const ways: Record<string, (store: Store) => (id: string, ran: () => void) => Promise<unknown>> = {
  write: (store) => (id, ran) =>
    store.write(async (tx) => {
      ran()
      await insert(tx, id)
    }),
  byRow: (store) => (id, ran) =>
    store.byRow(async (tx) => {
      ran()
      await insert(tx, id)
    }),
  gather: (store) => {
    const put = store.gather<{ id: string; ran: () => void }, string>(async (tx, items) => {
      for (const { id, ran } of items) {
        ran()
        await insert(tx, id)
      }
      return items.map(({ id }) => id)
    })
    return (id, ran) => put({ id, ran })
  },
}

t.test('a COMMIT that is cut off', { skip: noPostgres ?? false }, async (t) => {
  const server = await startPostgres(t)
  const { store, cutter } = await openBehindCutter(t, server)
  const there = async () =>
    (await store.read.selectFrom('accounts').select('id').orderBy('id').execute()).map(
      ({ id }) => id,
    )
  const expected: string[] = []
  for (const [way, of] of Object.entries(ways)) {
    for (const how of ['lost', 'unanswered'] satisfies Cut[]) {
      await t.test(`${how}, of ${way}`, async (t) => {
        const put = of(store)
        await put(`${way}-${how}-before`, () => {})
        let runs = 0
        const isCut = cutter.cutNext(how)
        await put(`${way}-${how}-cut`, () => runs++)
        await isCut
        t.equal(runs, how === 'lost' ? 2 : 1, 'runs again only after it was undone')
        await put(`${way}-${how}-after`, () => {})
        expected.push(...['before', 'cut', 'after'].map((when) => `${way}-${how}-${when}`))
        t.same(await there(), [...expected].sort(), 'each is there once')
      })
    }
  }
})

t.test(
  'a COMMIT that waits for a standby is not guessed',
  { skip: noPostgres ?? false },
  async (t) => {
    const server = await startPostgres(t)
    const { store, cutter, url } = await openBehindCutter(t, server)
    const admin = new pg.Client(url)
    await admin.connect()
    t.teardown(() => admin.end())
    const waitFor = async (names: string) => {
      await admin.query(`alter system set synchronous_standby_names = '${names}'`)
      await admin.query('select pg_reload_conf()')
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    await store.write((tx) => insert(tx, 'before'))
    await waitFor('nobody')
    let runs = 0
    let isTold = false
    const isCut = cutter.cutNext('unanswered')
    const written = store
      .write(async (tx) => {
        runs++
        await insert(tx, 'waits')
      })
      .finally(() => {
        isTold = true
      })
    await isCut
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    t.notOk(isTold, 'neither done nor undone')
    await waitFor('')
    await written
    t.equal(runs, 1)
    const { rows } = await admin.query('select id from accounts order by id')
    t.same(rows, [{ id: 'before' }, { id: 'waits' }])
  },
)
