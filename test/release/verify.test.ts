// Thorough, turn 3: makes archives and packages, and installs them.
// What is refused before anything is changed, and what is installed where nothing runs.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { lockDataDir } from '../../src/app/lock.js'
import { compareVersions } from '../../src/release/verify.js'
import { databaseFile, tryLockFile } from '../../src/store/index.js'
import { initSandbox } from '../support/process.js'
import { makeInstall, makeTree } from '../support/release-tree.js'
import { makeTempDir } from '../support/store.js'

t.setTimeout(600_000)

const trees = makeTempDir(t)
const first = makeTree(trees, { version: '0.1.0' })

t.test(
  'a release that is damaged or not for this machine is refused, and leaves nothing',
  async (t) => {
    const { install, dir, refused } = stopped(t)
    const copy = (name: string, change: (tree: string) => void) => {
      const tree = join(dir, name)
      cpSync(first, tree, { recursive: true })
      change(tree)
      return tree
    }
    const main = 'dist/src/cli/main.js'
    const cases: [string, RegExp][] = [
      [
        copy('changed', (tree) => appendFileSync(join(tree, main), ' ')),
        /damaged \(changed: dist\/src\/cli\/main\.js\)/,
      ],
      [
        copy('cut', (tree) => truncateSync(join(tree, 'bin/posthorn'), 9)),
        /damaged \(changed: bin\/posthorn\)/,
      ],
      [
        copy('foreign', (tree) => writeFileSync(join(tree, 'bin/x'), 'x')),
        /damaged \(foreign: bin\/x\)/,
      ],
      [
        copy('linked', (tree) => symlinkSync('/etc/passwd', join(tree, 'bin/x'))),
        /neither a file nor a folder/,
      ],
      [
        copy('named', (tree) =>
          writeFileSync(join(tree, 'release.json'), '{"name":"../x","version":"1","arch":"x64"}'),
        ),
        /does not say which release/,
      ],
      [makeTree(dir, { version: '0.3.0', arch: 'mips' }), /is made for mips, and this machine is/],
      [
        makeTree(dir, { version: '0.4.0', glibc: '99.1' }),
        /needs the C library glibc 99\.1 or later/,
      ],
      [dir, /is not a release of Posthorn/],
      [join(dir, 'nowhere.tar.xz'), /There is no /],
    ]
    for (const [source, message] of cases) await refused(t, [source], message)
    const broken = makeTree(dir, {
      version: '0.5.0',
      broken: { 'store/migrate.js': (text) => `throw new Error('no addon')\n${text}` },
    })
    await refused(
      t,
      [broken],
      /0\.5\.0\+test\/bin\/posthorn version --json ended with 1: .*no addon/s,
    )
    const strict = makeTree(dir, {
      version: '0.6.0',
      broken: {
        'cli/config.js': () =>
          "export function configCommands() { throw new Error('Not with these settings') }\n",
      },
    })
    await refused(t, [strict], /config check .*Not with these settings/s)
    const db = new Database(databaseFile(install.dataDir))
    db.exec("delete from kysely_migration where name <> '0101-baseline'")
    db.exec("update kysely_migration set name = '0100-account-languages'")
    db.close()
    await refused(t, [first], /was made by Posthorn before its first release/)
    t.same(readdirSync(install.prefix), ['upgrade.lock'])
  },
)

t.test('a .tar.xz and a .deb are compared with their SHA-256 and installed', async (t) => {
  const { install, dir, refused, upgraded } = stopped(t)
  const file = join(dir, 'posthorn-0.1.0-linux-x64.tar.xz')
  execFileSync('tar', ['-cJf', file, '-C', trees, basename(first)], {
    env: { ...process.env, XZ_OPT: '-0' },
  })
  const sum = execFileSync('sha256sum', [file], { encoding: 'utf8' }).slice(0, 64)
  await refused(
    t,
    [file, '--sha256', 'a'.repeat(64)],
    /its SHA-256 is [0-9a-f]{64}, and --sha256 says aaa/,
  )
  writeFileSync(`${file}.sha256`, `${'b'.repeat(64)}  ${basename(file)}\n`)
  await refused(t, [file], /tar\.xz\.sha256 says bbb/)
  writeFileSync(`${file}.sha256`, `${sum}  ${basename(file)}\n`)

  const dry = await install.upgrade([file, '--dry-run', '--json'])
  t.match(
    [dry.status, JSON.parse(dry.stdout)],
    [0, { dryRun: true, to: '0.1.0+test', from: null }],
    dry.stderr,
  )
  t.same(readdirSync(install.prefix), ['upgrade.lock'], 'nothing of it stays')
  const asked = await install.upgrade([file])
  t.equal(asked.status, 1)
  t.match(asked.stderr, /This would install 0\.1\.0\+test/)
  t.match(await upgraded(t, [file]), { result: 'installed', from: null, to: '0.1.0+test' })
  t.match(await upgraded(t, [file]), { result: 'in use', release: '0.1.0+test' })
  t.match(JSON.parse((await install.upgrade(['--json'])).stdout), {
    current: '0.1.0+test',
    previous: null,
    releases: ['0.1.0+test'],
  })

  truncateSync(file, 100_000)
  rmSync(`${file}.sha256`)
  await refused(t, [file], /cannot be unpacked/)

  const next = makeTree(dir, { version: '0.2.0', migrations: 1 })
  const packed = join(dir, 'deb/usr/lib/posthorn/package')
  cpSync(next, packed, { recursive: true })
  mkdirSync(join(dir, 'deb/DEBIAN'))
  const control =
    'Package: posthorn\nVersion: 0.2.0\nArchitecture: all\nMaintainer: x <x@example.test>\nDescription: x\n'
  writeFileSync(join(dir, 'deb/DEBIAN/control'), control)
  const deb = join(dir, 'posthorn_0.2.0_amd64.deb')
  execFileSync('dpkg-deb', ['--build', '-Znone', join(dir, 'deb'), deb])
  const { backup, ...rest } = await upgraded(t, [deb])
  t.same(rest, { result: 'installed', from: '0.1.0+test', to: '0.2.0+test' })
  t.match(backup, /\/backups\/posthorn-/, 'its next start changes the database')
  t.equal(readlinkSync(join(install.prefix, 'current')), '0.2.0+test')
  t.equal(readlinkSync(join(install.prefix, 'previous')), '0.1.0+test')
})

