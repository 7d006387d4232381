// Thorough: makes archives and packages, and installs them.
// A release, or a data directory, that somebody made who means harm.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { makeInstall } from '../support/release-tree.js'
import { makeTempDir } from '../support/store.js'

t.setTimeout(300_000)

t.test(
  'sums that say nothing of the file are refused, and nothing of it runs unasked',
  async (t) => {
    const { install, dir, refused } = machine(t)
    const ran = join(dir, 'ran')
    const file = packed(
      dir,
      makeRelease(dir, `touch ${ran}; echo '{"version":"0.1.0","schema":""}'`),
    )
    const sum = createHash('sha256').update(readFileSync(file)).digest('hex')

    writeFileSync(`${file}.sha256`, `${'b'.repeat(64)}\n`)
    await refused(t, [file], /tar\.sha256 says bbb/)
    for (const text of ['', `${sum}  other.tar\n`, `SHA256 (x.tar) = ${sum}\n`]) {
      writeFileSync(`${file}.sha256`, text)
      await refused(t, [file], /x\.tar\.sha256 has no SHA-256 of x\.tar/)
    }
    rmSync(`${file}.sha256`)
    for (const text of [`${sum}  other.tar\n`, `${sum}\n`]) {
      writeFileSync(join(dir, 'SHA256SUMS'), text)
      await refused(t, [file], /SHA256SUMS has no SHA-256 of x\.tar/)
    }
    rmSync(join(dir, 'SHA256SUMS'))
    await refused(t, [join(dir, 'posthorn-0.1.0'), '--sha256', '0'.repeat(64)], /is a folder/)

    const dry = await install.upgrade([file, '--dry-run'])
    t.match(dry, {
      status: 0,
      stdout: /It would run 0\.1\.0\+x[\s\S]*not checked against anything/,
    })
    t.notMatch(dry.stderr, /not checked/, 'once')
    const asked = await install.upgrade([file])
    t.match(asked, { status: 1, stderr: /This would run 0\.1\.0\+x of .*Nothing was changed/s })
    t.notOk(existsSync(ran))
    t.notOk(readdirSync(install.prefix).includes('0.1.0+x'))

    writeFileSync(`${file}.sha256`, `${sum.toUpperCase()}\n`)
    const compared = await install.upgrade([file, '--dry-run'])
    t.match(compared, { status: 0, stdout: /It would install 0\.1\.0\+x/ })
    t.notMatch(compared.stderr, /not checked/)
    rmSync(`${file}.sha256`)
    const installed = await install.upgrade([file, '--yes'])
    t.match(installed, { status: 0, stderr: /warning: .*x\.tar was not checked against anything/ })
  },
)

t.test('modes and links of a tarball are not taken over', async (t) => {
  const { install, dir, refused } = machine(t)
  const tree = makeRelease(dir, `echo '{"version":"0.1.0","schema":""}'`)
  chmodSync(join(tree, 'bin/posthorn'), 0o4755)
  chmodSync(join(tree, 'release.json'), 0o666)
  chmodSync(join(tree, 'bin'), 0o777)
  const modes = () =>
    ['.', 'bin', 'bin/posthorn', 'release.json', 'SHA256SUMS'].map((name) => {
      const { mode, uid } = statSync(join(install.prefix, '0.1.0+x', name))
      return [(mode & 0o7777).toString(8), uid]
    })
  const uid = process.getuid?.()
  const wanted = ['755', '755', '755', '644', '644'].map((mode) => [mode, uid])
  const file = packed(dir, tree)
  t.match(await install.upgrade([file, '--yes']), { status: 0 })
  t.same(modes(), wanted)
  for (const name of readdirSync(install.prefix)) {
    rmSync(join(install.prefix, name), { recursive: true })
  }
  if (uid === 0) chownSync(join(tree, 'bin/posthorn'), 65_534, 65_534)
  t.match(await install.upgrade([tree, '--yes']), { status: 0 })
  t.same(modes(), wanted, 'of a folder neither')
  t.equal(statSync(join(tree, 'release.json')).mode & 0o777, 0o666, 'which stays as it is')
  for (const name of readdirSync(install.prefix)) {
    rmSync(join(install.prefix, name), { recursive: true })
  }

  const link = join(dir, 'link')
  symlinkSync(tree, link)
  await refused(t, [packed(dir, link)], /its link is not a folder/)
  const deb = join(dir, 'deb')
  mkdirSync(join(deb, 'DEBIAN'), { recursive: true })
  mkdirSync(join(deb, 'usr/lib/posthorn'), { recursive: true })
  symlinkSync(tree, join(deb, 'usr/lib/posthorn/package'))
  writeFileSync(
    join(deb, 'DEBIAN/control'),
    'Package: posthorn\nVersion: 0.1.0\nArchitecture: all\nMaintainer: x <x@example.test>\nDescription: x\n',
  )
  execFileSync('dpkg-deb', ['--build', '-Znone', deb, `${deb}.deb`])
  // A package that dpkg has not unpacked: on a machine where it knows posthorn, only --dry-run comes here.
  const looked = await install.upgrade([`${deb}.deb`, '--dry-run'])
  t.match(looked, { status: 1, stderr: /package is not a folder/ })
  t.notOk(readdirSync(install.prefix).includes('0.1.0+x'))
})

