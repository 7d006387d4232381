// The second half of bin/release: everything is installed and built.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { debName, makeDeb, makeTarball } from './archive.js'
import { options } from './options.js'
import { partsOf } from './parts.js'
import { makeTree, sumsOf } from './tree.js'

const top = fileURLToPath(new URL('../..', import.meta.url))

/** The pair for systems of today: its tarball has the plain name. */
const usual = 'node24'

try {
  const source = sourceOf()
  const out = resolve(options.out)
  mkdirSync(out, { recursive: true })
  const files = options.runtime.flatMap((runtime) => release(runtime, out, source))
  writeFileSync(join(out, 'SHA256SUMS'), sumsOf(files))
} catch (error) {
  console.error(`bin/release: ${error.message}`)
  process.exitCode = 1
}

/** Leaves `out/RUNTIME-ARCH/posthorn-VERSION/` and two files beside it, which are returned. */
function release(runtime, out, source) {
  const { arch, level } = options
  const parts = partsOf({ top, runtime, arch })
  const folder = join(out, `${runtime}-${arch}`)
  rmSync(folder, { recursive: true, force: true })
  const tree = join(folder, `posthorn-${source.version}`)
  const made = makeTree({ top, tree, parts, runtime, arch, source })
  const suffix = runtime === usual ? '' : `-${runtime}`
  const { epoch } = source
  const tarball = join(out, `posthorn-${made.version}-linux-${arch}${suffix}.tar.xz`)
  makeTarball({ tree, file: tarball, epoch, level })
  const deb = join(out, debName(made))
  makeDeb({ top, tree, release: made, file: deb, work: join(folder, 'deb'), epoch, level })
  for (const file of [tarball, deb]) {
    console.log(`${file}  ${(statSync(file).size / 1e6).toFixed(1)} MB`)
  }
  return [tarball, deb]
}

/** What is released: the version of package.json, the commit (with a + where files have changed), its time. */
function sourceOf() {
  const { version } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'))
  // A tree without history, such as GitHub's archives, has no commit to name.
  const commit = git('rev-parse', '--short=12', 'HEAD') || 'unknown'
  const changed = git('status', '--porcelain') === '' ? '' : '+'
  const epoch = Number(process.env.SOURCE_DATE_EPOCH || git('log', '-1', '--format=%ct') || 0)
  return { version, commit: commit + changed, epoch }
}

function git(...args) {
  const { stdout } = spawnSync('git', args, { cwd: top, encoding: 'utf8' })
  return stdout?.trim() ?? ''
}
