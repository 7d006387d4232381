import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { plainly } from '../support/plain-program.js'
import { makeTempDir } from '../support/store.js'
import { absent } from '../support/tools.js'

const run = promisify(execFile)
const environment: NodeJS.ProcessEnv = { ...process.env, POSTHORN: resolve('bin/posthorn') }
const [program, ...without] = plainly
const readme = readFileSync('src/sandbox/README.md', 'utf8')

/** The examples of the page as the files that they are named. */
function laidOut(t: Test): string {
  const dir = makeTempDir(t)
  for (const [, name = '', code = ''] of readme.matchAll(/^```\w+ (\S+)\n([\s\S]*?)^```$/gm)) {
    writeFileSync(join(dir, name), code)
  }
  // As if npm had installed it from the appliance.
  const own = join(dir, 'node_modules/posthorn-client')
  mkdirSync(own, { recursive: true })
  writeFileSync(
    join(own, 'package.json'),
    JSON.stringify({ name: 'posthorn-client', type: 'module', exports: './index.js' }),
  )
  writeFileSync(join(own, 'index.js'), `export * from '${resolve('dist/src/client/index.js')}'`)
  return dir
}

const hasPytest = await run('python3', ['-c', 'import pytest']).then(
  () => true,
  () => false,
)

t.test('the example for node:test passes', async (t) => {
  const cwd = laidOut(t)
  // A test run of Node tells its child to speak in another way.
  const { NODE_TEST_CONTEXT: _, ...env } = environment
  const { stdout } = await run(
    program,
    [...without, process.execPath, '--test', 'sign-up.test.mjs'],
    {
      cwd,
      env,
    },
  )
  t.match(stdout, /pass 1\b/)
})

t.test(
  'the example for pytest passes',
  { skip: absent('python3') || (!hasPytest && 'not installed: pytest') },
  async (t) => {
    const cwd = laidOut(t)
    const { stdout } = await run(
      program,
      [...without, 'python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider'],
      {
        cwd,
        env: environment,
      },
    )
    t.match(stdout, /1 passed/)
  },
)

t.test('the example for Playwright is good JavaScript', async (t) => {
  await t.resolves(run(process.execPath, ['--check', join(laidOut(t), 'sign-up.spec.mjs')]))
})
