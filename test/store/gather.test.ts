import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { gatherAlone, type Tx, type Write } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { poison } from '../support/poison.js'
import { aboutSqlite } from '../support/postgres.js'
import { openTestStore } from '../support/store.js'

const account = (id: string) => ({ id, name: id, created_at: 0 })

/** A way to write accounts; `calls` are the ids that were written together. */
async function openAccounts(t: Test, refuse = (_id: string): Error | undefined => undefined) {
  // Its time stands still, so that no turn ends early on a busy machine.
  const store = await openTestStore(t, { clock: new FakeClock() })
  const calls: string[] = []
  const together = async (tx: Tx, ids: readonly string[]) => {
    calls.push(ids.join(' '))
    const results = ids.map((id) => refuse(id) ?? id.toUpperCase())
    const sound = ids.filter((_, i) => !(results[i] instanceof Error))
    if (sound.length > 0) await tx.insertInto('accounts').values(sound.map(account)).execute()
    return results
  }
  return {
    store,
    calls,
    add: store.gather<string, string>(together),
    addHeavy: store.gather<string, string>(together, () => 40),
    insert: (id: string) =>
      store.write((tx) => tx.insertInto('accounts').values(account(id)).execute()),
    ids: async () => {
      const rows = await store.read.selectFrom('accounts').select('id').orderBy('id').execute()
      return rows.map(({ id }) => id).join(' ')
    },
  }
}

const told = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message))

t.test(
  'items that wait next to each other are written together, each has its result',
  async (t) => {
    const { add, calls, ids } = await openAccounts(t)
    t.same(await Promise.all(['a', 'b', 'c'].map(add)), ['A', 'B', 'C'])
    t.same(await add('d'), 'D')
    t.same(calls, ['a b c', 'd'])
    t.equal(await ids(), 'a b c d')
  },
)

t.test('one at fault is found and undone alone', async (t) => {
  for (const how of ['abort', 'rollback'] as const) {
    const { store, add, calls, ids } = await openAccounts(t)
    await poison(store, 'insert on accounts', "new.id = 'bad'", how)
    const results = await Promise.allSettled(['a', 'b', 'bad', 'c', 'd'].map(add))
    t.same(told(results), ['A', 'B', 'it is poisoned', 'C', 'D'], how)
    t.equal(await ids(), 'a b c d')
    t.same(calls.slice(0, 3), ['a b bad c d', 'a b bad', 'a b'])
  }
})

t.test('a refusal is the result of one, and undoes nothing', async (t) => {
  const { add, calls, ids } = await openAccounts(t, (id) =>
    id === 'no' ? new Error('refused') : undefined,
  )
  const results = await Promise.allSettled(['a', 'no', 'b'].map(add))
  t.same(told(results), ['A', 'refused', 'B'])
  t.same(calls, ['a no b'], 'once')
  t.equal(await ids(), 'a b')
})

t.test('writes of both ways keep the order of the calls', aboutSqlite, async (t) => {
  const { add, insert, calls, store } = await openAccounts(t)
  await Promise.all([add('e'), add('d'), insert('c'), add('b'), add('a')])
  t.same(calls, ['e d', 'b a'])
  const rows = await store.read.selectFrom('accounts').select('id').orderBy(sql`rowid`).execute()
  t.same(
    rows.map(({ id }) => id),
    ['e', 'd', 'c', 'b', 'a'],
  )
})

t.test('heavy items are written in smaller parts', async (t) => {
  const { addHeavy, calls } = await openAccounts(t)
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map(addHeavy))
  t.same(calls, ['a b', 'c d', 'e'])
})

t.test('an item is let go of once it is committed, and needed no more', async (t) => {
  const { store, ids } = await openAccounts(t)
  await poison(store, 'insert on accounts', "new.id = 'bad'", 'rollback')
  const seen: string[] = []
  const add = store.gather<{ id: string }, string>(
    async (tx, some) => {
      seen.push(some.map(({ id }) => id).join(' '))
      await tx
        .insertInto('accounts')
        .values(some.map(({ id }) => account(id)))
        .execute()
      return some.map(({ id }) => id)
    },
    undefined,
    (item) => {
      seen.push(`-${item.id}`)
      item.id = ''
    },
  )
  const results = await Promise.allSettled(['a', 'bad', 'b'].map((id) => add({ id })))
  t.same(told(results), ['a', 'it is poisoned', 'b'])
  t.equal(await ids(), 'a b')
  t.notOk(
    seen.slice(0, seen.indexOf('-a')).some((one) => /^ | $|^$/.test(one)),
    'no run sees one that was let go',
  )
  t.same(seen.filter((one) => one === '-a' || one === '-b').sort(), ['-a', '-b'], 'each once')
})

t.test('a fault of the storage fails all of them, and keeps none', aboutSqlite, async (t) => {
  let isFull = false
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  const { store, ids, insert } = await openAccounts(t)
  const add = store.gather<string, void>(async (tx, some) => {
    await tx.insertInto('accounts').values(some.map(account)).execute()
    if (isFull) throw full
    return []
  })
  isFull = true
  const results = await Promise.allSettled([insert('w'), add('a'), add('b')])
  for (const result of results) t.match(result, { reason: { code: 'service_unavailable' } })
  t.equal(await ids(), '')
  isFull = false
  await Promise.all(['a', 'b'].map(add))
  t.equal(await ids(), 'a b', 'and the next ones are written')
})

t.test('what a command gathers goes by its own write, one by one', async (t) => {
  const { store, calls, ids } = await openAccounts(t)
  let writes = 0
  const write: Write = (work) => {
    writes++
    return store.write(work)
  }
  const add = gatherAlone(write)<string, string>(async (tx, [id = '']) => {
    calls.push(id)
    if (id === 'no') return [new Error('refused')]
    await tx.insertInto('accounts').values(account(id)).execute()
    return [id.toUpperCase()]
  })
  t.same(told(await Promise.allSettled([add('a'), add('no'), add('b')])), ['A', 'refused', 'B'])
  t.same([writes, calls], [3, ['a', 'no', 'b']])
  t.equal(await ids(), 'a b')
})
