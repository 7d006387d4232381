// A release as a folder: it has the repository's layout, everything that the appliance needs to run, and
// nothing else.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { pairs } from '../../.runtimes/choice.js'
import { nativePackages } from './bundle.js'
import { licenceOf, licenceOfNode, licencesFile } from './licences.js'
import { sha256 } from './parts.js'

/** Of a package with a native part: its JavaScript, wherever each of the pairs' versions has it. */
const ofNativePackages = ['lib', 'uws.js', 'ESM_wrapper.mjs', 'src/uws.js', 'nodejs/mrml_wasm_bg.wasm']

/** What better-sqlite3 12 finds its native part with; 13 needs none of it. */
const finders = ['bindings', 'file-uri-to-path']

/** Not the same in every build; `sandbox --for-tests` makes what it does not find. */
const ofOneBuild = ['packed/dkim-key.json', 'packed/empty.db', 'packed/packages.json']

/** Makes the folder `tree` anew, of what was built in `top` and of the parts. Returns release.json's content. */
export function makeTree({ top, tree, parts, runtime, arch, source }) {
  const packageFile = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8'))
  rmSync(tree, { recursive: true, force: true })
  mkdirSync(join(tree, 'bin'), { recursive: true })
  copyOwnFiles(top, tree, packageFile.files)
  copyNativeParts({ tree, parts, runtime, arch })
  write(join(tree, 'bin/posthorn'), readFileSync(join(top, 'bin/pack/posthorn.sh')), 0o755)
  const { name, version, license, type } = packageFile
  writeJson(join(tree, 'package.json'), { name, version, license, type, private: true })
  const release = {
    name: `${version}+${runtime}`,
    version,
    commit: source.commit,
    runtime,
    node: pairs[runtime].node.version,
    arch,
    glibc: pairs[runtime].glibc,
  }
  writeJson(join(tree, 'release.json'), release)
  write(join(tree, 'LICENSES'), licences(top, tree, parts, release))
  writeManual(top, tree, source.epoch)
  writeSums(tree)
  return release
}

/** What package.json lists, but for what the bundle and the release's own command stand for. */
function copyOwnFiles(top, tree, files) {
  for (const path of files.filter((one) => one !== 'bin' && one !== 'dist/src' && one[0] !== '!')) {
    cpSync(join(top, path), join(tree, path), {
      recursive: true,
      filter: (file) => !ofOneBuild.includes(relative(join(top, 'dist'), file)) && !isSource(relative(top, file)),
    })
  }
}

/** Of a folder with views beside their pages' sources, the views alone go along. */
const isSource = (file) => /^src\/.*\.(ts|md)$/.test(file)

function copyNativeParts({ tree, parts, runtime, arch }) {
  const there = [...nativePackages, ...finders].filter((name) =>
    existsSync(join(parts.modules, 'node_modules', name)),
  )
  for (const name of there) {
    const from = join(parts.modules, 'node_modules', name)
    const { main } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
    for (const file of new Set(['package.json', main ?? 'index.js', ...ofNativePackages])) {
      if (existsSync(join(from, file))) {
        cpSync(join(from, file), join(tree, 'node_modules', name, file), { recursive: true })
      }
    }
  }
  for (const [path, hash] of Object.entries(pairs[runtime].sha256[arch])) {
    const from = path === 'runtime/node' ? join(parts.node, 'bin/node') : join(parts.modules, path)
    write(join(tree, path), readFileSync(from), path === 'runtime/node' ? 0o755 : 0o644)
    if (hash !== null && sha256(join(tree, path)) !== hash) throw new Error(`${path} has changed`)
    requireGlibc(join(tree, path), pairs[runtime].glibc)
  }
}

/** Refuses a binary that asks for a later C library than the pair promises to need. */
function requireGlibc(file, promised) {
  const symbols = readFileSync(file, 'latin1').matchAll(/GLIBC_(\d+)\.(\d+)/g)
  const [, most] = promised.split('.').map(Number)
  for (const [symbol, major, minor] of symbols) {
    if (Number(major) !== 2 || Number(minor) > most) {
      throw new Error(`${file} needs ${symbol}; .runtimes/runtimes.json says glibc ${promised}`)
    }
  }
}

function licences(top, tree, parts, { node }) {
  const bundled = JSON.parse(readFileSync(join(top, 'dist/packed/packages.json'), 'utf8'))
  const native = readdirSync(join(tree, 'node_modules')).map((name) =>
    join(parts.modules, 'node_modules', name),
  )
  const folders = [...bundled.map((one) => join(top, one)), ...native]
  return licencesFile([...folders.map(licenceOf), licenceOfNode(parts.node, node)])
}

/** Where Debian's man, bash, zsh and fish look for it below /usr/share. */
const manual = {
  'man/man1/posthorn.1': ['man-page'],
  'bash-completion/completions/posthorn': ['completions', 'bash'],
  'zsh/vendor-completions/_posthorn': ['completions', 'zsh'],
  'fish/vendor_completions.d/posthorn.fish': ['completions', 'fish'],
}

/** The manual page and the shells' completions, which the command itself writes. */
function writeManual(top, tree, epoch) {
  for (const [path, args] of Object.entries(manual)) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(top, 'dist/packed/cli/main.js'), ...args],
      { encoding: 'utf8', env: { SOURCE_DATE_EPOCH: String(epoch) } },
    )
    if (status !== 0) throw new Error(`posthorn ${args.join(' ')}: ${stderr}`)
    write(join(tree, 'share', path), stdout)
  }
}

/** SHA256SUMS, as `sha256sum --check` reads it: every file but itself. */
function writeSums(tree) {
  const files = readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(tree, join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
  write(join(tree, 'SHA256SUMS'), files.map((file) => `${sha256(join(tree, file))}  ${file}\n`).join(''))
}

/** `sha256sum` of artefacts beside each other, for those who download them. */
export function sumsOf(files) {
  return files.map((file) => `${sha256(file)}  ${basename(file)}\n`).join('')
}

function writeJson(file, content) {
  write(file, `${JSON.stringify(content, null, 2)}\n`)
}

function write(file, content, mode = 0o644) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  chmodSync(file, mode)
}
