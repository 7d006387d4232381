// Thorough: the generator is downloaded the first time, and it, a linter and a compiler go through a megabyte each.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { startPosthorn } from '../support/posthorn.js'

/*
 * What a client elsewhere makes of the document: types by openapi-typescript, a program that is compiled strictly with
 * them, and what linters say. Apart from the other packages, as it needs a TypeScript that has an API.
 */
const pinned = resolve('test/client/openapi-typescript')
const tools = resolve('.build/openapi-typescript')
mkdirSync(tools, { recursive: true })
for (const name of ['package.json', 'package-lock.json'])
  cpSync(join(pinned, name), join(tools, name))
const stamp = join(tools, 'installed')
const lock = readFileSync(join(tools, 'package-lock.json'), 'utf8')
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status, stderr } = spawnSync('npm', options, { cwd: tools, encoding: 'utf8' })
  if (status === 0) writeFileSync(stamp, lock)
  else if (process.env.CI) throw new Error(stderr)
}
const skip = existsSync(stamp) ? false : 'openapi-typescript could not be installed'

const program = `import createClient from 'openapi-fetch'
import type { paths } from './api.js'

const api = createClient<paths>({
  baseUrl: process.env.API_URL ?? '',
  headers: { authorization: \`Bearer \${process.env.API_KEY}\` },
})
const statuses: number[] = []
/** The data of an answer, which has to be a success. */
function taken<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (data === undefined) throw new Error(\`\${response.url}: \${JSON.stringify(error)}\`)
  statuses.push(response.status)
  return data
}

const list = taken(await api.POST('/v1/contacts/lists', { body: { name: 'Readers' } }))
const listId = list.id
taken(
  await api.POST('/v1/contacts/{listId}', {
    params: { path: { listId } },
    body: { email: 'ann@example.com', firstName: 'Ann', metadata: { a: 1, deep: { b: [2] } } },
  }),
)
const { contacts, nextCursor } = taken(
  await api.GET('/v1/contacts/{listId}', { params: { path: { listId }, query: { limit: 10 } } }),
)
const names: (string | null)[] = contacts.map(({ firstName }) => firstName)
if (names[0] !== 'Ann' || nextCursor !== null) throw new Error('The contact is not there')

const topic = taken(await api.POST('/v1/topics', { body: { name: 'News' } }))
taken(
  await api.PATCH('/v1/topics/{id}', {
    params: { path: { id: topic.id } },
    body: { description: 'What is new' },
  }),
)
taken(
  await api.POST('/v1/templates', {
    body: { slug: 'welcome', subject: 'Hi {{ name }}', html: '<p>Hi {{ name }}</p>' },
  }),
)
const from = 'a@sender.test'
// Neither type nor anything else that has a default.
const raw = { from, to: 'ann@example.com', subject: 'Hi', html: '<p>Hi</p>', metadata: { a: 1 } }
const sent = taken(await api.POST('/v1/emails/send', { body: raw }))
const variables = { name: 'Ann', items: [{ n: 1 }] }
taken(
  await api.POST('/v1/emails/batch', {
    body: { emails: [raw, { from, to: ['bob@example.com'], template: 'welcome', variables }] },
  }),
)
const { email } = taken(
  await api.GET('/v1/emails/{id}', { params: { path: { id: sent.id } } }),
)
if (email.subject !== 'Hi') throw new Error('Another mail')
const automation = taken(
  await api.POST('/v1/automations', {
    body: {
      name: 'Welcome',
      steps: [
        { key: 'start', type: 'trigger', config: { eventName: 'signup' } },
        { key: 'end', type: 'exit' },
      ],
      connections: [{ from: 'start', to: 'end', type: 'default' }],
    },
  }),
)
taken(
  await api.POST('/v1/automations/{id}/enable', { params: { path: { id: automation.id } } }),
)
taken(
  await api.POST('/v1/events/send', {
    body: { event: 'signup', email: 'ann@example.com', payload: { plan: 'pro' } },
  }),
)
taken(await api.POST('/v1/broadcasts/preview', { body: { listId, topicId: topic.id } }))
taken(await api.GET('/v1/billing/plans'))

const nobody = { from, subject: 'x', html: 'x' }
// @ts-expect-error -- a mail goes to somebody
export const refused = () => api.POST('/v1/emails/send', { body: nobody })
console.log(JSON.stringify(statuses))
`

const posthorn = await startPosthorn(t)
const document = await (await fetch(`${posthorn.url}/v1/openapi.json`)).text()
writeFileSync(join(tools, 'openapi.json'), document)
const run = (...args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd: tools,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })

t.test(
  'a program with types that are made of the document compiles, and works',
  { skip },
  async (t) => {
    const made = run('node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'api.ts')
    t.equal(made.status, 0, made.stderr)
    writeFileSync(join(tools, 'program.ts'), program)
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess']
    const target = [
      '--ignoreConfig',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--types',
      'node',
    ]
    const roots = ['--typeRoots', resolve('node_modules/@types')]
    const compiled = run(
      resolve('node_modules/typescript/bin/tsc'),
      ...strict,
      ...target,
      ...roots,
      'program.ts',
    )
    t.equal(compiled.stdout, '')
    const env = { ...process.env, API_URL: posthorn.url, API_KEY: posthorn.apiKey }
    const child = spawn(process.execPath, ['program.js'], { cwd: tools, env })
    let out = ''
    let said = ''
    child.stdout.on('data', (text) => {
      out += text
    })
    child.stderr.on('data', (text) => {
      said += text
    })
    await once(child, 'close')
    t.equal(said, '')
    t.same(
      JSON.parse(out || 'null'),
      [201, 201, 200, 201, 200, 201, 200, 200, 200, 201, 200, 202, 200, 200],
    )
  },
)

// A rule that is off has its reason here, and no other.
const off = {
  // interface.md has both: a list is at `/v1/contacts/lists/{id}`, its import at `/v1/contacts/{listId}/import`, and runs are
  // at `/v1/automations/runs/{id}` beside `/v1/automations/{id}/enable`. An id is a UUID: none is `lists`, `runs` or `import`.
  'no-ambiguous-paths': 'off',
  // `GET /v1/billing/plans` and the description itself take nothing that could be wrong, of anybody.
  'operation-4xx-response': 'off',
  // This version reads `oneOf` of alternatives that only require fields as if nothing else were allowed; openapi.test.ts
  // holds every example to its schema.
  'no-invalid-media-type-examples': 'off',
}

t.test('linters have nothing to say', { skip }, async (t) => {
  const redocly = await import(
    pathToFileURL(join(tools, 'node_modules/@redocly/openapi-core/lib/index.js')).href
  )
  const { createConfig, lintFromString } = redocly.default ?? redocly
  const ways = { extends: ['recommended'], rules: { ...off, 'info-contact': 'error' } }
  const config = await createConfig(ways)
  const problems: { ruleId: string; message: string }[] = await lintFromString({
    source: document,
    absoluteRef: join(tools, 'openapi.json'),
    config,
  })
  t.same(
    problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
    [],
  )
})
