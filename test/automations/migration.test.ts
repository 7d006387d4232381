import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { up } from '../../src/store/migrations/0030-automations.js'
import { openConnection } from '../../src/store/sqlite/connection.js'
import { kyselyOver } from '../../src/store/sqlite/driver.js'
import { makeTempDir } from '../support/store.js'

const mails = 100_000

t.test('the migration adds a column to the mails without rewriting any', async (t) => {
  const file = join(makeTempDir(t), 'posthorn.db')
  const raw = openConnection(file, { busyTimeoutMs: 1_000 })
  // The columns that matter: rows of the size of a mail's.
  raw.exec('create table emails (id text primary key, subject text not null) strict')
  raw.exec('create table template_versions (id text primary key, html text) strict')
  raw
    .prepare(
      'insert into emails with recursive ns (n) as (select 1 union all select n + 1 from ns where n < ?) ' +
        "select printf('%036d', n), printf('%0200d', n) from ns",
    )
    .run(mails)
  raw.pragma('wal_checkpoint(truncate)')
  const db = kyselyOver<unknown>(raw)
  await up(db)
  // What it has written is in the log: the schema and the empty tables.
  const writtenBytes = statSync(`${file}-wal`).size
  t.ok(writtenBytes < statSync(file).size / 10, `${writtenBytes} of ${statSync(file).size} bytes`)
  t.equal(
    raw.prepare('select count(*) from emails where automation_step_id is null').pluck().get(),
    mails,
  )
  await db.destroy()
})
