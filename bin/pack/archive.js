// A release's folder as a file to hand out: tar.xz, and a package for Debian and its kin. The same folder
// gives the same bytes on every machine.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** Writes `file`; `level` is that of xz. All times are `epoch`, all owners root, names in order. */
export function makeTarball({ tree, file, epoch, level }) {
  const tar = [
    '--create', '--format=gnu', '--sort=name', `--mtime=@${epoch}`, '--mode=u=rwX,go=rX',
    '--owner=0', '--group=0', '--numeric-owner', `--directory=${dirname(tree)}`,
  ]
  // Blocks of one size, always by more than one thread: what is written does not depend on the processors.
  const xz = `xz -${level} --threads=2 --block-size=24MiB`
  run('tar', [...tar, `--use-compress-program=${xz}`, `--file=${file}`, tree.slice(dirname(tree).length + 1)])
}

const architectures = { x64: 'amd64', arm64: 'arm64' }

/** The file's name. A newer runtime is an upgrade: 0.1.0+node24 comes after 0.1.0+node20. */
export function debName({ name, arch }) {
  return `posthorn_${name}_${architectures[arch]}.deb`
}

/**
 * Writes the Debian package `file` of `tree`, which it carries in /usr/lib/posthorn/package; `work` is a
 * folder of its own.
 */
export function makeDeb({ top, tree, release, file, work, epoch, level }) {
  rmSync(work, { recursive: true, force: true })
  const put = (path, content, mode = 0o644) => {
    mkdirSync(dirname(join(work, path)), { recursive: true })
    writeFileSync(join(work, path), content)
    chmodSync(join(work, path), mode)
  }
  const source = (name) => readFileSync(join(top, 'bin/pack/debian', name), 'utf8')
  cpSync(tree, join(work, 'usr/lib/posthorn/package'), { recursive: true })
  mkdirSync(join(work, 'usr/bin'), { recursive: true })
  symlinkSync('../lib/posthorn/current/bin/posthorn', join(work, 'usr/bin/posthorn'))
  mkdirSync(join(work, 'etc/posthorn'), { recursive: true })
  put('usr/lib/systemd/system/posthorn.service', readFileSync(join(tree, 'systemd/posthorn.service')))
  cpSync(join(tree, 'share'), join(work, 'usr/share'), { recursive: true })
  const control = source('control')
  const maintainer = /^Maintainer: (.*)$/m.exec(control)?.[1]
  const page = join(work, 'usr/share/man/man1/posthorn.1')
  put('usr/share/man/man1/posthorn.1.gz', gzipSync(readFileSync(page), { level: 9 }))
  rmSync(page)
  put('usr/share/doc/posthorn/copyright', copyright(tree))
  put('usr/share/doc/posthorn/changelog.gz', gzipSync(changelog(release, maintainer, epoch), { level: 9 }))
  put('usr/share/lintian/overrides/posthorn', source('lintian-overrides'))
  const size = spawnSync('du', ['--summarize', '--apparent-size', '--block-size=1K', work], { encoding: 'utf8' })
  const values = {
    VERSION: release.name,
    ARCHITECTURE: architectures[release.arch],
    GLIBC: release.glibc,
    NODE: release.node,
    SIZE: Number.parseInt(size.stdout, 10),
  }
  put('DEBIAN/control', control.replace(/@([A-Z]+)@/g, (_, name) => values[name]))
  for (const script of ['postinst', 'prerm', 'postrm']) put(`DEBIAN/${script}`, source(script), 0o755)
  put('DEBIAN/md5sums', md5sums(work))
  for (const entry of readdirSync(work, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath ?? entry.path, entry.name)
    // Not those of the builder's umask.
    chmodSync(path, entry.isDirectory() || lstatSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
  chmodSync(work, 0o755)
  run('dpkg-deb', ['--root-owner-group', '-Zxz', `-z${level}`, '--threads-max=2', '--build', work, file], {
    SOURCE_DATE_EPOCH: String(epoch),
  })
  rmSync(work, { recursive: true })
}

function copyright(tree) {
  return [
    'Posthorn, self-hosted mail appliance.\n',
    readFileSync(join(tree, 'LICENSE'), 'utf8'),
    'It carries Node.js and packages of npm; /usr/lib/posthorn/package/LICENSES has their names,',
    'versions and licences.\n',
  ].join('\n')
}

/** In Debian's own form, which `apt changelog` and lintian read. */
function changelog({ name }, maintainer, epoch) {
  const date = new Date(epoch * 1_000).toUTCString().replace('GMT', '+0000')
  return [
    `posthorn (${name}) stable; urgency=medium\n`,
    '  * What has changed stands in /usr/lib/posthorn/package/CHANGELOG.md.\n',
    ` -- ${maintainer}  ${date}\n`,
  ].join('\n')
}

/** What `dpkg --verify` compares. */
function md5sums(work) {
  const script = "find . -type f ! -path './DEBIAN/*' -printf '%P\\0' | LC_ALL=C sort -z | xargs -0 md5sum"
  const { status, stdout } = spawnSync('sh', ['-c', script], { cwd: work, encoding: 'utf8' })
  if (status !== 0) throw new Error('md5sum failed')
  return stdout
}

function run(program, args, env = {}) {
  const { status, error } = spawnSync(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, LC_ALL: 'C', ...env },
  })
  if (error !== undefined) throw new Error(`${program} cannot be run: ${error.message}`)
  if (status !== 0) throw new Error(`${program} failed with status ${status}`)
}
