import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { openMetrics } from '../../src/app/metrics.js'
import { runHook } from '../../src/backup/hook.js'
import { type ScheduledDeps, scheduledBackup, scheduledCheck } from '../../src/backup/index.js'
import { fileNameOf, timeInName } from '../../src/backup/names.js'
import { expiredBackups } from '../../src/backup/scheduled.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import { checkBackups } from '../../src/doctor/appliance.js'
import type { DoctorDeps } from '../../src/doctor/finding.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite } from '../support/postgres.js'
import { initSandbox } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

t.setTimeout(200_000)

const dayMs = 86_400_000

t.test('of a year of nightly backups the newest of days, weeks and months stay', async (t) => {
  const last = Date.UTC(2026, 10, 22, 2, 13)
  const all = Array.from({ length: 365 }, (_, i) => {
    return { file: String(i), madeAt: last - i * dayMs, sizeBytes: 1, encrypted: false }
  })
  const left = (found: typeof all, keep: { daily: number; weekly: number; monthly: number }) => {
    const expired = new Set(expiredBackups(found, keep))
    return found.filter((one) => !expired.has(one))
  }
  const dates = (found: typeof all) =>
    found.map(({ madeAt }) => new Date(madeAt).toISOString().slice(0, 10))
  t.same(dates(left(all, { daily: 3, weekly: 3, monthly: 3 })), [
    '2026-11-22',
    '2026-11-21',
    '2026-11-20',
    // Sundays, then the last days of months.
    '2026-11-15',
    '2026-11-08',
    '2026-10-31',
    '2026-09-30',
  ])
  t.same(left(all, { daily: 1, weekly: 0, monthly: 0 }), all.slice(0, 1))
  // Day by day it comes to the same as all at once.
  const keep = { daily: 7, weekly: 4, monthly: 6 }
  let kept: typeof all = []
  for (const backup of [...all].reverse()) kept = left([backup, ...kept], keep)
  t.same(dates(kept), dates(left(all, keep)))
  const old = all.slice(300)
  t.ok(left(old, keep).includes(old[0] as (typeof all)[0]), 'time alone removes none')
})

t.test('a name tells the time, and no other name is taken for a backup', async (t) => {
  const at = Date.UTC(2026, 10, 22, 2, 13, 7, 45)
  for (const compress of [true, false]) {
    for (const encrypted of [true, false]) {
      t.equal(timeInName(fileNameOf(at, { compress, encrypted })), at)
    }
  }
  const name = 'posthorn-20261122T021307045Z.tar'
  for (const other of [`${name}.partial`, `${name}.bz2`, `my-${name}`, 'posthorn.db', '..']) {
    t.equal(timeInName(other), undefined, other)
  }
})

/** A program of that name that notes what it was given, and where to find it. */
function standIn(t: Test, name: string, script = '') {
  const bin = join(makeTempDir(t), 'bin')
  mkdirSync(bin)
  const told = join(bin, 'told')
  const program = join(bin, name)
  writeFileSync(
    program,
    `#!/bin/sh\nfor word; do printf '%s\\n' "$word"; done > ${told}\n${script}\n`,
  )
  chmodSync(program, 0o755)
  return {
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    told: () => readFileSync(told, 'utf8'),
  }
}

const hookOf = (env: NodeJS.ProcessEnv, timeoutMs = 60_000) => ({
  clock: systemClock,
  timeoutMs,
  env,
  signal: new AbortController().signal,
})

t.test('rclone, restic and scp get the path of the backup as it is', async (t) => {
  const file = '/backups/it\'s $(touch /tmp/evil); a`b` & "c".tar'
  for (const [command, expected] of [
    [
      ['rclone', 'copy', '{file}', 'far:posthorn'],
      ['copy', file, 'far:posthorn'],
    ],
    [
      ['restic', '--repo', '/mnt/restic', 'backup', '{file}'],
      ['--repo', '/mnt/restic', 'backup', file],
    ],
    [
      ['scp', '-B', '{file}', 'u@far.example:p/'],
      ['-B', file, 'u@far.example:p/'],
    ],
    [
      ['curl', '--upload-file'],
      ['--upload-file', file],
    ],
  ] as const) {
    const { env, told } = standIn(t, command[0])
    await runHook(command, file, hookOf(env))
    t.same(told().trimEnd().split('\n'), expected)
  }
})

