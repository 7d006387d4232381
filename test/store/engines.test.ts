// What an engine promises (src/store/README.md), asked of SQLite and of PostgreSQL alike.
import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/clock/index.js'
import {
  boundCell,
  boundValue,
  cell,
  contains,
  greatest,
  idsIn,
  isPassing,
  least,
  likeAnyCase,
  mailNumber,
  makeTurns,
  openStore,
  preparedOver,
  rowsOf,
  type Store,
  unindexed,
  wholeTo,
} from '../../src/store/index.js'
import { databaseOf, noPostgres, type PostgresServer, startPostgres } from '../support/postgres.js'
import { makeTempDir } from '../support/store.js'
import { makeDatabase } from '../support/template.js'
import { byRowPromises } from './by-row.js'

const account = (id: string) => ({ id, name: id, created_at: 0 })
const bytesOf = (id: string) => ({ account_id: id, contents: 0, templates: 0, campaigns: 0 })

/** Two threads' stores over one new database. */
async function openTwo(t: Test, server: PostgresServer | undefined): Promise<[Store, Store]> {
  const dataDir = makeTempDir(t)
  const url = server && (await databaseOf(dataDir, server.url))
  if (url === undefined) await makeDatabase(dataDir)
  const turns = makeTurns()
  const open = async (slot: number) => {
    const store = await openStore({ dataDir, url, clock: systemClock, turns, slot })
    t.teardown(() => store.close())
    return store
  }
  return [await open(0), await open(1)]
}

const ids = async ({ read }: Store) =>
  (
    await read.selectFrom('accounts').select('id').where('id', 'like', 'x%').orderBy('id').execute()
  ).map(({ id }) => id)