t.test('a folder is linked, so that its package may replace it', async (t) => {
  const { install, dir, upgraded } = stopped(t)
  const package_ = join(dir, 'package')
  cpSync(first, package_, { recursive: true })
  await upgraded(t, [package_])
  execFileSync('rm', ['-r', package_])
  t.match(readFileSync(join(install.prefix, 'current/release.json'), 'utf8'), '0.1.0+test')
  t.match((await install.run(['version'], { release: 'current' })).stdout, /^posthorn 0\.1\.0 /)
})

t.test(
  'an older release is taken back where it reads the database, and refused where not',
  async (t) => {
    const { install, dir, refused, upgraded } = stopped(t)
    await upgraded(t, [first])
    await upgraded(t, [makeTree(dir, { version: '0.2.0' })])
    t.match(await upgraded(t, ['--back']), { from: '0.2.0+test', to: '0.1.0+test' })
    t.match(await upgraded(t, ['--back']), { from: '0.1.0+test', to: '0.2.0+test' })
    await upgraded(t, [makeTree(dir, { version: '0.3.0', migrations: 2 })])
    const there = ['0.2.0+test', '0.3.0+test', 'current', 'previous', 'upgrade.lock']
    t.same(readdirSync(install.prefix).sort(), there)
    const list = () =>
      install.run(['account', 'list', '--data', install.dataDir], { release: 'current' })
    const older = /is of version 0\.1\.0 \(schema 0\d+-[a-z-]+\), which is older/
    const listed = await list()
    t.match([listed.status, listed.stderr], [1, older], 'a command changes no database')
    t.match(listed.stderr, /No appliance runs on it: start the appliance/)
    const stop = lockDataDir(install.dataDir)
    t.match((await list()).stderr, /which does not tell its version: restart it/)
    stop()
    const init = await install.run(['init', '--data', install.dataDir], { release: 'current' })
    t.equal(init.status, 0, init.stderr)
    await refused(
      t,
      ['--back'],
      /0\.2\.0\+test is older than 0\.3\.0\+test, and cannot read the database .*0\.3\.0 has written 9002-tomorrow.*restore the backup/,
    )
    t.match((await install.run(['version'], { release: 'current' })).stdout, /^posthorn 0\.3\.0 /)
  },
)

t.test(
  'one upgrade at a time, and none beside an appliance that the manager does not know',
  async (t) => {
    const { install, dataDir, refused, upgraded } = stopped(t)
    await upgraded(t, [first])
    const unlock = tryLockFile(join(dataDir, 'upgrade.lock'))
    await refused(t, [first], /Another 'posthorn upgrade' of .* is under way/)
    unlock?.()
    const unlockPrefix = tryLockFile(join(install.prefix, 'upgrade.lock'))
    rmSync(join(dataDir, 'upgrade.lock'))
    await refused(t, [first], /Another 'posthorn upgrade' of .*lib is under way/)
    t.equal((await install.upgrade([])).status, 0, 'to look is no upgrade')
    unlockPrefix?.()
    t.equal(statSync(join(install.prefix, 'upgrade.lock')).mode & 0o777, 0o600)
    const served = tryLockFile(join(dataDir, 'posthorn.lock'))
    await refused(
      t,
      [makeTree(makeTempDir(t), { version: '0.2.0' })],
      /the service manager does not know/,
    )
    served?.()
  },
)

const mayMount = process.getuid?.() === 0 ? false : 'mounting a small file system needs root'
t.test('without room nothing is changed', { skip: mayMount }, async (t) => {
  const { install, dir, refused } = stopped(t)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', install.prefix])
  t.equal(mounted.status, 0, String(mounted.stderr))
  t.teardown(() => spawnSync('umount', ['-l', install.prefix]))
  const file = join(dir, 'x.tar.xz')
  execFileSync('tar', ['-cJf', file, '-C', trees, basename(first)], {
    env: { ...process.env, XZ_OPT: '-0' },
  })
  await refused(
    t,
    [file],
    /The disk of .* has \d+ MiB left, and \d+ are wanted to unpack the release/,
  )
  t.same(readdirSync(install.prefix), ['upgrade.lock'])
})

t.test('versions are compared by their numbers, and a pre-release comes first', async (t) => {
  const sorted = ['0.9.0', '0.10.0-rc.1', '0.10.0', '0.10.1', '1.0.0']
  t.same([...sorted].reverse().sort(compareVersions), sorted)
})

/** An initialised data directory on which nothing runs. */
function stopped(t: Test) {
  const dir = makeTempDir(t)
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir)
  initSandbox(dataDir)
  const install = makeInstall(t, dir, dataDir)
  return {
    install,
    dir,
    dataDir,
    async refused(t: Test, args: readonly string[], message: RegExp) {
      const { status, stderr } = await install.upgrade([...args, '--yes'])
      t.match([status, stderr], [1, message])
    },
    async upgraded(t: Test, args: readonly string[]) {
      const { status, stdout, stderr } = await install.upgrade([...args, '--yes', '--json'])
      t.equal(status, 0, stderr)
      return JSON.parse(stdout) as Record<string, unknown>
    },
  }
}
