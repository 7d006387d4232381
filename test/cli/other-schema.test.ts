// design.md, Store: the schema is changed at start, never by a command beside a running appliance.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import Database from 'better-sqlite3'
import pg from 'pg'
import t, { type Test } from 'tap'
import { latestSchema } from '../../src/store/index.js'
import { aboutSqlite, databaseSettings, isPostgres } from '../support/postgres.js'
import { initSandbox, serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { jsonOf, runCli } from './run.js'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const schema = await latestSchema()
/** Some that read, some that write, some that would start nothing else. */
const others = [
  ['account', 'list'],
  ['key', 'create', 'x'],
  ['queue', 'summary'],
  ['status'],
  ['doctor'],
  ['retention'],
]

// None of them was ever on a server.
t.test(
  'a database of before the first release is refused in one sentence',
  aboutSqlite,
  async (t) => {
    const { dataDir, db, env } = sandbox(t)
    await db.run(`delete from releases; delete from kysely_migration;
    insert into kysely_migration (name, timestamp) values ('0100-account-languages', 'then')`)
    const refusal = `The database in ${dataDir} was made by Posthorn before its first release, and no release reads it: move that directory away, and make a new one ('posthorn setup' or 'posthorn init')`
    for (const command of others) {
      const { status, stderr } = await runCli(command, { env })
      t.equal(status, 1, command.join(' '))
      t.match(stderr, refusal)
    }
    for (const command of [['serve'], ['init']]) {
      const { status, stderr } = await runCli(command, { env, alone: true })
      t.equal(status, 78, `${command}: no start helps`)
      t.match(stderr, refusal)
    }
    t.same(
      await db.column('select name from kysely_migration'),
      ['0100-account-languages'],
      'it is as it was',
    )
    for (const free of [['version'], ['config', 'check'], ['queue', '--help']]) {
      t.equal((await runCli(free, { env })).status, 0, `${free.join(' ')} needs no database`)
    }
  },
)

t.test('an older release says which release wrote the database', async (t) => {
  const { db, env } = sandbox(t)
  await db.run(`insert into kysely_migration (name, timestamp) values ('9998-of-today', 'then'), ('9999-of-tomorrow', 'then');
    insert into releases (version, migration) values ('9.8.6', '9998-of-today'), ('9.8.7', '9999-of-tomorrow')`)
  for (const command of others) {
    const { status, stderr } = await runCli(command, { env })
    t.equal(status, 1, command.join(' '))
    t.match(stderr, /is of version 9\.8\.7 \(schema 9999-of-tomorrow\), which is newer/)
    t.match(stderr, /use the command of the release that wrote it/)
  }
  for (const command of [['serve'], ['init']]) {
    const { status, stderr } = await runCli(command, { env, alone: true })
    t.equal(status, 78, `${command}: no start helps`)
    t.match(stderr, /The database .* was written by Posthorn 9\.8\.7\s\(schema 9999-of-tomorrow\)/)
    t.match(stderr, `This is Posthorn ${version}, which knows no schema after ${schema}`)
    t.match(stderr, /start 9\.8\.7 again, or restore the backup that was made before the upgrade/)
  }
})

t.test('version says that another one runs, and a start notes its release once', async (t) => {
  const { dataDir, db, env } = sandbox(t)
  await db.run("insert into releases (version, migration) values ('0.0.9', 'x')")
  const served = await serve(t, dataDir, {})
  t.same(await db.column('select version from releases order by id'), [version, '0.0.9', version])
  const same = await runCli(['version'], { env })
  t.match(same.stdout, `posthorn ${version} (Node ${process.versions.node}`)
  t.equal(same.stderr, '')
  t.match(await jsonOf(t, ['version'], { env }), { schema, appliance: version })
  await served.kill('SIGTERM')
  t.match(await jsonOf(t, ['version'], { env }), { version, appliance: null })

  const older = createServer((socket) => socket.end('{"gate":null,"overview":{"version":"0.0.9"}}'))
  await new Promise<void>((resolve) => older.listen(`${dataDir}/control.sock`, resolve))
  t.teardown(() => older.close())
  const { stdout, stderr } = await runCli(['version'], { env })
  t.match(stdout, `posthorn ${version} `)
  t.match(stderr, `The appliance that runs on ${dataDir} is of version 0.0.9`)
})

function sandbox(t: Test) {
  const dataDir = makeTempDir(t)
  initSandbox(dataDir)
  const db = isPostgres
    ? onServer(t, databaseSettings(dataDir).POSTHORN_STORE_URL)
    : inFile(t, dataDir)
  return { dataDir, db, env: { POSTHORN_DATA: dataDir } }
}

interface Raw {
  run(sql: string): Promise<unknown>
  /** The first column of its rows. */
  column(sql: string): Promise<unknown[]>
}

function inFile(t: Test, dataDir: string): Raw {
  const db = new Database(`${dataDir}/posthorn.db`)
  t.teardown(() => db.close())
  return {
    run: async (sql) => db.exec(sql),
    column: async (sql) => db.prepare(sql).pluck().all(),
  }
}

function onServer(t: Test, url: string | undefined): Raw {
  const pool = new pg.Pool({ connectionString: url })
  t.teardown(() => pool.end())
  return {
    run: (sql) => pool.query(sql),
    column: async (sql) => (await pool.query({ text: sql, rowMode: 'array' })).rows.flat(),
  }
}
