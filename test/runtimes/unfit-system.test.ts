import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { main, runCli } from '../cli/run.js'
import { nodeOn } from '../support/other-system.js'
import { makeTree } from '../support/release-tree.js'
import { makeTempDir } from '../support/store.js'

/*
 * A system whose C library is older than the native packages need: their own words for it are a stack.
 */
const debian12 = { node: '24.21.0', glibc: '2.36' }
const needs =
  'needs the C library glibc 2.38 or later (Debian 13, Ubuntu 24.04), and this system has'

t.test('a release for newer systems says so before it makes anything', async (t) => {
  const dir = makeTempDir(t)
  symlinkSync(resolve('node_modules'), join(dir, 'node_modules'))
  const released = join(makeTree(dir, { version: '0.1.0' }), 'dist/src/cli/main.js')
  const program = [...nodeOn(debian12), released]
  const sentence = `This release of Posthorn ${needs} 2.36: take the release for older systems, which has 'node20' in its name`
  const data = join(dir, 'data')
  for (const command of [['quickstart', '--once'], ['init'], ['status']]) {
    t.match(
      await runCli([...command, '--data', data], { program }),
      { status: 1, stdout: '', stderr: `error: ${sentence}\n` },
      command.join(' '),
    )
  }
  t.notOk(existsSync(data), 'nothing was made')
  const inJson = await runCli(['init', '--json', '--data', data], { program })
  t.equal(JSON.parse(inJson.stderr).error.message, sentence)

  await t.test('its version is told all the same, with a warning', async (t) => {
    const { status, stdout, stderr } = await runCli(['version'], { program })
    t.equal(status, 0)
    t.match(stdout, 'posthorn 0.1.0 (Node 24.21.0, node24)')
    t.equal(stderr, `warning: ${sentence}\n`)
  })

  await t.test('help needs nothing', async (t) => {
    t.match(await runCli(['init', '--help'], { program }), { status: 0, stderr: '' })
  })
})

t.test('of the sources another Node is named, where there is one', async (t) => {
  const init = (system: { node: string; glibc: string }) =>
    runCli(['init', '--data', join(t.testdir(), 'data')], { program: [...nodeOn(system), main] })
  t.match(await init(debian12), {
    status: 1,
    stderr: `error: Posthorn on Node 24.21.0 ${needs} 2.36: use Node 20 there\n`,
  })
  for (const [glibc, found] of [
    ['2.4', '2.4'],
    ['', 'none'],
  ] as const) {
    t.match(await init({ node: '24.21.0', glibc }), {
      stderr: `error: Posthorn on Node 24.21.0 ${needs} ${found}: no release of Posthorn is made for it\n`,
    })
  }
})

t.test('where the C library is as old as it may be, all goes on', async (t) => {
  const pairs: Record<string, { node: { version: string }; glibc: string }> = JSON.parse(
    readFileSync('.runtimes/runtimes.json', 'utf8'),
  )
  for (const { node, glibc } of Object.values(pairs)) {
    const program = [...nodeOn({ node: node.version, glibc }), main]
    const { status, stderr } = await runCli(['version'], { program })
    t.match({ status, stderr }, { status: 0, stderr: '' }, glibc)
  }
})
