// What a database of an earlier release becomes, beside what a new one is.
import { existsSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import t from 'tap'
import { databaseFile, migrateStore } from '../../src/store/index.js'
import { migrateStore as migrateBy, ownSteps } from '../../src/store/migrate.js'
import { makeTempDir } from '../support/store.js'

t.test('a database of the baseline comes to what a new one is', async (t) => {
  const [old, fresh] = [makeTempDir(t), makeTempDir(t)]
  const db = new Database(databaseFile(old))
  // As the baseline made it. Who changes a table adds a migration, and leaves this file as it is.
  db.exec(readFileSync('test/fixtures/store/0101-baseline.sql', 'utf8'))
  db.close()
  await migrateStore({ dataDir: old })
  await migrateStore({ dataDir: fresh })
  const [become, made] = [describe(databaseFile(old)), describe(databaseFile(fresh))]
  t.ok(Object.keys(made).length > 1000)
  t.same(become, made)
})

// Issue 46: a node of the release before works on beside what a migration has made, unless it is one that waits.
// Steps by themselves are of modules as compiled, which the check on the other runtime pair loads: of packed ones there
// would be two that know the engine.
const packed = existsSync('dist/unpacked/store') && 'modules are packed'
t.test('since nodes are upgraded one by one, migrations only add', { skip: packed }, async (t) => {
  const dataDir = makeTempDir(t)
  const db = new Database(databaseFile(dataDir))
  db.exec(readFileSync('test/fixtures/store/0101-baseline.sql', 'utf8'))
  db.close()
  const { migrations, contracting } = ownSteps
  const isTo = (last: string) => ({
    migrations: Object.fromEntries(
      Object.entries(migrations).filter(([name]) => name <= last && !contracting.has(name)),
    ),
    contracting,
  })
  const made = async (last: string) => {
    await migrateBy({ dataDir }, undefined, isTo(last))
    return describe(databaseFile(dataDir))
  }
  const before = await made('0246-rolling')
  const after = await made('9999')
  const changed = Object.entries(before)
    .filter(([fact]) => !/^rows of|^index /.test(fact))
    .filter(([fact, was]) => JSON.stringify(after[fact]) !== JSON.stringify(was))
  t.same(changed, [], 'what was there is as it was')
  const isOld = (fact: unknown) => Object.hasOwn(before, `${fact}`)
  const added = Object.entries(after).filter(([fact]) => !isOld(fact))
  t.ok(added.length > 100)
  const wanted = added.filter(([fact, is]) => {
    const { notnull, dflt_value, unique, table, names } = is as Record<string, unknown>
    const isWanted = notnull === 1 && dflt_value === null && isOld(fact.split('.')[0])
    const columns = `${names}`.split(', ')
    const forbids =
      unique === 1 && isOld(table) && columns.every((name) => isOld(`${table}.${name}`))
    return isWanted || forbids
  })
  t.same(wanted, [], 'nothing is wanted of who does not know it')
})

/** All that a schema says, each fact by its name, without the order of columns and the way in which it was written. */
function describe(file: string): Record<string, unknown> {
  const db = new Database(file, { readonly: true })
  const all = (sql: string) => db.prepare(sql).all() as Record<string, string | number | null>[]
  const facts: Record<string, unknown> = {}
  for (const { name: table, sql, wr, strict } of all(
    "select s.name, s.sql, l.wr, l.strict from sqlite_schema as s join pragma_table_list as l using (name) where s.type = 'table'",
  )) {
    facts[`${table}`] = { wr, strict, isRising: /autoincrement/i.test(`${sql}`) }
    for (const { cid, name, ...column } of all(`pragma table_xinfo("${table}")`)) {
      facts[`${table}.${name}`] = column
    }
    for (const { id, seq, from, ...key } of all(`pragma foreign_key_list("${table}")`)) {
      facts[`${table}.${from} references`] = key
    }
    for (const { name, unique, origin } of all(`pragma index_list("${table}")`)) {
      const columns = all(`pragma index_xinfo("${name}")`).filter(({ key }) => key === 1)
      const names = columns.map((column) => column.name).join(', ')
      const made = db.prepare('select sql from sqlite_schema where name = ?').pluck().get(name)
      const where = /\bwhere (.*)$/is.exec(`${made ?? ''}`)?.[1]
      const of = origin === 'c' ? `index ${name}` : `${table} ${origin} (${names})`
      facts[of] = { table, names, unique, where }
    }
    if (!/^kysely|^releases$|^sqlite/.test(`${table}`)) {
      facts[`rows of ${table}`] = all(`select * from "${table}"`)
    }
  }
  db.close()
  return facts
}

t.test('names that are there already are found after an upgrade', async (t) => {
  const dataDir = makeTempDir(t)
  const db = new Database(databaseFile(dataDir))
  t.teardown(() => db.close())
  db.exec(readFileSync('test/fixtures/store/0101-baseline.sql', 'utf8'))
  db.pragma('foreign_keys = off')
  const add = db.prepare(
    "insert into contacts (id, account_id, address, email, first_name, last_name, created_at) values (?, 'a', ?, '', ?, ?, 0)",
  )
  add.run('1', 'one', 'Ádá', 'Obi')
  add.run('2', 'two', null, 'Obi')
  add.run('3', 'three', null, null)
  await migrateStore({ dataDir })
  t.same(db.prepare('select name_key, last_name_key from contacts order by id').raw().all(), [
    ['ádá obi', 'obi'],
    ['obi', null],
    [null, null],
  ])
})

t.test('contacts, lists, forms and tasks that are there already outlive an upgrade', async (t) => {
  const dataDir = makeTempDir(t)
  const db = new Database(databaseFile(dataDir))
  t.teardown(() => db.close())
  db.exec(readFileSync('test/fixtures/store/0101-baseline.sql', 'utf8'))
  db.pragma('foreign_keys = off')
  for (const [id, account] of [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'a'],
  ]) {
    db.prepare(
      'insert into contacts (id, account_id, address, email, created_at) values (?, ?, ?, ?, 5)',
    ).run(id, account, id, id)
  }
  db.prepare(
    "insert into contact_lists (id, account_id, name, created_at, contact_count) values ('l', 'a', 'Readers', 5, 2)",
  ).run()
  await migrateStore({ dataDir })
  t.same(
    db
      .prepare(
        "select id from contacts indexed by contacts_newest where account_id = 'a' order by id desc",
      )
      .pluck()
      .all(),
    ['3', '1'],
    'the new index has them',
  )
  t.same(db.prepare('select distinct changed_at from contacts').pluck().all(), [null])
  t.same(db.prepare('select name, double_opt_in from contact_lists').raw().all(), [['Readers', 0]])
  db.prepare("insert into erasure_mails (task_id, email_id) values (1, 'm')").run()
  t.throws(
    () => db.prepare("insert into erasure_mails (task_id, email_id) values (1, 'm')").run(),
    'a mail of a task once',
  )
})
