import { fork } from 'node:child_process'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { reportFault } from '../../src/store/fault.js'
import { lastIdsSql, makeIds, writersOf } from '../../src/store/ids.js'
import {
  acceptedAt,
  commandSlot,
  firstSerialAt,
  forgetTurn,
  makeTurns,
  migrateStore,
  nobodysSerial,
  openStore,
  prepared,
  preparedInsert,
  type Tables,
  tryLockFile,
} from '../../src/store/index.js'
import { openConnection } from '../../src/store/sqlite/connection.js'
import { kyselyOver } from '../../src/store/sqlite/driver.js'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { makeGroupCommit } from '../../src/store/sqlite/group-commit.js'
import { sharing } from '../../src/store/sqlite/log-sync.js'
import { joinTurns } from '../../src/store/turns.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite } from '../support/postgres.js'
import { makeTempDir, openTestStore } from '../support/store.js'

const account = (id: string) => ({ id, name: id, created_at: 0 })

t.test(
  'a resolved write can be read, by this connection and by another process',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    const store = await openTestStore(t, { dataDir })
    await store.write((tx) => tx.insertInto('accounts').values(account('a')).execute())
    t.equal((await store.read.selectFrom('accounts').selectAll().execute()).length, 1)
    const other = new Database(`${dataDir}/posthorn.db`, { readonly: true })
    t.same(other.prepare('select id from accounts').all(), [{ id: 'a' }])
    other.close()
  },
)

t.test('the database is durable and checked: WAL, foreign keys, STRICT', aboutSqlite, async (t) => {
  const store = await openTestStore(t)
  const settings = await store.write(async (tx) => {
    const { sql } = await import('kysely')
    return {
      journal: (await sql<{ journal_mode: string }>`pragma journal_mode`.execute(tx)).rows[0],
      foreign: (await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(tx)).rows[0],
    }
  })
  t.same(settings, {
    journal: { journal_mode: 'wal' },
    foreign: { foreign_keys: 1 },
  })
  const misfit = { ...account('a'), created_at: 'yesterday' as unknown as number }
  await t.rejects(
    store.write((tx) => tx.insertInto('accounts').values(misfit).execute()),
    /cannot store TEXT value in INTEGER column/,
  )
})

t.test('a write answers when it is on disk, not when it is committed', async (t) => {
  const dataDir = makeTempDir(t)
  await migrateStore({ dataDir })
  const raw = openConnection(databaseFile(dataDir), { busyTimeoutMs: 100 })
  t.teardown(() => raw.close())
  let reached = (_error?: Error) => {}
  let syncs = 0
  const { write } = makeGroupCommit({
    raw,
    tx: kyselyOver<Tables>(raw),
    turns: joinTurns(makeTurns(), 0),
    clock: systemClock,
    flush: () =>
      new Promise((resolve, reject) => {
        syncs++
        reached = (error) => (error ? reject(error) : resolve())
      }),
  })
  const insert = (id: string) =>
    write((tx) => tx.insertInto('accounts').values(account(id)).execute())
  let answered = 0
  const first = insert('a').then(() => answered++)
  const thrown = write(async () => Promise.reject(new Error('mine'))).catch((error) => {
    answered++
    return error
  })
  while (syncs === 0) await new Promise((resolve) => setImmediate(resolve))
  const others = Promise.all(['b', 'c', 'd'].map((id) => insert(id).then(() => answered++)))
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  t.same(raw.prepare('select id from accounts').pluck().all(), ['a'], 'it is committed')
  t.equal(answered, 0, 'and nobody is told')
  reached()
  await first
  t.equal((await thrown).message, 'mine')
  t.equal(answered, 2)
  while (syncs === 1) await new Promise((resolve) => setImmediate(resolve))
  t.equal(answered, 2, 'what came meanwhile has a sync of its own')
  reached()
  await others
  t.equal(syncs, 2, 'and shares it')

  const lost = insert('e')
  while (syncs === 2) await new Promise((resolve) => setImmediate(resolve))
  reached(Object.assign(new Error('EIO'), { code: 'EIO' }))
  await t.rejects(lost, { code: 'service_unavailable' }, 'a sync that fails is no answer')
})

t.test('after which errors the database is not used any more, and after which it is', async (t) => {
  const told = (code: string) => {
    const faults: string[] = []
    reportFault(Object.assign(new Error('x'), { code }), ({ kind }) => faults.push(kind))
    return faults
  }
  for (const code of ['SQLITE_CORRUPT', 'SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB']) {
    t.same(told(code), ['corrupt'], code)
  }
  for (const code of ['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_DIR_FSYNC']) {
    t.same(told(code), ['unsynced'], code)
  }
  for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_BUSY', 'EIO']) {
    t.same(told(code), [], code)
  }
})

