import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import t from 'tap'
import { type BackupStage, makeBackup } from '../../src/backup/index.js'
import { systemClock } from '../../src/clock/index.js'
import { copyDatabase } from '../../src/store/index.js'
import { aboutSqlite, isPostgres } from '../support/postgres.js'
import { initSandbox } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

t.setTimeout(300_000)

const ballast =
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 300) insert into ballast select randomblob(100000) from n'

/** A data directory with 30 MB, so that the copy is synced, and tells, in its middle. */
function openData(folder: string): string {
  const data = join(folder, 'data')
  initSandbox(data)
  const db = new Database(join(data, 'posthorn.db'))
  db.exec(`create table ballast (bytes blob); ${ballast}`)
  db.close()
  return data
}

/** Another process writes: one that copies may not open the database a second time. */
function writeBeside(data: string): void {
  const script = `
    const db = new (require('better-sqlite3'))(process.argv[1])
    db.pragma('journal_mode = wal')
    db.exec("${ballast.replace('300', '20')}")
    process.exit(0)`
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const written = spawnSync(process.execPath, ['-e', script, join(data, 'posthorn.db')], { cwd })
  if (written.status !== 0) throw new Error(String(written.stderr))
}

function fill(file: string): void {
  for (const bytes of [1_048_576, 4_096]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}

const mayMount = process.getuid?.() === 0 ? false : 'mounting a small file system needs root'

const fullDisk = isPostgres ? aboutSqlite : { skip: mayMount }
t.test('a disk that becomes full while a backup is written', fullDisk, async (t) => {
  const folder = makeTempDir(t)
  const data = openData(folder)
  const dir = join(folder, 'disk')
  mkdirSync(dir)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=120m', 'tmpfs', dir])
  t.equal(mounted.status, 0, String(mounted.stderr))
  t.teardown(() => spawnSync('umount', ['-l', dir]))
  const taken = join(dir, 'taken')
  const make = (onStage?: (stage: BackupStage) => void) =>
    makeBackup({ dataDir: data, dir, clock: systemClock, ...how, onStage })
  const how = { withKey: true, compress: false }
  for (const when of ['copy', 'check', 'pack'] as const) {
    await t.rejects(
      make(({ kind }) => {
        if (kind === when && !existsSync(taken)) fill(taken)
      }),
      { message: /^The disk of .+disk is full: no backup was made$/ },
      when,
    )
    rmSync(taken)
    t.same(readdirSync(dir), ['.posthorn-backup.lock'], `${when}: nothing is left`)
  }
  // The database was not touched, and the next one is made.
  writeBeside(data)
  const { manifest, file } = await make()
  t.equal(manifest.rows.ballast, 320)
  t.ok(existsSync(file))
})

t.test('a copy is not written through a symlink', aboutSqlite, async (t) => {
  const folder = makeTempDir(t)
  const data = join(folder, 'data')
  initSandbox(data)
  const theirs = join(folder, 'theirs')
  writeFileSync(theirs, 'of another')
  symlinkSync(theirs, join(folder, 'copy'))
  await t.rejects(copyDatabase(data, join(folder, 'copy')), { code: 'ELOOP' })
  t.equal(readFileSync(theirs, 'utf8'), 'of another')
})

t.test('a log that grows too far while it is held back ends the copy', aboutSqlite, async (t) => {
  const folder = makeTempDir(t)
  const data = openData(folder)
  const copy = (maxLogGrowth: number) =>
    copyDatabase(data, join(folder, 'copy'), { maxLogGrowth, onProgress: () => writeBeside(data) })
  await t.rejects(copy(1_000_000), {
    message:
      /^The log of the database grew to \d MB while .+, and 1 MB is the most: the backup was given up/,
  })
  await copy(50_000_000)
  // Nothing holds the log any more: all of it goes into the database.
  const db = new Database(join(data, 'posthorn.db'))
  t.match(db.pragma('wal_checkpoint(truncate)'), [{ busy: 0, log: 0 }])
  db.close()
})
