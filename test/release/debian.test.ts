// Thorough, turn 1: makes roots of Debian and installs in them.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { makeDebian, noDebian } from '../support/debian.js'
import { type BuiltRelease, buildRelease } from '../support/release.js'

/*
 * The Debian packages as an operator installs them: README's commands, in a small Debian without a network.
 * systemd does not run in a chroot, so the appliance is started by the command that `setup` names then.
 */
const skip = noDebian()

t.setTimeout(900_000)

const pairs = JSON.parse(readFileSync('.runtimes/runtimes.json', 'utf8'))

const folder = t.testdir()
const built = new Map<string, BuiltRelease>()

/** Built once, for all tests of this file. */
function packageOf(runtime: string): string {
  const release = built.get(runtime) ?? buildRelease(join(folder, runtime), runtime)
  built.set(runtime, release)
  return release.deb
}

/** The commands of README's section Install. */
const [aptInstall = '', trial = ''] =
  /\n## Install\n.*?\n```sh\n(.*?)```/s
    .exec(readFileSync('README.md', 'utf8'))?.[1]
    ?.split('\n')
    .map((line) => line.replace(/#.*/, '').trim()) ?? []

for (const [suite, runtime] of [
  ['bookworm', 'node20'],
  ['trixie', 'node24'],
] as const) {
  const compiled = Object.values(pairs[runtime].sha256[process.arch] ?? {}).includes(null)
  const cannot = compiled && !process.versions.node.startsWith('20.') && 'compiled by Node 20 alone'
  t.test(`README's commands install it on Debian ${suite}`, { skip: skip || cannot }, async (t) => {
    const deb = packageOf(runtime)
    const debian = makeDebian(t, suite)
    const name = aptInstall.replace('apt install ./', '').replace('node24', runtime)
    t.equal(name, basename(deb), 'README names the package as it is called')
    copyFileSync(deb, join(debian.folder, 'root', name))
    copyFileSync('test/release/first-mail.mjs', join(debian.folder, 'root/first-mail.mjs'))
    const node = '/usr/lib/posthorn/current/runtime/node'

    const said = await debian.run(`
      cd /root
      began=$(date +%s%3N)
      ${aptInstall.replace('node24', runtime)} --yes
      installed=$(date +%s%3N)
      ${trial} --json >setup.json
      ${node} first-mail.mjs setup.json
      echo "seconds: $(( (installed - began) / 1000 )) for apt, $(( ($(date +%s%3N) - began) / 1000 )) to the first signed mail"
    `)
    t.match(said, 'rsa-sha256 pass')
    t.match(said, 'ed25519-sha256 pass')
    t.comment(`Debian ${suite}, ${runtime}: ${/seconds: .*/.exec(said)?.[0]}`)

    const looks = await debian.run(`
      posthorn version
      dpkg --verify posthorn && echo verified
      stat -c '%U %a' /var/lib/posthorn
      test -s /usr/share/man/man1/posthorn.1.gz && test -s /usr/share/bash-completion/completions/posthorn
      setpriv --reuid nobody --clear-groups posthorn version --json
      ls /usr/lib/posthorn`)
    t.match(looks, /verified\nposthorn 700\n/)

    const removed = await debian.run(`
      apt-get remove --yes posthorn
      test ! -e /usr/lib/posthorn && test ! -e /usr/bin/posthorn
      test -s /var/lib/posthorn/appliance.key && test -e /etc/posthorn/posthorn.toml
      cd /root
      ${aptInstall.replace('node24', runtime)} --yes
      apt-get purge --yes posthorn 2>&1
      test ! -e /etc/posthorn && test -s /var/lib/posthorn/appliance.key`)
    t.match(removed, 'data of before. Next: systemctl enable --now posthorn')
    t.match(removed, '/var/lib/posthorn stays')
  })
}

t.test('apt says why a system is too old for a package', { skip }, async (t) => {
  const deb = packageOf('node24')
  const debian = makeDebian(t, 'bookworm')
  copyFileSync(deb, join(debian.folder, 'root/posthorn.deb'))
  await t.rejects(debian.run('apt-get install --yes /root/posthorn.deb'), {
    message: /Depends: libc6 \(>= 2\.38\)/,
  })
  t.notOk(existsSync(join(debian.folder, 'usr/lib/posthorn')))
})

t.test('the package has what Debian asks of one', { skip }, async (t) => {
  const deb = packageOf('node24')
  const control = execFileSync('dpkg-deb', ['--field', deb], { encoding: 'utf8' })
  t.match(control, /^Depends: libc6 \(>= 2\.38\), libstdc\+\+6 \(>= 11\), libgcc-s1, passwd$/m)
  t.match(control, /^Recommends: xz-utils$/m, '`posthorn upgrade` unpacks a .tar.xz by it')
  t.notMatch(control, /@[A-Z]+@|NaN|undefined/)
  const files = execFileSync('dpkg-deb', ['--contents', deb], { encoding: 'utf8' })
  for (const path of [
    './usr/bin/posthorn -> ../lib/posthorn/current/bin/posthorn',
    './usr/lib/systemd/system/posthorn.service',
    './usr/share/doc/posthorn/copyright',
    './usr/share/man/man1/posthorn.1.gz',
  ]) {
    t.ok(files.includes(path), path)
  }
  t.same(
    files.split('\n').filter((line) => line !== '' && !line.includes(' root/root ')),
    [],
  )
})