t.test('a sync serves those alone who came before it began', async (t) => {
  const ends: (() => void)[] = []
  const flush = sharing(() => new Promise((resolve) => ends.push(resolve)))
  const told: string[] = []
  const first = flush().then(() => told.push('first'))
  const second = [flush().then(() => told.push('second')), flush().then(() => told.push('too'))]
  t.equal(ends.length, 1)
  ends[0]?.()
  await first
  await new Promise((resolve) => setImmediate(resolve))
  t.same(told, ['first'])
  t.equal(ends.length, 2)
  ends[1]?.()
  await Promise.all(second)
  t.same(told, ['first', 'second', 'too'])
})

t.test('writes that arrive together share one commit', async (t) => {
  const commits: number[] = []
  const dataDir = makeTempDir(t)
  await migrateStore({ dataDir })
  const store = await openStore({
    dataDir,
    // It stands still: a turn that lasts some milliseconds would end earlier.
    clock: new FakeClock(),
    turns: makeTurns(),
    slot: 0,
    onCommit: (writes) => commits.push(writes),
  })
  t.teardown(() => store.close())
  await Promise.all(
    Array.from({ length: 100 }, (_, i) =>
      store.write((tx) =>
        tx
          .insertInto('accounts')
          .values(account(`a${i}`))
          .execute(),
      ),
    ),
  )
  t.same(commits, [100])
})

t.test('a work that throws undoes itself alone, and answers with its own error', async (t) => {
  const store = await openTestStore(t)
  const results = await Promise.allSettled([
    store.write((tx) => tx.insertInto('accounts').values(account('first')).execute()),
    store.write(async (tx) => {
      await tx.insertInto('accounts').values(account('undone')).execute()
      throw new Error('changed my mind')
    }),
    store.write((tx) => tx.insertInto('accounts').values(account('third')).execute()),
  ])
  t.same(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  t.match(results[1], { reason: { message: 'changed my mind' } })
  const rows = await store.read.selectFrom('accounts').select('id').orderBy('id').execute()
  t.same(rows, [{ id: 'first' }, { id: 'third' }])
})

t.test(
  'a full disk fails every write of the transaction with 503, and later writes work',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    const store = await openTestStore(t, { dataDir })
    await store.write(async (tx) => {
      const { sql } = await import('kysely')
      const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(tx)
      await sql`pragma max_page_count = ${sql.lit((rows[0]?.page_count ?? 0) + 2)}`.execute(tx)
    })
    const big = (id: string) => ({ ...account(id), name: 'x'.repeat(100_000) })
    const results = await Promise.allSettled([
      store.write((tx) => tx.insertInto('accounts').values(account('small')).execute()),
      store.write((tx) => tx.insertInto('accounts').values(big('big')).execute()),
    ])
    for (const result of results) {
      t.match(result, { status: 'rejected', reason: { code: 'service_unavailable', status: 503 } })
    }
    t.same(await store.read.selectFrom('accounts').select('id').execute(), [])
    await store.write((tx) => tx.insertInto('accounts').values(account('small')).execute())
    t.same(await store.read.selectFrom('accounts').select('id').execute(), [{ id: 'small' }])
  },
)

t.test(
  'a write waits for another process that holds the database, then goes through',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    const store = await openTestStore(t, { dataDir })
    const other = new Database(`${dataDir}/posthorn.db`)
    other.exec('begin immediate')
    setTimeout(() => {
      other.exec('commit')
      other.close()
    }, 400)
    await store.write((tx) => tx.insertInto('accounts').values(account('a')).execute())
    t.equal((await store.read.selectFrom('accounts').selectAll().execute()).length, 1)
  },
)

t.test(
  'what was answered survives kill -9, and a half-done write leaves nothing',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    await migrateStore({ dataDir })
    const child = fork(new URL('../support/store-writer.js', import.meta.url), [dataDir])
    const acknowledged: string[] = []
    await new Promise<void>((resolve) => {
      child.on('message', (id) => {
        acknowledged.push(String(id))
        if (acknowledged.length === 200) child.kill('SIGKILL')
      })
      child.on('exit', () => resolve())
    })
    const store = await openTestStore(t, { dataDir })
    const rows = await store.read.selectFrom('accounts').select(['id', 'name']).execute()
    const names = new Set(rows.map((row) => row.name))
    t.ok(acknowledged.length >= 200)
    t.same(
      acknowledged.filter((name) => !names.has(name)),
      [],
      'nothing acknowledged is lost',
    )
    // Each work writes a pair.
    t.equal(rows.length % 2, 0, 'no half of a work is left')
  },
)

