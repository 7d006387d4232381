import t from 'tap'
import { writeApart } from '../../src/store/index.js'
import { poison } from '../support/poison.js'
import { openTestStore } from '../support/store.js'

const account = (id: string) => ({ id, name: id, created_at: 0 })

t.test('a work that undoes the whole transaction fails alone; the others run again', async (t) => {
  const store = await openTestStore(t)
  await poison(store, 'insert on accounts', "new.id = 'bad'", 'rollback')
  const insert = (id: string) =>
    store.write((tx) => tx.insertInto('accounts').values(account(id)).execute())
  const results = await Promise.allSettled(['a', 'bad', 'b', 'c'].map(insert))
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  t.match(results[1], { reason: { message: 'it is poisoned', code: 'SQLITE_CONSTRAINT_TRIGGER' } })
  const rows = await store.read.selectFrom('accounts').select('id').execute()
  t.same(rows.map(({ id }) => id).sort(), ['a', 'b', 'c'])
})

t.test('of what is written together the one at fault is told apart', async (t) => {
  const store = await openTestStore(t)
  await poison(store, 'insert on accounts', "new.id = 'bad'")
  const write = (ids: readonly string[]) =>
    writeApart(store.write, ids, (tx, some) =>
      tx.insertInto('accounts').values(some.map(account)).execute(),
    )
  const { written, faults, left } = await write(['a', 'bad', 'b'])
  t.same(written, ['a', 'b'])
  t.match(faults, [{ item: 'bad', error: { message: 'it is poisoned' } }])
  t.same(left, [])
  t.same(await write([]), { written: [], faults: [], left: [] })
})

t.test('what the storage refuses is left for later, all of it', async (t) => {
  const store = await openTestStore(t)
  await store.close()
  const outcome = await writeApart(store.write, ['a', 'b'], (tx, some) =>
    tx.insertInto('accounts').values(some.map(account)).execute(),
  )
  t.match(outcome, { written: [], faults: [], left: ['a', 'b'], cause: /not open/ })
})
