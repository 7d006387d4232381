import t from 'tap'
import { ApiError } from '../../src/errors/index.js'
import { eachApart, writeApart } from '../../src/store/index.js'
import { poison } from '../support/poison.js'
import { aboutSqlite } from '../support/postgres.js'
import { openTestStore } from '../support/store.js'

const account = (id: string) => ({ id, name: id, created_at: 0 })

t.test(
  'a work that undoes the whole transaction fails alone; the others run again',
  aboutSqlite,
  async (t) => {
    const store = await openTestStore(t)
    await poison(store, 'insert on accounts', "new.id = 'bad'", 'rollback')
    const insert = (id: string) =>
      store.write((tx) => tx.insertInto('accounts').values(account(id)).execute())
    const results = await Promise.allSettled(['a', 'bad', 'b', 'c'].map(insert))
    t.same(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
    t.match(results[1], {
      reason: { message: 'it is poisoned', code: 'SQLITE_CONSTRAINT_TRIGGER' },
    })
    const rows = await store.read.selectFrom('accounts').select('id').execute()
    t.same(rows.map(({ id }) => id).sort(), ['a', 'b', 'c'])
  },
)

t.test('of what is written together the one at fault is told apart', async (t) => {
  const store = await openTestStore(t)
  await poison(store, 'insert on accounts', "new.id = 'bad'")
  const write = (ids: readonly string[]) =>
    writeApart(store.write, ids, (tx, some) =>
      tx.insertInto('accounts').values(some.map(account)).execute(),
    )
  const { written, results, faults, left } = await write(['a', 'bad', 'b'])
  t.same(written, ['a', 'b'])
  t.match(faults, [{ item: 'bad', error: { message: 'it is poisoned' } }])
  t.same(left, [])
  t.equal(results.length, 2, 'a transaction each')
  t.same(await write([]), { written: [], results: [], faults: [], left: [] })
})

t.test('what the storage refuses is left for later, all of it', aboutSqlite, async (t) => {
  const store = await openTestStore(t)
  await store.close()
  const outcome = await writeApart(store.write, ['a', 'b'], (tx, some) =>
    tx.insertInto('accounts').values(some.map(account)).execute(),
  )
  t.match(outcome, { written: [], faults: [], left: ['a', 'b'], cause: /not open/ })
})

t.test('of what is done one by one a fault stops nothing, and what passes stops all', async (t) => {
  const [done, told]: [number[], number[]] = [[], []]
  const busy = new ApiError('service_unavailable', 'The database cannot be written just now')
  const work = async (item: number) => {
    if (item === 2) throw new Error('broken')
    if (item === 4) throw busy
    done.push(item)
  }
  await t.rejects(
    eachApart([1, 2, 3, 4, 5], work, (item) => void told.push(item)),
    busy,
  )
  t.same([done, told], [[1, 3], [2]])
})
