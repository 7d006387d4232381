// The clients as the appliance serves them: by file, by pip and by Go, to a mail that is sent.
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import t from 'tap'
import { packageVersion } from '../../src/config/index.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir } from '../support/store.js'
import { missing } from '../support/tools.js'
import { packClients } from './pack.js'

const run = promisify(execFile)
t.setTimeout(300_000)
t.before(() => packClients('dist/clients'))

/** The examples of the README, by their language. */
function example(language: string): string {
  const text = readFileSync('src/openapi/clients/README.md', 'utf8')
  const [, code = ''] = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(text) ?? []
  return code.replaceAll('hello@example.test', 'hello@sender.test')
}

t.test('what is served installs and sends a mail as the README says', async (t) => {
  const { url, apiKey, call } = await startPosthorn(t)
  const version = packageVersion()
  const dir = makeTempDir(t)
  const env = { ...process.env, POSTHORN_URL: url, POSTHORN_API_KEY: apiKey, PIP_NO_INDEX: '1' }
  const sent = async () => (await call('GET', '/v1/emails')).json.emails.length as number
  const get = async (path: string) =>
    Buffer.from(await (await fetch(`${url}/clients/${path}`)).arrayBuffer())

  await t.test('Python', { skip: missing('python3') }, async (t) => {
    const before = await sent()
    writeFileSync(join(dir, 'a.py'), `${example('python')}\nprint(sent["id"])\n`)
    // A wheel is a path of Python as it stands.
    writeFileSync(
      join(dir, 'posthorn.whl'),
      await get(`posthorn_client-${version}-py3-none-any.whl`),
    )
    const path = join(dir, 'posthorn.whl')
    const { stdout } = await run('python3', [join(dir, 'a.py')], {
      env: { ...env, PYTHONPATH: path },
    })
    t.match(stdout, /^[0-9a-f-]{36}\n$/)
    t.equal(await sent(), before + 1)
    const record = Buffer.from(
      unzipSync(readFileSync(path))[`posthorn_client-${version}.dist-info/RECORD`] ?? [],
    ).toString()
    t.match(record, /^posthorn\.py,sha256=[\w-]{43},\d+$/m)
  })

  await t.test('PHP', { skip: missing('php') }, async (t) => {
    const files = unzipSync(await get('posthorn-client-php.zip'))
    t.match(JSON.parse(Buffer.from(files['composer.json'] ?? []).toString()), {
      version,
      name: 'posthorn/client',
    })
    writeFileSync(join(dir, 'posthorn.php'), files['posthorn.php'] ?? '')
    // The key is the README's, so that what Python has sent is not sent again.
    writeFileSync(join(dir, 'a.php'), `<?php\n${example('php')}\necho $sent['id'], "\\n";\n`)
    const { stdout } = await run('php', [join(dir, 'a.php')], { env, cwd: dir })
    t.match(stdout, /^[0-9a-f-]{36}\n$/)
    t.equal(await sent(), 1)
  })

  await t.test('Go, by its own protocol', { skip: missing('go') }, async (t) => {
    const program = join(dir, 'program')
    mkdirSync(program)
    const goEnv = {
      ...env,
      GOMODCACHE: join(dir, 'mod'),
      GOTOOLCHAIN: 'local',
    }
    writeFileSync(join(program, 'go.mod'), 'module example.test/program\n\ngo 1.19\n')
    const body = example('go')
      .replace('client, err :=', 'client, _ :=')
      .replace('sent, err :=', 'sent, err :=')
    writeFileSync(
      join(program, 'main.go'),
      `package main\n\nimport (\n"context"\n"fmt"\n"posthorn.internal/client"\n)\n\nfunc main() {\nctx := context.Background()\n${body}\nif err != nil {\npanic(err)\n}\nfmt.Println(sent.ID)\n}\n`,
    )
    // The command is that of the page.
    const page = (await get('../reference')).toString().replaceAll('&#39;', "'")
    const [command = ''] = /GOPROXY=[^<]+/.exec(page) ?? []
    const given = readFileSync('src/openapi/clients/README.md', 'utf8')
    t.ok(given.replaceAll('http://posthorn.internal:8080', url).includes(command), 'as the README')
    await run('sh', ['-c', command], { cwd: program, env: goEnv })
    const { stdout } = await run('go', ['run', '.'], { cwd: program, env: goEnv })
    t.match(stdout, /^[0-9a-f-]{36}\n$/m)
    t.equal(await sent(), 1)
    await run('go', ['clean', '-modcache'], { cwd: program, env: goEnv })
  })
})

t.test('the same source gives the same bytes', async (t) => {
  const [one, two] = [makeTempDir(t), makeTempDir(t)]
  for (const dir of [one, two]) await packClients(dir)
  for (const name of ['posthorn.py', 'posthorn-client-php.zip']) {
    t.ok(readFileSync(join(one, name)).equals(readFileSync(join(two, name))), name)
  }
})
