// Thorough: installs the package and compiles it with two TypeScripts.
import { execFile } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { plainly } from '../support/plain-program.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir } from '../support/store.js'

const run = promisify(execFile)

const [env, ...without] = plainly

// As `npm run build` does; a plain tsc leaves dist/client out.
t.before(() => run(env, [...without, process.execPath, 'bin/pack-client']))

/** Whether npm's registry can be asked, which is needed for TypeScript alone. */
const isOnline = () =>
  run('npm', ['view', 'typescript@5.9', 'version'], { timeout: 20_000 }).then(
    () => true,
    () => false,
  )

async function install(t: Test, url: string, ...others: string[]): Promise<string> {
  const dir = makeTempDir(t)
  writeFileSync(join(dir, 'package.json'), '{ "private": true }')
  const from = [`${url}/client/posthorn-client.tgz`, ...others]
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--cache', join(dir, '.npm')]
  await run('npm', ['install', ...quiet, ...from], { cwd: dir, timeout: 120_000 })
  return dir
}

const program = (imported: string) => `${imported}
const posthorn = new Posthorn()
posthorn.emails.send({ from: 'shop@sender.test', to: 'ann@example.org', subject: 'Hi', html: '<p>Hi</p>' })
  .then(({ id }) => posthorn.emails.wait(id))
  .then(({ status }) => console.log(status))
`

t.test(
  'the served package sends mail from an empty project, by import and by require',
  async (t) => {
    const { url, apiKey } = await startPosthorn(t)
    const dir = await install(t, url)
    writeFileSync(join(dir, 'a.mjs'), program("import { Posthorn } from 'posthorn-client'"))
    writeFileSync(join(dir, 'a.cjs'), program("const { Posthorn } = require('posthorn-client')"))
    for (const file of ['a.mjs', 'a.cjs']) {
      // Node 20.20 has require of ES modules without a flag.
      const { stdout } = await run(process.execPath, [join(dir, file)], {
        env: { ...process.env, POSTHORN_URL: url, POSTHORN_API_KEY: apiKey },
      })
      t.equal(stdout, 'delivered\n', file)
    }
  },
)

t.test('the files are served with an ETag, and the reference says how to install', async (t) => {
  const { url } = await startPosthorn(t)
  for (const [name, type] of [
    ['posthorn-client.tgz', 'application/gzip'],
    ['client.js', 'text/javascript; charset=utf-8'],
    ['client.d.ts', 'text/plain; charset=utf-8'],
  ] as const) {
    const answer = await fetch(`${url}/client/${name}`)
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('content-type'), type)
    const etag = answer.headers.get('etag') ?? ''
    await answer.arrayBuffer()
    const again = await fetch(`${url}/client/${name}`, { headers: { 'if-none-match': etag } })
    t.equal(again.status, 304, `${name} is not sent again`)
  }
  const client = Buffer.from(await (await fetch(`${url}/client/client.js`)).arrayBuffer())
  const size = gzipSync(client, { level: 9 }).length
  t.ok(size <= 10 * 1024, `client.js has ${size} bytes gzipped, at most 10 KiB`)
  t.notMatch(client.toString(), /(^|[;}])import\b|\brequire\(/, 'it imports nothing')
  t.match(await (await fetch(`${url}/reference`)).text(), 'class="install"')
})

t.test('its types hold for TypeScript 5.9 and 7, by both resolutions', async (t) => {
  if (!(await isOnline())) {
    t.pass('skipped: the npm registry is not reachable')
    return
  }
  const { url } = await startPosthorn(t)
  const dir = await install(t, url, 'typescript@5.9')
  const native = join(dir, 'native/node_modules')
  mkdirSync(native, { recursive: true })
  symlinkSync(resolve('node_modules/typescript'), join(native, 'typescript'))
  writeFileSync(
    join(dir, 'a.mts'),
    `import { Posthorn, isPosthornError, type WebhookEvent } from 'posthorn-client'
const posthorn = new Posthorn({ url: 'http://127.0.0.1:1' })
export async function main(event: WebhookEvent): Promise<string> {
  for await (const contact of posthorn.contacts.list('x')) if (contact.email === '') return contact.id
  try {
    return (await posthorn.emails.get(event.emailId)).status
  } catch (error) {
    return isPosthornError(error, 'domain_not_verified') ? error.body.domain : 'other'
  }
}
`,
  )
  for (const [name, bin] of [
    ['TypeScript 5.9', 'node_modules/typescript/bin/tsc'],
    ['TypeScript 7', 'native/node_modules/typescript/bin/tsc'],
  ] as const) {
    for (const [module, resolution] of [
      ['node16', 'node16'],
      ['esnext', 'bundler'],
    ] as const) {
      const options = ['--noEmit', '--strict', '--target', 'es2022', '--exactOptionalPropertyTypes']
      const how = ['--module', module, '--moduleResolution', resolution, 'a.mts']
      const { stdout } = await run(process.execPath, [join(dir, bin), ...options, ...how], {
        cwd: dir,
      }).catch((error: { stdout: string }) => error)
      t.equal(stdout, '', `${name}, ${resolution}`)
    }
  }
})