t.test('a command that fails, hangs or is not there is told with what it said', async (t) => {
  const failing = standIn(t, 'rclone', 'echo first >&2; echo quota exceeded >&2; exit 3')
  await t.rejects(runHook(['rclone'], '/b', hookOf(failing.env)), {
    message:
      /^The backup \/b was made, but .+\(rclone\) ended with status 3: first\nquota exceeded$/,
  })
  const onStdout = standIn(t, 'rclone', 'echo no such bucket; exit 4')
  await t.rejects(runHook(['rclone'], '/b', hookOf(onStdout.env)), {
    message: /ended with status 4: no such bucket$/,
  })
  const chatty = standIn(
    t,
    'rclone',
    'i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1',
  )
  const error = await runHook(['rclone'], '/b', hookOf(chatty.env)).catch((error) => error)
  t.ok(error.message.length < 1_200, 'the end of it')
  t.match(error.message, /line 1999$/)
  const pid = join(makeTempDir(t), 'pid')
  const hanging = standIn(t, 'rclone', `sleep 600 & echo $! > ${pid}; wait`)
  const took = runHook(['rclone'], '/b', hookOf(hanging.env, 500))
  await t.rejects(took, { message: /took longer than 0\.5 s/ })
  // What it has started is gone as well; a zombie is nobody.
  const state = existsSync(pid)
    ? spawnSync('ps', ['-o', 'stat=', '-p', readFileSync(pid, 'utf8').trim()], { encoding: 'utf8' })
    : undefined
  t.match(state?.stdout ?? '', /^(Z.*\s*)?$/)
  await t.rejects(runHook(['no-such-program'], '/b', hookOf(process.env)), {
    message: /cannot be started: .+ENOENT/,
  })
  const secret = standIn(t, 'env-of', 'test -z "$POSTHORN_BACKUP_PASSPHRASE"')
  const env = { ...secret.env, POSTHORN_BACKUP_PASSPHRASE: 'six random words here' }
  await runHook(['env-of'], '/b', hookOf(env))
})

