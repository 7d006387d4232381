import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { initSandbox, serve } from './support/process.js'
import { makeTempDir } from './support/store.js'

/*
 * A second appliance, or a mail server, may run on the machine of the tests: they listen on ports that
 * the system gives them, and nowhere else.
 */

// What the settings, the sandbox and the mail servers of a distribution use.
const usual = [25, 587, 2525, 2526, 8080, 8081]

t.test('an appliance of the tests starts where all the usual ports are taken', async (t) => {
  for (const port of usual) {
    const server = createServer().listen({ port, host: '127.0.0.1' })
    // One that is taken already, or root's alone, cannot be used by the appliance either.
    await Promise.race([once(server, 'listening'), once(server, 'error').catch(() => {})])
    t.teardown(() => server.close())
  }
  const dataDir = makeTempDir(t)
  initSandbox(dataDir)
  const posthorn = await serve(t, dataDir, {})
  t.equal((await fetch(posthorn.url)).status, 200)
  t.equal(await posthorn.kill('SIGTERM'), 0)
})

t.test('no test listens on a port of its own choice', async (t) => {
  const chosen = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.startsWith('bench'))
    .flatMap((name) => {
      const text = readFileSync(join('test', name), 'utf8')
      return [...text.matchAll(/\.listen\(\s*(?:\{\s*port:\s*)?[1-9]\d*\b.*/g)].map(
        ([line]) => `${name}: ${line}`,
      )
    })
  t.same(chosen, [])
})