t.test(
  'threads take turns: no update is lost and none waits in the busy handler',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    await migrateStore({ dataDir })
    const turns = makeTurns()
    const store = await openTestStore(t, { dataDir, turns })
    await store.write((tx) => tx.insertInto('accounts').values(account('counter')).execute())
    const entry = new URL('../support/store-counter.js', import.meta.url)
    await Promise.all(
      [1, 2, 3].map(
        (slot) =>
          new Promise<void>((resolve, reject) => {
            const worker = new Worker(entry, { workerData: { dataDir, turns, slot, times: 300 } })
            worker.on('error', reject)
            worker.on('exit', (code) =>
              code === 0 ? resolve() : reject(new Error(`exit ${code}`)),
            )
          }),
      ),
    )
    const row = await store.read
      .selectFrom('accounts')
      .select('created_at')
      .where('id', '=', 'counter')
      .executeTakeFirstOrThrow()
    t.equal(row.created_at, 900)
  },
)

t.test('a waiter is passed over some times, then its turn comes', async (t) => {
  const shared = makeTurns()
  const greedy = joinTurns(shared, 0)
  const slow = joinTurns(shared, 1)
  await greedy.take()
  let served = false
  const turn = slow.take().then(() => {
    served = true
  })
  // It never lets go of the event loop, so that the waiter cannot wake up in between.
  let rounds = 0
  for (; rounds < 100; rounds++) {
    greedy.release()
    const again = greedy.take()
    if (Atomics.load(new Int32Array(shared), 0) === 2) {
      void again
      break
    }
  }
  await turn
  t.ok(served)
  t.equal(rounds, 3)
  slow.release()
})

t.test('a job hands its turn to clients that wait, before other threads and itself', async (t) => {
  const shared = makeTurns()
  const [clients, other] = [joinTurns(shared, 0), joinTurns(shared, 2)]
  const job = joinTurns(shared, 5, { givesWay: true })
  await job.take()
  const others = other.take()
  t.notOk(job.isWanted(), 'a thread of the appliance is no client')
  const theirs = clients.take()
  t.ok(job.isWanted())
  job.release()
  t.equal(Atomics.load(new Int32Array(shared), 0), 1)
  await theirs
  t.notOk(job.isWanted())
  clients.release()
  await others
  other.release()
})

t.test('the transaction of a job ends with the work in which clients came', async (t) => {
  const dataDir = makeTempDir(t)
  await migrateStore({ dataDir })
  const turns = makeTurns()
  // Its clock stands still: no transaction is ever too long.
  const clock = new FakeClock()
  const job = await openStore({ dataDir, clock, turns, slot: 5, background: true })
  t.teardown(() => job.close())
  const clients = joinTurns(turns, 0)
  const order: string[] = []
  let turn: Promise<void> | undefined
  await Promise.all(
    ['first', 'second', 'third'].map((name) =>
      job.write(async () => {
        order.push(name)
        turn ??= clients.take().then(() => {
          order.push('clients')
          clients.release()
        })
      }),
    ),
  )
  await turn
  t.same(order, ['first', 'clients', 'second', 'third'])
})

t.test('a dead thread loses its turn, whether it held it or was handed it', async (t) => {
  const shared = makeTurns()
  const dead = joinTurns(shared, 0)
  const alive = joinTurns(shared, 2)
  await dead.take()
  const got = alive.take()
  forgetTurn(shared, 0)
  await got
  // A thread that died while it waited was handed the turn after its death.
  Atomics.store(new Int32Array(shared), 0, 2)
  const again = alive.take()
  forgetTurn(shared, 1)
  await again
  alive.release()
  t.pass('the turn came round')
})

t.test('a checkpoint moves what was committed into the database file', aboutSqlite, async (t) => {
  const dataDir = makeTempDir(t)
  const store = await openTestStore(t, { dataDir })
  const size = () => statSync(`${dataDir}/posthorn.db`).size
  await store.checkpoint()
  const before = size()
  const html = 'x'.repeat(1_000_000)
  await store.write((tx) => tx.insertInto('bodies').values({ id: 1, html, text: null }).execute())
  t.equal(size(), before)
  await store.checkpoint()
  // Less than all of it: the file had some empty pages.
  t.ok(size() > before + html.length / 2)
})

