import { type SpawnOptions, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { askAppliance } from '../../src/cli/ask.js'
import { cliEntry } from './process.js'

const compiled = fileURLToPath(new URL('../../src', import.meta.url))
const own = fileURLToPath(new URL('../../../', import.meta.url))
const root = existsSync(join(own, 'package.json')) ? own : process.cwd()

export interface TreeOptions {
  version: string
  /** How many migrations it has beyond those of the sources. */
  migrations?: number
  arch?: string
  glibc?: string
  /** Changed files, as in a faulty build, by their paths in `dist/src`. */
  broken?: Record<string, (text: string) => string>
}

/** A release tree like that of `bin/release`, but from the compiled sources, and with the test's Node. */
export function makeTree(dir: string, options: TreeOptions): string {
  const { version, migrations = 0, arch = process.arch, glibc, broken = {} } = options
  const tree = join(dir, `posthorn-${version}`)
  mkdirSync(join(tree, 'bin'), { recursive: true })
  // Without maps and types, which are half of it.
  const isCode = (name: string) => !/\.(map|d\.ts)$/.test(name)
  cpSync(compiled, join(tree, 'dist/src'), { recursive: true, filter: isCode })
  // The compiled modules, where bin/check has put stubs in their places.
  const unpacked = join(compiled, '../unpacked')
  if (existsSync(unpacked)) {
    const filter = (from: string, to: string) => !from.endsWith('.js') || isStub(to)
    cpSync(unpacked, join(tree, 'dist/src'), { recursive: true, filter })
  }
  const described = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const files: string[] = described.files
  const isSource = (name: string) => /^src\/.*\.(ts|md)$/.test(name)
  for (const name of files.filter((name) => !/^(bin$|dist\/|!)/.test(name))) {
    const filter = (file: string) => !isSource(relative(root, file))
    cpSync(join(root, name), join(tree, name), { recursive: true, filter })
  }
  writeFileSync(join(tree, 'package.json'), JSON.stringify({ ...described, version }))
  const release = { name: `${version}+test`, version, arch, ...(glibc && { glibc }) }
  writeFileSync(join(tree, 'release.json'), JSON.stringify(release))
  writeFileSync(
    join(tree, 'bin/posthorn'),
    `#!/bin/sh\nroot=$(dirname "$(dirname "$(readlink -f "$0")")")\nexec ${process.execPath} "$root/dist/src/cli/main.js" "$@"\n`,
  )
  chmodSync(join(tree, 'bin/posthorn'), 0o755)
  edit(join(tree, 'dist/src/store/migrate.js'), (text) => withMigrations(text, migrations))
  for (const [name, change] of Object.entries(broken)) edit(join(tree, 'dist/src', name), change)
  const entries = readdirSync(tree, { recursive: true, withFileTypes: true })
  const sums = entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const sum = createHash('sha256').update(readFileSync(path)).digest('hex')
      return `${sum}  ${path.slice(tree.length + 1)}\n`
    })
  writeFileSync(join(tree, 'SHA256SUMS'), sums.join(''))
  return tree
}

/** Whether the file is a stub for what bin/check has packed, and was not compiled since. */
const isStub = (file: string) =>
  /^import ((\$whole|entry) from )?'[./]+\/(packed|whole)\//.test(readFileSync(file, 'utf8'))

function edit(file: string, change: (text: string) => string): void {
  const text = change(readFileSync(file, 'utf8'))
  // Not changed in place, because other trees may share the file.
  rmSync(file)
  writeFileSync(file, text)
}

/** Each migration makes a table, and earlier releases cannot read such a database. */
function withMigrations(text: string, count: number): string {
  const added = Array.from({ length: count }, (_, i) => {
    const up = `db.schema.createTable('tomorrow_${i}').addColumn('id', 'integer').execute()`
    return `    '${9001 + i}-tomorrow': { up: async (db) => { await ${up} } },\n`
  })
  return text.replace(/(const migrations = \{[\s\S]*?\n)\};/, `$1${added.join('')}};`)
}

export interface Install {
  prefix: string
  dataDir: string
  /** Runs the `posthorn` of a release (default: of these sources) to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<Ran>
  /** `posthorn upgrade` with the paths of this installation. */
  upgrade(args: readonly string[], options?: RunOptions): Promise<Ran>
  manage(word: 'start' | 'stop'): Promise<void>
  /** The running appliance's API and release; undefined while none answers. */
  appliance(): Promise<{ release: string; api: string; version: string } | undefined>
  log(): string
}

