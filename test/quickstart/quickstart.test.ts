import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

/*
 * What bin/quickstart says before it does anything. That it works, .ci/run shows by `--once`; the
 * part after installing and building is tested in test/cli.
 */
const script = resolve('bin/quickstart')

function quickstart(args: readonly string[], options: { cwd?: string; path?: string } = {}) {
  const { NODE_OPTIONS: _, ...env } = process.env
  const { status, stdout, stderr } = spawnSync('/bin/bash', [script, ...args], {
    cwd: options.cwd ?? process.cwd(),
    encoding: 'utf8',
    env: { ...env, ...(options.path === undefined ? {} : { PATH: options.path }) },
    timeout: 30_000,
  })
  return { status, stdout, stderr }
}

t.test('--help explains itself and does nothing', async (t) => {
  for (const flag of ['--help', '-h']) {
    const cwd = t.testdir()
    const { status, stdout, stderr } = quickstart([flag], { cwd })
    t.equal(status, 0)
    t.equal(stderr, '')
    for (const option of ['bin/quickstart [--once] [--data DIR]', '--once ', '--data DIR ']) {
      t.ok(stdout.includes(option), option)
    }
    t.notMatch(stdout, /^#|set -/m, 'no line of the script itself')
  }
})

t.test('a wrong argument is named, and nothing is started', async (t) => {
  const cwd = t.testdir()
  for (const [args, complaint] of [
    [['--twice'], 'unknown argument: --twice'],
    [['data'], 'unknown argument: data'],
    [['--once', '--twice'], 'unknown argument: --twice'],
    [['--data'], '--data needs a directory'],
    [['--data', ''], '--data needs a directory'],
    [['--data='], 'unknown argument: --data='],
    [['--data', 'there', '--twice'], 'unknown argument: --twice'],
  ] as const) {
    const { status, stdout, stderr } = quickstart(args, { cwd })
    t.equal(status, 2, args.join(' '))
    t.equal(stdout, '')
    t.equal(stderr, `bin/quickstart: ${complaint}; 'bin/quickstart --help' shows how it is used\n`)
  }
  t.notOk(existsSync(join(cwd, 'there')))
})

t.test('without Node it says which Node it needs', async (t) => {
  const tools = join(t.testdir(), 'bin')
  mkdirSync(tools)
  for (const tool of ['dirname', 'mkdir', 'sed']) symlinkSync(`/usr/bin/${tool}`, join(tools, tool))
  const { status, stderr } = quickstart(['--once'], { path: tools })
  t.equal(status, 1)
  t.match(
    stderr,
    'Node is not installed; it needs 24.21 or a later 24.x, or 20.20 or a later 20.x.',
  )
})

t.test('a compiler that is missing is installed by root, and named to others', async (t) => {
  const folder = t.testdir()
  const tools = join(folder, 'bin')
  mkdirSync(tools)
  for (const tool of ['chmod', 'rm', 'tail']) symlinkSync(`/usr/bin/${tool}`, join(tools, tool))
  const asked = join(folder, 'asked')
  const stub = (name: string, script: string) =>
    writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  stub('apt-get', `echo "$*" >>${asked}`)
  stub('python3', '')
  const require = (user: number, compiles: string) => {
    stub('id', `echo ${user}`)
    const script = `. ${resolve('bin/setup.sh')}; results=. failed_steps=() compiles=${compiles}; require_compiler`
    return spawnSync('/bin/bash', ['-c', script], {
      cwd: folder,
      encoding: 'utf8' as const,
      env: { PATH: tools },
    })
  }
  t.equal(require(1000, 'no').status, 0, 'none is needed')
  const { status, stdout } = require(1000, 'yes')
  t.equal(status, 1)
  t.match(stdout, 'sudo apt-get install --no-install-recommends make g++')
  t.notOk(existsSync(asked))
  const byRoot = require(0, 'yes')
  t.equal(byRoot.status, 0, byRoot.stderr)
  t.match(
    readFileSync(asked, 'utf8'),
    /^update -q\ninstall -q -y --no-install-recommends make g\+\+\n$/,
  )
})
