// What is unpacked for a check, which is plain whatever the backup is; and what is taken for an encrypted backup.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { makeCheckDir, removeKilledChecks } from '../../src/backup/check-dir.js'
import { scheduledBackup, scheduledCheck } from '../../src/backup/index.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import { jsonOf, runCli } from '../cli/run.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite, isPostgres } from '../support/postgres.js'
import { initSandbox } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

t.setTimeout(200_000)

const mayMount = process.getuid?.() === 0 ? false : 'mounting a file needs root'
const alone = { alone: true } as const
const env = { POSTHORN_BACKUP_PASSPHRASE: 'six random words in a row' }

async function openPlace(t: Test) {
  const folder = makeTempDir(t)
  const [data, dir] = [join(folder, 'data'), join(folder, 'backups')]
  initSandbox(data)
  const backup = (more = {}) =>
    jsonOf<{ file: string }>(t, ['backup', dir, '--data', data], { ...alone, ...more })
  const run = (args: string[], more = {}) =>
    runCli([...args, '--data', data], { ...alone, ...more })
  return { folder, data, dir, backup, run }
}

const checksIn = (dir: string) => readdirSync(dir).filter((name) => name.includes('-check-'))

/** As `kill -9` leaves one: with its lock, which nobody holds any more. */
function killedCheck(dir: string): void {
  const code = `
    import { writeFileSync } from 'node:fs'
    import { makeCheckDir } from ${JSON.stringify(new URL('../../src/backup/check-dir.js', import.meta.url).href)}
    const clock = { now: () => Date.now(), after: () => () => {} }
    const { dir } = await makeCheckDir(${JSON.stringify(dir)}, { clock })
    for (const name of ['appliance.key', 'posthorn.db']) writeFileSync(dir + '/' + name, 'plain')
    process.kill(process.pid, 'SIGKILL')`
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', code])
  t.equal(signal, 'SIGKILL')
}

t.test('what a check that was killed has left goes with the next check, and backup', async (t) => {
  const { dir, backup, run } = await openPlace(t)
  const { file } = await backup({ env })
  killedCheck(dir)
  t.equal(checksIn(dir).length, 1)
  const clock = systemClock
  // One that is at work, one that just begins, and what others have planted.
  const busy = await makeCheckDir(dir, { clock })
  t.equal(checksIn(dir).length, 1, 'only the one that is at work is left')
  mkdirSync(join(dir, '.posthorn-check-begins'))
  const elsewhere = makeTempDir(t)
  writeFileSync(join(elsewhere, 'posthorn.db'), 'of somebody')
  symlinkSync(elsewhere, join(dir, '.posthorn-check-link'))
  await removeKilledChecks(dir, { clock })
  t.equal(checksIn(dir).length, 3)
  t.same(readdirSync(elsewhere), ['posthorn.db'])
  await busy.remove()
  await removeKilledChecks(dir, { clock: new FakeClock(clock.now() + 120_000) })
  t.same(checksIn(dir), ['.posthorn-check-link'])

  killedCheck(dir)
  t.equal((await run(['backup', 'verify', file], { env })).status, 0)
  t.same(checksIn(dir), ['.posthorn-check-link'])
  killedCheck(dir)
  await backup({ env })
  t.same(checksIn(dir), ['.posthorn-check-link'])
})

t.test('a plain file is no encrypted backup, whatever its name says', async (t) => {
  const { folder, data, dir, backup, run } = await openPlace(t)
  const { file } = await backup()
  const claims = `${file}.enc`
  copyFileSync(file, claims)
  const to = join(folder, 'new')
  const refused = async (reason: RegExp, args: string[], more = {}) => {
    const { status, stderr } = await run(args, more)
    t.not(status, 0, args.join(' '))
    t.match(stderr, reason, args.join(' '))
  }
  const named = /is not encrypted, though its name says so/
  await refused(named, ['backup', 'verify', claims])
  const loud = join(folder, 'COPY.TAR.GZ.ENC')
  copyFileSync(file, loud)
  await refused(named, ['backup', 'verify', loud])
  await refused(named, ['restore', claims, '--to', to, '--plain'], { env })
  const set = /is not encrypted, though a passphrase is set/
  await refused(set, ['backup', 'verify', file], { env })
  await refused(set, ['restore', file, '--to', to, '--dry-run'], { env })
  t.equal((await run(['backup', 'verify', file, '--plain'], { env })).status, 0)
  t.equal((await run(['restore', file, '--to', to, '--plain'], { env })).status, 0)
  const listed = await run(['backup', 'list', dir])
  t.match(listed.stdout, /NO, though its name says so/)
  t.notMatch(listed.stdout, /\byes\b/)

  const words = join(folder, 'words')
  writeFileSync(words, env.POSTHORN_BACKUP_PASSPHRASE)
  const job = {
    dataDir: data,
    clock: systemClock,
    signal: new AbortController().signal,
    config: loadConfig({
      env: { POSTHORN_BACKUP_DIR: dir, POSTHORN_BACKUP_PASSPHRASE_FILE: words },
    }),
  }
  await t.rejects(scheduledCheck(job), { message: /is not encrypted/ })
  renameSync(claims, join(folder, 'away'))
  await t.rejects(scheduledCheck(job), { message: set })
})

t.test(
  'a backup that cannot be removed keeps no command from running',
  isPostgres ? aboutSqlite : { skip: mayMount },
  async (t) => {
    const { folder, data, dir } = await openPlace(t)
    mkdirSync(dir)
    const stuck = join(dir, 'posthorn-20200101T000000000Z.tar')
    writeFileSync(stuck, '')
    if (spawnSync('mount', ['--bind', stuck, stuck]).status !== 0) {
      t.comment('this system mounts nothing for tests: skipped')
      return
    }
    t.teardown(() => spawnSync('umount', ['-l', stuck]))
    const gone = join(dir, 'posthorn-20190101T000000000Z.tar')
    writeFileSync(gone, '')
    const taken = join(folder, 'taken')
    const made = await scheduledBackup({
      dataDir: data,
      clock: systemClock,
      signal: new AbortController().signal,
      config: loadConfig({
        env: {
          POSTHORN_BACKUP_DIR: dir,
          POSTHORN_BACKUP_HOOK: `cp,{file},${taken}`,
          POSTHORN_BACKUP_KEEP_DAILY: '1',
          POSTHORN_BACKUP_KEEP_WEEKLY: '0',
          POSTHORN_BACKUP_KEEP_MONTHLY: '0',
        },
      }),
    })
    t.match(made, { summary: /command of backup\.hook has taken it/, figures: { removed: 1 } })
    t.match(made.problems, [
      /20200101T000000000Z\.tar has had its time and cannot be removed: EBUSY/,
    ])
    t.ok(readdirSync(folder).includes('taken'))
  },
)