async function promises(t: Test, server?: PostgresServer): Promise<void> {
  await t.test('a resolved write is there for everybody, a rejected one for nobody', async (t) => {
    const [one, other] = await openTwo(t, server)
    await one.write((tx) => tx.insertInto('accounts').values(account('x1')).execute())
    t.same(await ids(other), ['x1'])
    const failing = one.write(async (tx) => {
      await tx.insertInto('accounts').values(account('x2')).execute()
      throw new Error('mine')
    })
    const after = one.write((tx) => tx.insertInto('accounts').values(account('x3')).execute())
    await t.rejects(failing, { message: 'mine' })
    await after
    t.same(await ids(other), ['x1', 'x3'])
  })

  await t.test(
    'a value that is none of the column, and a row without its parent, are refused',
    async (t) => {
      const [{ write }] = await openTwo(t, server)
      const misfit = { ...account('x1'), created_at: 'yesterday' as unknown as number }
      await t.rejects(write((tx) => tx.insertInto('accounts').values(misfit).execute()))
      const orphan = { id: 'd', account_id: 'nobody', name: 'a.test', created_at: 0 }
      await t.rejects(
        write((tx) =>
          tx
            .insertInto('domains')
            .values(orphan as never)
            .execute(),
        ),
      )
    },
  )

  await t.test('who reads, decides and writes loses no update to another thread', async (t) => {
    const stores = await openTwo(t, server)
    await stores[0].write(async (tx) => {
      await tx.insertInto('accounts').values(account('x1')).execute()
      await tx.insertInto('stored_bytes').values(bytesOf('x1')).execute()
    })
    const addOne = ({ write }: Store) =>
      write(async (tx) => {
        const { contents } = await tx
          .selectFrom('stored_bytes')
          .select('contents')
          .where('account_id', '=', 'x1')
          .executeTakeFirstOrThrow()
        await tx
          .updateTable('stored_bytes')
          .set({ contents: contents + 1 })
          .where('account_id', '=', 'x1')
          .execute()
      })
    await Promise.all(
      stores.map(async (store) => {
        for (let i = 0; i < 40; i++) await addOne(store)
      }),
    )
    const row = await stores[1].read
      .selectFrom('stored_bytes')
      .select('contents')
      .where('account_id', '=', 'x1')
      .executeTakeFirstOrThrow()
    t.equal(row.contents, 80)
  })

  await t.test('what is gathered fails alone, and all keep the order of the calls', async (t) => {
    const [store] = await openTwo(t, server)
    const order: string[] = []
    const add = store.gather(async (tx, items: readonly string[]) => {
      await tx.insertInto('accounts').values(items.map(account)).execute()
      return items
    })
    const results = await Promise.allSettled([
      add('x1').finally(() => order.push('x1')),
      store
        .write((tx) => tx.insertInto('accounts').values(account('x2')).execute())
        .finally(() => order.push('x2')),
      ...['x3', 'x1', 'x4'].map((id) => add(id).finally(() => order.push(id))),
    ])
    t.same(
      results.map(({ status }) => status === 'fulfilled'),
      [true, true, true, false, true],
    )
    t.same(await ids(store), ['x1', 'x2', 'x3', 'x4'])
    t.same(order.slice(0, 2), ['x1', 'x2'])
  })

  await t.test('engines say the same by words of their own', async (t) => {
    const [{ read, write }] = await openTwo(t, server)
    await write((tx) =>
      tx
        .insertInto('accounts')
        .values([
          { ...account('x1'), name: 'Ä 50%_Off' },
          { ...account('x2'), created_at: 7 },
        ])
        .execute(),
    )
    const accounts = read
      .selectFrom('accounts')
      .select('id')
      .where('id', 'like', 'x%')
      .orderBy('id')
    const found = async (query: typeof accounts) => (await query.execute()).map(({ id }) => id)
    t.same(await found(accounts.where('id', 'in', idsIn(['x2', 'x9'], 'text'))), ['x2'])
    t.same(await found(accounts.where('created_at', 'in', idsIn([7], 'integer'))), ['x2'])
    t.same(await found(accounts.where('id', 'in', [])), [])
    t.same(await found(accounts.where('id', 'not in', [])), ['x1', 'x2'])
    t.same(await found(accounts.where(likeAnyCase('name', '50%_o'))), ['x1'])
    t.same(await found(accounts.where(likeAnyCase('name', '50__o'))), [])
    t.same(await found(accounts.where(contains('name', '%_O'))), ['x1'])
    t.same(await found(accounts.where(contains('name', '%_o'))), [])
    t.same(await found(accounts.where(unindexed<string>('id'), '=', 'x2')), ['x2'])
    t.same(await found(accounts.where(greatest(sql.ref('created_at'), sql`${5}`), '=', 7)), ['x2'])
    t.same(await found(accounts.where(least(sql.ref('created_at'), sql`${5}`), '=', 5)), ['x2'])
    for (const [id, name] of [
      ['x2', 'x2'],
      ['x1', null],
    ] as const) {
      const same = sql<string | null>`nullif(name, 'Ä 50%_Off')`
      t.same(await found(accounts.where(same, 'is not distinct from', name)), [id])
    }
    const rows = await read
      .selectFrom(rowsOf(JSON.stringify([['7', 7, null]])))
      .select([cell(0, 'text').as('text'), cell(1, 'integer').as('number')])
      .select(cell<string | null>(2, 'text').as('nothing'))
      .select(boundValue(3, 'integer').as('bound'))
      .select((eb) => eb.exists(eb.selectFrom('accounts').select('id')).as('is'))
      .execute()
    t.same(rows, [{ text: '7', number: 7, nothing: null, bound: 3, is: 1 }])
    const over = preparedOver<{ id: string; of: number }>(2, (db, lines) =>
      db
        .selectFrom(lines)
        .innerJoin('accounts', (join) => join.on('accounts.id', '=', boundCell(0, 'text')))
        .select(['accounts.id', boundCell(1, 'integer').as('of')]),
    )
    for (const height of [1, 3, 20, 70]) {
      const lines = Array.from({ length: height }, (_, i) => [`x${i + 1}`, i])
      t.equal((await over(read, lines)).length, Math.min(2, height), `${height} rows`)
    }
    t.same(await read.selectFrom('emails').select(mailNumber.as('number')).execute(), [])
  })

  await t.test('no text keeps a statement from running', async (t) => {
    const [{ read, write }] = await openTwo(t, server)
    // As servers answer, and clients ask: a NUL, and half a character; and what only looks like one.
    const odd = ['a\0b', 'a\ud800b', '\\u0000', '"\\', 'ä']
    await write(async (tx) => {
      for (const [n, name] of odd.entries()) {
        await tx
          .insertInto('accounts')
          .values({ ...account(`x${n}`), name })
          .execute()
      }
    })
    for (const [n, name] of odd.entries()) {
      const found = await read
        .selectFrom('accounts')
        .select('id')
        .where('name', 'in', idsIn([name, 'nobody'], 'text'))
        .where('id', 'like', 'x%')
        .execute()
      if (n > 1) t.same(found, [{ id: `x${n}` }], JSON.stringify(name))
    }
    const kept = await read
      .selectFrom(rowsOf(JSON.stringify(odd.map((one) => [one]))))
      .select(cell(0, 'text').as('text'))
      .execute()
    t.same(
      kept.slice(2).map(({ text }) => text),
      odd.slice(2),
    )
  })

  await byRowPromises(t, (t) => openTwo(t, server))

  await t.test(
    'whoever walks along a log misses no row, though numbers come to light late',
    async (t) => {
      const stores = await openTwo(t, server)
      const [{ read }] = stores
      const seen: number[] = []
      let doneAt = Number.POSITIVE_INFINITY
      const write = async (store: Store, recipient: string) => {
        for (let i = 0; i < 60; i++) {
          await store.write(async (tx) => {
            const row = { account_id: 'x', email_id: 'x', recipient, class: 0, type: 'sent', at: i }
            await tx
              .insertInto('events')
              .values(row as never)
              .execute()
            // The other thread's are committed meanwhile.
            if (server !== undefined && i % 5 === 0) await sql`select pg_sleep(0.01)`.execute(tx)
          })
        }
      }
      const walk = async () => {
        for (let from = 0; seen.length < 120 && systemClock.now() - doneAt < 5_000; ) {
          const upTo = await wholeTo(read, 'events')
          const rows = await read
            .selectFrom('events')
            .select('id')
            .where('id', '>', from)
            .where('id', '<=', upTo)
            .orderBy('id')
            .execute()
          seen.push(...rows.map(({ id }) => id))
          from = rows.at(-1)?.id ?? from
          await new Promise((resolve) => setTimeout(resolve, 1))
        }
      }
      const walking = walk()
      await Promise.all(stores.map((store, i) => write(store, `r${i}`)))
      doneAt = systemClock.now()
      await walking
      t.equal(seen.length, 120)
    },
  )
}