t.test('a long log begins anew though somebody writes all the time', aboutSqlite, async (t) => {
  const dataDir = makeTempDir(t)
  const store = await openTestStore(t, { dataDir })
  const log = `${dataDir}/posthorn.db-wal`
  // https://sqlite.org/fileformat2.html#the_write_ahead_log: salt 1 is another one each time that it begins anew.
  const salt = () => {
    const head = Buffer.alloc(32)
    const file = openSync(log, 'r')
    readSync(file, head)
    closeSync(file)
    return head.readUInt32BE(16)
  }
  const writer = new Worker(new URL('../support/write-for-ever.js', import.meta.url), {
    workerData: `${dataDir}/posthorn.db`,
  })
  t.teardown(() => writer.terminate())
  while (statSync(log).size < 80_000_000) await new Promise((resolve) => setTimeout(resolve, 20))
  const before = salt()
  let checkpoints = 0
  for (; salt() === before && checkpoints < 10; checkpoints++) {
    await store.checkpoint()
    // So that it has written since.
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  t.ok(checkpoints < 10, `${checkpoints} checkpoints`)
  await writer.terminate()
  const [told] = new Database(`${dataDir}/posthorn.db`).pragma('integrity_check') as object[]
  t.same(told, { integrity_check: 'ok' })
})

t.test(
  'the log is cut off where that is asked for, unless somebody still reads in it',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    const store = await openTestStore(t, { dataDir })
    const logBytes = () => statSync(`${dataDir}/posthorn.db-wal`).size
    const write = (id: number) =>
      store.write((tx) =>
        tx
          .insertInto('bodies')
          .values({ id, html: 'x'.repeat(1_000_000), text: null })
          .execute(),
      )
    await write(1)
    await store.checkpoint()
    t.ok(logBytes() > 1_000_000, 'otherwise it stays as large as it was')
    const other = new Database(`${dataDir}/posthorn.db`)
    t.teardown(() => other.close())
    other.exec('begin')
    other.prepare('select count(*) from bodies').get()
    await write(2)
    await store.checkpoint({ shrink: true })
    t.ok(logBytes() > 1_000_000, 'a reader needs it')
    other.exec('rollback')
    await store.checkpoint({ shrink: true })
    t.equal(logBytes(), 0)
    await write(3)
    t.equal((await store.read.selectFrom('bodies').select('id').execute()).length, 3)
  },
)

t.test('a prepared query gives each run its own values, null and repeated ones too', async (t) => {
  const store = await openTestStore(t)
  const insert = preparedInsert('bodies')
  await store.write(async (tx) => {
    await insert(tx, { id: 1, html: 'a', text: null })
    await insert(tx, { id: 2, html: null, text: 'a' })
  })
  const either = prepared<{ is: string; limit: number }, { id: number }>((db, { is, limit }) =>
    db
      .selectFrom('bodies')
      .select('id')
      .where((eb) => eb.or([eb('html', '=', is), eb('text', '=', is)]))
      .orderBy('id')
      .limit(limit),
  )
  t.same(await either(store.read, { is: 'a', limit: 5 }), [{ id: 1 }, { id: 2 }])
  t.same(await either(store.read, { is: 'a', limit: 1 }), [{ id: 1 }])
  t.same(await either(store.read, { is: 'b', limit: 5 }), [])
})

