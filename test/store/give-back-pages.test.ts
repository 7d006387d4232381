import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { giveBackPages, type Store, vacuumStore } from '../../src/store/index.js'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { aboutSqlite } from '../support/postgres.js'
import { makeTempDir, openTestStore } from '../support/store.js'

const { signal } = new AbortController()

/** Pages of bodies, nearly all of which are then free. */
async function openFreed(t: Test, dataDir: string): Promise<Store> {
  const store = await openTestStore(t, { dataDir })
  const html = 'x'.repeat(40_000)
  for (let from = 1; from <= 200; from += 50) {
    await store.write(async (tx) => {
      for (let id = from; id < from + 50; id++) {
        await tx.insertInto('bodies').values({ id, html, text: null }).execute()
      }
    })
  }
  await store.write((tx) => tx.deleteFrom('bodies').where('id', '<', 200).execute())
  return store
}

t.test(
  'free pages are given back in small writes, but for a tenth of the file',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    const store = await openFreed(t, dataDir)
    await store.checkpoint()
    const sizeBefore = statSync(databaseFile(dataDir)).size
    let writes = 0
    const write: Store['write'] = (work) => {
      writes++
      return store.write(work)
    }
    const { before, after } = await giveBackPages({ read: store.read, write }, signal)
    t.ok(before.shrinks && before.free > 1_500, `${before.free} free before`)
    t.ok(after.free <= after.total * 0.11 && after.free > 0, `${after.free} of ${after.total} stay`)
    t.ok(writes >= (before.total - after.total) / 100, `${writes} writes of at most 100 pages`)
    await store.checkpoint()
    t.equal(statSync(databaseFile(dataDir)).size, after.total * after.bytesEach)
    t.ok(sizeBefore > 3 * after.total * after.bytesEach)
    const stayed = await store.read.selectFrom('bodies').select('id').execute()
    t.same(stayed, [{ id: 200 }])
  },
)

t.test('it ends between two writes when it is told to', aboutSqlite, async (t) => {
  const store = await openFreed(t, makeTempDir(t))
  const stop = new AbortController()
  const write: Store['write'] = (work) => {
    stop.abort()
    return store.write(work)
  }
  const { before, after } = await giveBackPages({ read: store.read, write }, stop.signal)
  t.equal(before.total - after.total, 100)
})

t.test('a database of before cannot shrink until it was written anew', aboutSqlite, async (t) => {
  const dataDir = makeTempDir(t)
  const old = new Database(databaseFile(dataDir))
  old.exec('create table older (id integer primary key)')
  old.close()
  const store = await openFreed(t, dataDir)
  const { before, after } = await giveBackPages(store, signal)
  t.same([before.shrinks, after.total], [false, before.total])
  await store.close()
  const { beforeBytes, afterBytes } = vacuumStore(dataDir)
  t.ok(beforeBytes > 3 * afterBytes, `${beforeBytes}, then ${afterBytes}`)
  const again = await openTestStore(t, { dataDir })
  t.ok((await giveBackPages(again, signal)).before.shrinks)
})