t.test("a package's files have the modes of a release, whatever the umask was", async (t) => {
  const dir = makeTempDir(t)
  const tree = makeRelease(dir, 'exit')
  for (const name of ['LICENSE', 'systemd/posthorn.service', 'share/man/man1/posthorn.1']) {
    mkdirSync(dirname(join(tree, name)), { recursive: true })
    writeFileSync(join(tree, name), 'x')
  }
  chmodSync(join(tree, 'LICENSE'), 0o600)
  chmodSync(join(tree, 'release.json'), 0o666)
  chmodSync(join(tree, 'bin/posthorn'), 0o700)
  const archive = await import(pathToFileURL(resolve('bin/pack/archive.js')).href)
  const file = join(dir, 'x.deb')
  const release = { name: '0.1.0+x', arch: 'x64', glibc: '2.28', node: '20.20.2' }
  archive.makeDeb({
    tree,
    release,
    file,
    top: resolve('.'),
    work: join(dir, 'work'),
    epoch: 1,
    level: 0,
  })
  const listed = execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' })
  const modes = new Set(
    listed
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(0, 10)),
  )
  t.same([...modes].sort(), ['-rw-r--r--', '-rwxr-xr-x', 'drwxr-xr-x', 'lrwxrwxrwx'])
})

t.test('a pipe or a link in the place of the hold stops nobody', async (t) => {
  const dir = makeTempDir(t)
  const file = join(dir, 'upgrade.hold')
  const entry = new URL('../../src/release/hold.js', import.meta.url).href
  // In a process of its own, which can be ended where it waits for the pipe's other end.
  const held = (code: string) =>
    spawnSync(
      process.execPath,
      ['--input-type=module', '-e', `import * as it from '${entry}'; ${code}`, dir],
      { encoding: 'utf8', timeout: 60_000 },
    )
  const read = () => held('console.log(it.heldRelease(process.argv[1]))')
  t.match(read(), { status: 0, stdout: 'undefined\n' })
  execFileSync('mkfifo', [file])
  t.match(read(), { status: 1, stderr: /upgrade\.hold was not written by 'posthorn upgrade'/ })
  rmSync(file)
  writeFileSync(join(dir, 'elsewhere'), '0.1.0\n')
  symlinkSync('elsewhere', file)
  t.match(read(), { status: 1, stderr: /upgrade\.hold was not written/ })
  execFileSync('mkfifo', [`${file}.partial`])
  t.match(held("it.hold(process.argv[1], '0.2.0+x')"), { status: 0 })
  t.match(read(), { status: 0, stdout: '0.2.0+x\n' })
})

/** Where nothing is installed and no data is. */
function machine(t: Test) {
  const dir = makeTempDir(t)
  const dataDir = join(dir, 'data')
  mkdirSync(dataDir)
  const install = makeInstall(t, dir, dataDir)
  return {
    install,
    dir,
    dataDir,
    async refused(t: Test, args: readonly string[], message: RegExp) {
      t.match(await install.upgrade([...args, '--yes']), { status: 1, stderr: message })
    },
  }
}

/** The smallest tree that is a release: its command is a shell script. */
function makeRelease(dir: string, script: string): string {
  const tree = join(dir, 'posthorn-0.1.0')
  mkdirSync(join(tree, 'bin'), { recursive: true })
  writeFileSync(join(tree, 'bin/posthorn'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const release = { name: '0.1.0+x', version: '0.1.0', arch: process.arch }
  writeFileSync(join(tree, 'release.json'), JSON.stringify(release))
  const sums = execFileSync('sha256sum', ['bin/posthorn', 'release.json'], { cwd: tree })
  writeFileSync(join(tree, 'SHA256SUMS'), sums)
  return tree
}

/** As a tarball, with its modes. */
function packed(dir: string, tree: string): string {
  const file = join(dir, 'x.tar')
  execFileSync('tar', ['-cf', file, '-C', dir, tree.slice(dir.length + 1)])
  return file
}