t.test('what a command leaves in a session of its own keeps no job waiting', async (t) => {
  const pid = join(makeTempDir(t), 'pid')
  const leaves = `setsid sh -c 'echo $$ > ${pid}; exec sleep 600' & while [ ! -s ${pid} ]; do :; done`
  t.teardown(() => process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL'))
  // Both wait for ever where its stderr is waited for.
  await runHook(['daemon'], '/b', hookOf(standIn(t, 'daemon', leaves).env))
  process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL')
  rmSync(pid)
  const hanging = standIn(t, 'daemon', `${leaves}; sleep 600`)
  await t.rejects(runHook(['daemon'], '/b', hookOf(hanging.env, 3_000)), { message: /took longer/ })
})

t.test(
  'the jobs make, check, tell and remove; metrics and the doctor see it',
  aboutSqlite,
  async (t) => {
    const folder = makeTempDir(t)
    const [dataDir, dir] = [join(folder, 'data'), join(folder, 'backups')]
    initSandbox(dataDir)
    const words = join(folder, 'words')
    writeFileSync(words, 'six random words in a row\n')
    const taken = join(folder, 'taken')
    const deps = (env: Record<string, string>): ScheduledDeps => ({
      dataDir,
      clock: systemClock,
      signal: new AbortController().signal,
      config: loadConfig({ env }),
    })
    const off = deps({})
    const notSetUp = { summary: /backup\.dir is not set/, notSetUp: true }
    t.match(await scheduledBackup(off), notSetUp)
    t.match(await scheduledCheck(off), notSetUp)
    const doctor = async ({ config, clock }: { config: unknown; clock: unknown }) =>
      await checkBackups({ config, clock } as DoctorDeps)
    t.match(await doctor(off), [{ state: 'warn', found: 'no backups are made' }])

    const on = deps({
      POSTHORN_BACKUP_DIR: dir,
      POSTHORN_BACKUP_PASSPHRASE_FILE: words,
      POSTHORN_BACKUP_KEEP_DAILY: '1',
      POSTHORN_BACKUP_KEEP_WEEKLY: '0',
      POSTHORN_BACKUP_KEEP_MONTHLY: '0',
      POSTHORN_BACKUP_HOOK: `cp,{file},${taken}`,
    })
    await t.rejects(scheduledCheck(on), { message: /There is no backup in/ })
    t.match(await doctor(on), [{ state: 'fail', found: 'there is no backup yet' }])
    const metrics = openMetrics({ enabled: true, dataDir, clock: systemClock, backupDir: dir })
    t.match((await metrics.expose?.())?.text, /^posthorn_backup_newest_timestamp_seconds 0$/m)

    mkdirSync(dir, { recursive: true })
    const old = join(dir, 'posthorn-20200101T000000000Z.tar')
    writeFileSync(old, '')
    writeFileSync(join(dir, 'posthorn-notes.txt'), 'not ours to remove')
    const made = await scheduledBackup(on)
    t.match(made, { summary: /was made and checked, and the command/, figures: { removed: 1 } })
    // Of a clock that was wrong: it is not the newest, and outlives no younger one.
    const future = join(dir, 'posthorn-20990101T000000000Z.tar')
    writeFileSync(future, '')
    await scheduledBackup(on)
    t.match(await scheduledCheck(on), { summary: /is sound/ })
    t.match(await doctor(on), [{ state: 'ok', found: 'the newest is 0 hours old' }])
    t.notMatch((await metrics.expose?.())?.text, /^posthorn_backup_newest_bytes 0$/m)
    rmSync(future)
    chmodSync(dir, 0o777)
    const openTo = { problems: [/^Of backup\.dir: anybody .+ replace .+'chmod o-w \S+'$/] }
    t.match(await scheduledBackup(on), openTo)
    t.match(await doctor(on), [{ state: 'warn', fix: `chmod o-w ${dir}` }, { state: 'ok' }])
    chmodSync(dir, 0o700)
    t.notOk((await scheduledBackup(on)).problems)
    const names = readdirSync(dir).filter((name) => !name.startsWith('.'))
    t.match(names, [/^posthorn-20\d+T\d+Z\.tar\.gz\.enc$/, 'posthorn-notes.txt'])
    const file = join(dir, names[0] ?? '')
    t.ok(readFileSync(taken).equals(readFileSync(file)))
    t.equal(statSync(file).mode & 0o777, 0o600)
    t.match(await scheduledCheck(on), { summary: /is sound: it was unpacked, and its \d+ rows/ })
    t.match(await doctor(on), [{ state: 'ok', found: 'the newest is 0 hours old' }])
    const exposed = (await metrics.expose?.())?.text ?? ''
    t.match(exposed, new RegExp(`^posthorn_backup_newest_bytes ${statSync(file).size}$`, 'm'))

    const clock = new FakeClock(systemClock.now() + 40 * 3_600_000)
    await t.rejects(scheduledCheck({ ...on, clock }), { message: /is sound, but 40 hours old/ })
    t.match(await doctor({ ...on, clock }), [
      { state: 'fail', found: 'the newest is 40 hours old' },
    ])
    const bytes = readFileSync(file)
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    writeFileSync(file, bytes)
    await t.rejects(scheduledCheck(on), {
      message: /^\S+\.tar\S*: .*(backup is damaged|was changed)/,
    })
    writeFileSync(words, 'six other words in a row\n')
    await t.rejects(scheduledCheck(on), { message: /passphrase is wrong/ })
    const stopped = { ...on, signal: AbortSignal.abort() }
    await t.rejects(scheduledBackup(stopped))
    t.same(
      readdirSync(dirname(file)).filter((name) => /partial|check-|db$/.test(name)),
      [],
    )
  },
)