interface RunOptions {
  /** The name of the release whose command is run. */
  release?: string
  env?: Record<string, string>
}

interface Ran {
  status: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/**
 * Where releases are installed for a test, over an initialised data directory, with a stand-in for systemd: `manager
 * start posthorn` and so on. The processes that it has started are killed at the end.
 */
export function makeInstall(
  t: { teardown(stop: () => unknown): void },
  dir: string,
  dataDir: string,
): Install {
  const prefix = join(dir, 'lib')
  mkdirSync(prefix)
  // The trees of a test have no packages of their own.
  symlinkSync(resolve(root, 'node_modules'), join(dir, 'node_modules'))
  const manager = join(dir, 'manager')
  writeFileSync(manager, managerText(prefix, dataDir, dir))
  chmodSync(manager, 0o755)
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(POSTHORN_|NODE_OPTIONS$|NODE_V8_COVERAGE$|_TAPJS_)/.test(name),
  )
  const env = { ...Object.fromEntries(inherited), ...freePorts }
  const run: Install['run'] = (args, { release, env: more } = {}) => {
    const [program, ...first] =
      release === undefined ? [process.execPath, cliEntry] : [join(prefix, release, 'bin/posthorn')]
    return runProgram(program ?? '', [...first, ...args], { env: { ...env, ...more } })
  }
  t.teardown(() => runProgram(manager, ['kill', 'posthorn'], { env }))
  return {
    prefix,
    dataDir,
    run,
    upgrade: (args, options) =>
      run(
        [
          'upgrade',
          '--prefix',
          prefix,
          '--data',
          dataDir,
          '--manager',
          manager,
          '--timeout',
          '90',
          ...args,
        ],
        options,
      ),
    async manage(word) {
      const { status, stderr } = await runProgram(manager, [word, 'posthorn'], { env })
      if (status !== 0) throw new Error(`manager ${word}: ${stderr}`)
    },
    async appliance() {
      const place = { dataDir, configFile: undefined, configNamed: false, json: false }
      const overview = (await askAppliance(place, { overview: true }))?.overview
      const api = overview?.listeners.find(({ name }) => name === 'API')?.at
      if (overview === undefined || api === undefined) return undefined
      return { release: overview.release, version: overview.version, api }
    },
    log: () => (existsSync(join(dir, 'log')) ? readFileSync(join(dir, 'log'), 'utf8') : ''),
  }
}

const freePorts = {
  POSTHORN_LOG_FORMAT: 'json',
  POSTHORN_HTTP_PRIVATE_PORT: '0',
  POSTHORN_HTTP_PUBLIC_PORT: '0',
  POSTHORN_SANDBOX_SMTP_PORT: '0',
  POSTHORN_INBOUND_HOST: '127.0.0.1',
  POSTHORN_INBOUND_PORT: '0',
}

function runProgram(program: string, args: readonly string[], options: SpawnOptions): Promise<Ran> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
    })
  }
  return new Promise((done, failed) => {
    child.once('error', failed)
    child.once('close', (status, signal) => done({ status, signal, ...said }))
  })
}

/** The manager ends before the process that it started, so a file keeps the process's number. */
const managerText = (prefix: string, dataDir: string, dir: string) => `#!${process.execPath}
const { spawn } = require('node:child_process')
const { openSync, readFileSync, writeFileSync } = require('node:fs')
const file = ${JSON.stringify(join(dir, 'pid'))}
const running = () => {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    // Nobody may be there to bury it.
    return /^\\d+ \\(.*\\) [^ZX]/s.test(readFileSync('/proc/' + pid + '/stat', 'utf8')) ? pid : 0
  } catch { return 0 }
}
const ended = async () => { while (running() > 0) await new Promise((done) => setTimeout(done, 20)) }
const main = async (word) => {
  const pid = running()
  if (word === 'is-active') process.exitCode = pid > 0 ? 0 : 3
  if (word === 'kill' && pid > 0) process.kill(pid, 'SIGKILL')
  if (word === 'stop' && pid > 0) process.kill(pid, 'SIGTERM')
  if (word === 'stop' || word === 'kill') await ended()
  if (word !== 'start' || pid > 0) return
  const log = openSync(${JSON.stringify(join(dir, 'log'))}, 'a')
  const args = ['serve', '--data', ${JSON.stringify(dataDir)}]
  const options = { detached: true, stdio: ['ignore', log, log] }
  const child = spawn(${JSON.stringify(join(prefix, 'current/bin/posthorn'))}, args, options)
  writeFileSync(file, String(child.pid))
  child.unref()
}
main(process.argv[2])
`
