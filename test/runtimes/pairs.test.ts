import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { isSupported, runtimeInUse } from '../../src/config/index.js'
import { checkRuntime } from '../../src/doctor/appliance.js'
import { FakeClock } from '../support/clock.js'
import { nodeOn, type System } from '../support/other-system.js'
import { plainly } from '../support/plain-program.js'

/*
 * The pairs of Node and native packages are written down once, in .runtimes/runtimes.json. What npm wants
 * elsewhere must say the same, and no other pair is installed or run.
 */

interface Pair {
  node: { version: string; supportEnds: string }
  glibc: string
  lock: string
  package: { dependencies: Record<string, string>; overrides: Record<string, string> }
  sha256: Record<string, Record<string, string | null>>
}

interface LockFile {
  packages: Record<string, { name?: string; version: string; dependencies?: object }>
}

const read = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T
const pairs = read<Record<string, Pair>>('.runtimes/runtimes.json')
const packageFile = read<Pair['package'] & { engines: { node: string } }>('package.json')

t.test('package.json says what the pairs say', async (t) => {
  const ranges = Object.values(pairs).map(({ node }) => {
    const [major = 0, minor] = node.version.split('.').map(Number)
    return `>=${major}.${minor} <${major + 1}`
  })
  t.equal(packageFile.engines.node, ranges.join(' || '))
  const own = Object.values(pairs).find(({ lock }) => lock === 'package-lock.json')
  t.ok(own, 'one pair has the lock file that npm reads')
  t.match(packageFile.dependencies, own?.package.dependencies)
  t.match(packageFile.overrides, own?.package.overrides)
})

t.test('the lock files differ in what their pairs differ in, and in nothing else', async (t) => {
  const locks = Object.values(pairs).map((pair) => ({ pair, ...read<LockFile>(pair.lock) }))
  for (const { pair, packages } of locks) {
    const { dependencies, overrides } = pair.package
    t.match(packages['']?.dependencies, dependencies, pair.lock)
    t.same(
      Object.keys(packages['']?.dependencies ?? {}),
      Object.keys(packageFile.dependencies),
      `${pair.lock}: run 'bin/runtime lock' after a change of package-lock.json`,
    )
    for (const [name, version] of Object.entries(dependencies)) {
      t.equal(packages[`node_modules/${name}`]?.version, version)
    }
    for (const [name, version] of Object.entries(overrides)) {
      const locked = packages[`node_modules/${name}`]
      if (version.startsWith('npm:')) t.equal(`npm:${locked?.name}@${locked?.version}`, version)
    }
  }
  const [first, second] = locks
  const ofPairs = ['', 'node_modules/better-sqlite3', 'node_modules/uWebSockets.js']
  for (const [path, { version }] of Object.entries(first?.packages ?? {})) {
    const other = second?.packages[path]
    if (ofPairs.includes(path) || other === undefined) continue
    t.equal(other.version, version, path)
  }
})

t.test('every binary of a pair has its hash, but for what is compiled on the spot', async (t) => {
  for (const [name, { sha256 }] of Object.entries(pairs)) {
    for (const [arch, files] of Object.entries(sha256)) {
      t.equal(Object.keys(files).length, 3, `${name} ${arch}: Node, better-sqlite3, uWebSockets.js`)
      for (const [path, hash] of Object.entries(files)) {
        t.match(hash ?? path, hash === null ? /build\/Release/ : /^[0-9a-f]{64}$/, path)
      }
    }
  }
})

t.test('the packages that this test runs with are those of its pair', async (t) => {
  t.match(runtime(['verify']), { status: 0, stderr: '' })
})

t.test('a binary that was exchanged is refused', async (t) => {
  const folder = t.testdir()
  for (const path of Object.keys(pairs[runtimeInUse().name]?.sha256[process.arch] ?? {})) {
    if (!path.startsWith('node_modules/')) continue
    mkdirSync(join(folder, path, '..'), { recursive: true })
    cpSync(path, join(folder, path))
  }
  t.match(runtime(['verify', folder]), { status: 0 })
  const [exchanged = ''] = Object.entries(pairs[runtimeInUse().name]?.sha256[process.arch] ?? {})
    .filter(([path, hash]) => path.startsWith('node_modules/') && hash !== null)
    .map(([path]) => path)
  writeFileSync(join(folder, exchanged), 'not it')
  t.match(runtime(['verify', folder]), {
    status: 1,
    stderr: /is not the file that \.runtimes\/runtimes\.json names: its sha256 is .*Do not run it/,
  })
  t.match(runtime(['verify', t.testdir({ none: '' })]), {
    status: 1,
    stderr: /is missing: the packages/,
  })
})

t.test('a Node without a pair, and a C library that is too old for it, are told', async (t) => {
  t.match(runtime(['facts'], { node: '22.11.0' }), {
    status: 1,
    stderr:
      'bin/runtime: Node 22.11.0 is in use; it needs 24.21 or a later 24.x, or 20.20 or a later 20.x.\n',
  })
  t.match(runtime(['facts'], { node: '24.20.0' }), {
    status: 1,
    stderr: /^bin\/runtime: Node 24\.20/,
  })
  t.match(runtime(['facts'], { node: '24.21.0', glibc: '2.36' }), {
    status: 1,
    stderr:
      /runs with Node 24\.21\.0 on systems with glibc 2\.38 or later \(Debian 13.*this one has 2\.36/,
  })
  t.match(runtime(['facts'], { node: '24.30.1', glibc: '2.41' }), {
    stdout: 'runtime=node24 lock=.runtimes/node24/package-lock.json compiles=no\n',
  })
  t.match(runtime(['facts'], { node: '20.20.2', glibc: '2.36' }), {
    stdout: 'runtime=node20 lock=package-lock.json compiles=yes\n',
  })
  t.match(runtime(['facts'], { node: '20.20.2', glibc: '' }), { stderr: /this one has none/ })
})

t.test('bin/posthorn does not start on packages of another pair', async (t) => {
  const folder = t.testdir({ 'package.json': '{ "type": "module" }' })
  cpSync('.runtimes', join(folder, '.runtimes'), { recursive: true })
  mkdirSync(join(folder, 'bin'))
  cpSync('bin/posthorn', join(folder, 'bin/posthorn'))
  mkdirSync(join(folder, 'node_modules/better-sqlite3'), { recursive: true })
  const [program, ...more] = plainly
  const command = [...more, join(folder, 'bin/posthorn'), 'version']
  const { status, stderr } = spawnSync(program, command, { encoding: 'utf8' })
  t.equal(status, 1)
  t.match(stderr, /its packages were not installed for Node .*run 'bin\/runtime install'/)
})

t.test('the doctor warns of a Node that gets no fixes any more', async (t) => {
  const { supportEnds, newest } = runtimeInUse()
  const clock = new FakeClock(Date.parse(`${supportEnds}T12:00:00Z`))
  t.ok(isSupported(runtimeInUse(), clock.now()), 'on its last day')
  t.match(await checkRuntime({ clock }), [{ check: 'runtime', state: 'ok', fix: '' }])
  await clock.advance(86_400_000)
  t.match(await checkRuntime({ clock }), [
    { state: 'warn', found: new RegExp(`until ${supportEnds}`), fix: new RegExp(newest.name) },
  ])
})

function runtime(args: string[], system: System = {}) {
  const [program, ...more] = plainly
  const command = [...more, ...nodeOn(system), resolve('bin/runtime'), ...args]
  const { status, stdout, stderr } = spawnSync(program, command, { encoding: 'utf8' })
  return { status, stdout, stderr }
}