t.test('SQLite', (t) => promises(t))

t.test('PostgreSQL', { skip: noPostgres ?? false }, async (t) => {
  const server = await startPostgres(t)
  await promises(t, server)

  await t.test(
    'what is left of a transaction whose connection is lost is not written',
    async (t) => {
      const [store, other] = await openTwo(t, server)
      const failing = store.write(async (tx) => {
        await tx.insertInto('accounts').values(account('x1')).execute()
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
        await other.byRow((tx) => sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(tx))
        // It hears of that before it asks for anything else.
        await new Promise((resolve) => setTimeout(resolve, 200))
        await tx.insertInto('accounts').values(account('x2')).execute()
      })
      await t.rejects(failing, { code: 'service_unavailable' })
      await store.write((tx) => tx.insertInto('accounts').values(account('x3')).execute())
      t.same(await ids(other), ['x3'])
    },
  )

  await t.test('works by row do not wait for each other', async (t) => {
    const [{ byRow }] = await openTwo(t, server)
    let underWay = 0
    let most = 0
    const work = () =>
      byRow(async (tx) => {
        most = Math.max(most, ++underWay)
        await sql`select pg_sleep(0.05)`.execute(tx)
        underWay--
      })
    await Promise.all(Array.from({ length: 10 }, work))
    t.equal(most, 4)
  })

  await t.test('a server that ends is waited for, and what was answered is there', async (t) => {
    const [store] = await openTwo(t, server)
    await store.write((tx) => tx.insertInto('accounts').values(account('x1')).execute())
    server.crash()
    const add = (id: string) =>
      store.write((tx) => tx.insertInto('accounts').values(account(id)).execute())
    const error = await add('x2').catch((cause: unknown) => cause)
    t.match(error, { code: 'service_unavailable', cause: Error })
    t.equal(isPassing(error), true)
    await t.rejects(ids(store))
    server.start()
    t.same(await ids(store), ['x1'])
    await add('x3')
    t.same(await ids(store), ['x1', 'x3'])
  })
})
