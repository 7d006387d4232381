// Thorough, turn 5: makes a release, twice.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'
import { buildRelease } from '../support/release.js'
import { missing } from '../support/tools.js'

/*
 * What somebody has who takes a release's tarball and unpacks it. Its Debian package: debian.test.ts.
 */
const skip = missing('dpkg-deb', 'xz')
const freePorts = {
  POSTHORN_HTTP_PRIVATE_PORT: '0',
  POSTHORN_HTTP_PUBLIC_PORT: '0',
  POSTHORN_SANDBOX_SMTP_PORT: '0',
  POSTHORN_INBOUND_PORT: '0',
}

// Two whole releases are made: a minute, on a machine with nothing else to do.
t.setTimeout(900_000)

t.test('a release, unpacked', { skip }, async (t) => {
  const folder = t.testdir()
  const built = buildRelease(join(folder, 'first'))
  const home = join(folder, 'unpacked')
  mkdirSync(home)
  execFileSync('tar', ['-xf', built.tarball, '-C', home])
  const [name = ''] = readdirSync(home)
  const release = join(home, name)
  /** Nothing of this machine is in its environment, and no program on its PATH. */
  const posthorn = (...args: string[]) =>
    execFileSync(join(release, 'bin/posthorn'), args, {
      cwd: home,
      encoding: 'utf8',
      env: { PATH: '/nonexistent', ...freePorts },
    })

  await t.test('it sends a mail through the whole path, with its own Node alone', async (t) => {
    const said = posthorn('quickstart', '--once', '--data', 'data')
    t.match(said, /pass\s+DKIM by example\.test, rsa-sha256/)
    t.match(said, /pass\s+DKIM by example\.test, ed25519-sha256/)
    t.match(said, 'Delivered, signed and verified.')
  })

  await t.test('its command is found through a link, as in /usr/bin', async (t) => {
    execFileSync('ln', ['-s', join(release, 'bin/posthorn'), join(home, 'posthorn')])
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    const said = execFileSync(join(home, 'posthorn'), ['version'], { encoding: 'utf8', env: {} })
    t.match(said, `posthorn ${version}`)
  })

  await t.test('SHA256SUMS names every file, and each is what it says', async (t) => {
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: release })
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8')
    const named = sums
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(66))
    t.same(
      named,
      filesIn(release).filter((file) => file !== 'SHA256SUMS'),
    )
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: built.out })
  })

  await t.test('its Node is the file that its project published', async (t) => {
    const { runtime, arch } = JSON.parse(readFileSync(join(release, 'release.json'), 'utf8'))
    const pairs = JSON.parse(readFileSync('.runtimes/runtimes.json', 'utf8'))
    t.equal(sha256(join(release, 'runtime/node')), pairs[runtime].sha256[arch]['runtime/node'])
  })

  await t.test('it has what belongs to an installation, and nothing that reports it', async (t) => {
    const files = filesIn(release)
    for (const file of [
      'LICENSE',
      'LICENSES',
      'config/posthorn.example.toml',
      'dist/client/posthorn-client.tgz',
      'dist/clients/posthorn.py',
      'share/bash-completion/completions/posthorn',
      'share/fish/vendor_completions.d/posthorn.fish',
      'share/man/man1/posthorn.1',
      'share/zsh/vendor-completions/_posthorn',
      'systemd/Containerfile',
      'systemd/posthorn.service',
    ]) {
      t.ok(files.includes(file), file)
    }
    t.same(
      files.filter((file) => /scarf|dkim-key|^dist\/src|\.map$/.test(file)),
      [],
    )
    t.equal(files.filter((file) => file.endsWith('.node')).length, 2, 'two native parts')
    // Those who unpack it as root give it to all users of the machine.
    const writable = files.filter((file) => (statSync(join(release, file)).mode & 0o022) !== 0)
    t.same(writable, [])
  })

  await t.test('the same commit gives the same bytes', async (t) => {
    const second = buildRelease(join(folder, 'second'))
    t.equal(sha256(second.tarball), sha256(built.tarball))
    t.equal(sha256(second.deb), sha256(built.deb))
  })
})

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
}

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')