t.test('ids', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const serials = Array.from({ length: 10_000 }, () => store.ids.serial())
  t.ok(
    serials.every((id, i) => i === 0 || id > (serials[i - 1] ?? 0)),
    'serials rise',
  )
  t.ok(serials.every(Number.isSafeInteger))
  t.match(store.ids.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

t.test('two writers never make the same number, whatever their pace', async (t) => {
  const clock = new FakeClock()
  const made: number[] = []
  for (let slot = 0; slot <= commandSlot; slot++) {
    const ids = makeIds(clock, writersOf(slot), { serial: 0, uuidMs: 0 })
    made.push(...Array.from({ length: 1_000 }, () => ids.serial()))
  }
  // Other shares of the writers than a thread's, as nodes of one database would have them.
  const one = makeIds(clock, { first: 1_000, count: 1 }, { serial: 0, uuidMs: 0 })
  made.push(...Array.from({ length: 1_000 }, () => one.serial()))
  t.equal(new Set(made).size, made.length)
  t.notOk(made.includes(nobodysSerial(clock.now())))
  t.throws(() => writersOf(31), 'the last ones are nobody')
})

t.test('128 numbers a millisecond are of that millisecond, and all are above older ones', (t) => {
  const clock = new FakeClock()
  const ids = makeIds(clock, writersOf(3), { serial: 0, uuidMs: 0 })
  const burst = Array.from({ length: 129 }, () => acceptedAt(ids.serial()) - clock.now())
  t.same([burst[0], burst[127], burst[128]], [0, 0, 1])
  // As they were made before: 8 bits of count and 4 bits of a thread's slot.
  const old = firstSerialAt(clock.now() + 5_000) + 255 * 16 + 15
  for (const slot of [0, commandSlot]) {
    const next = makeIds(clock, writersOf(slot), { serial: old, uuidMs: 0 }).serial()
    t.ok(next > old && acceptedAt(next) === clock.now() + 5_001, `slot ${slot}`)
  }
  t.end()
})

t.test('after a clock was set back no id is given twice, and order stays', async (t) => {
  const dataDir = makeTempDir(t)
  const clock = new FakeClock()
  const before = await openTestStore(t, { dataDir, clock, slot: 3 })
  const serials = Array.from({ length: 300 }, () => before.ids.serial())
  const uuids = Array.from({ length: 300 }, () => before.ids.uuid())
  t.same(uuids, uuids.toSorted(), 'uuids rise within a millisecond too')
  await before.write(async (tx) => {
    await tx
      .insertInto('bodies')
      .values(serials.map((id) => ({ id, html: null, text: null })))
      .execute()
    await tx
      .insertInto('accounts')
      .values(uuids.map((id) => account(id)))
      .execute()
  })
  await before.close()

  clock.setBack(3_600_000)
  for (const slot of [3, 2]) {
    const after = await openTestStore(t, { dataDir, clock, slot })
    t.ok(after.ids.serial() > (serials.at(-1) ?? 0), `slot ${slot}`)
    t.ok(after.ids.uuid() > (uuids.at(-1) ?? ''))
  }
})

t.test('a damaged row whose id is out of all bounds leaves numbers for the others', async (t) => {
  const { sql } = await import('kysely')
  const dataDir = makeTempDir(t)
  const clock = new FakeClock()
  const before = await openTestStore(t, { dataDir, clock })
  const kept = before.ids.serial()
  await before.write(async (tx) => {
    for (const id of [`${kept}`, '9007199254740991', '9223372036854775806']) {
      await sql.raw(`insert into bodies (id) values (${id})`).execute(tx)
    }
    await tx
      .insertInto('accounts')
      .values(account('ffffffff-ffff-7fff-bfff-ffffffffffff'))
      .execute()
  })
  await before.close()
  const after = await openTestStore(t, { dataDir, clock })
  const serial = after.ids.serial()
  t.ok(serial > kept && serial < kept + 1_000_000, `${serial}`)
  t.ok(after.ids.uuid() < before.ids.uuid().replace(/^./, '1'))
})

t.test(
  'the largest ids are read from the ends of indexes, and from every table',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    await openTestStore(t, { dataDir })
    const raw = openConnection(databaseFile(dataDir), { busyTimeoutMs: 100 })
    t.teardown(() => raw.close())
    for (const query of Object.values(lastIdsSql)) {
      const plan = raw.prepare<[], { detail: string }>(`explain query plan ${query}`).all()
      t.same(
        plan.filter(({ detail }) => /^SCAN (?!\(subquery)/.test(detail)),
        [],
      )
    }
    const keyed = (type: string) =>
      raw
        .prepare<[string], string>(
          "select s.name from sqlite_schema s join pragma_table_info(s.name) i where s.type = 'table' and i.name = 'id' and i.pk = 1 and i.type = ? and s.name not like 'kysely%'",
        )
        .pluck()
        .all(type)
    // SQLite numbers these, or they have one row, or another table's numbers.
    const others =
      /^(appliance|audit_log|consent|contact_imports|doctor_findings|event_names_through|events|figure_cursors|job_runs|notices|notice_mails|protection_audit|releases|retention_state|segment_changes|site_orders|tasks|webhook_.*|.*_sources)$/
    for (const table of keyed('INTEGER').filter((name) => !others.test(name))) {
      t.match(lastIdsSql.serial, `from "${table}"`)
    }
    for (const table of keyed('TEXT')) t.match(lastIdsSql.uuid, `from "${table}"`)
  },
)

t.test('one process a data directory', async (t) => {
  const file = `${makeTempDir(t)}/lock`
  const unlock = tryLockFile(file)
  t.equal(tryLockFile(file), undefined)
  unlock?.()
  const again = tryLockFile(file)
  t.type(again, 'function')
  again?.()
})
