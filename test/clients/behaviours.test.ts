// The clients in TypeScript, Python, PHP and Go behave alike: one table, over real connections.
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import {
  Posthorn,
  PosthornError,
  readWebhook,
  WebhookVerificationError,
} from '../../src/client/index.js'
import { makeTempDir } from '../support/store.js'
import { missing } from '../support/tools.js'
import { body, secret, webhookVectors } from '../support/webhook-vectors.js'
import { packClients } from './pack.js'
import { scriptedServer } from './server.js'
import { type Behaviour, behaviours, mail } from './table.js'

t.setTimeout(300_000)

const timeout = 0.4
const mostBytes = 1_048_576

/** What a client is asked to do, and what came of it. */
interface Order {
  call: Behaviour['call'] | 'webhook'
  url?: string
  key?: string | undefined
  apiKey?: string
  first?: Behaviour['call'][] | undefined
  mail?: object
  timeout?: number
  mostBytes?: number
  body?: string
  header?: unknown
  /** Also what a program gives that has none. */
  secrets?: string[] | string | false | null
  now?: number
}
interface Outcome {
  waits?: number[]
  result?: unknown
  error?: Record<string, unknown>
}
type Play = (order: Order) => Promise<Outcome>

/** A program that plays orders: a line in, a line out. */
function driver(t: Test, command: string, ...args: string[]): Play {
  const child: ChildProcessWithoutNullStreams = spawn(command, args)
  t.teardown(() => child.kill())
  let said = ''
  child.stderr.on('data', (piece) => {
    said += piece
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return async (order) => {
    child.stdin.write(`${JSON.stringify(order)}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error(`The driver has ended: ${said}`)
    return JSON.parse(value) as Outcome
  }
}

/** The same by the client in TypeScript. */
const playHere: Play = async (order) => {
  const waits: number[] = []
  const attemptMs = timeout * 1_000
  const client = new Posthorn({
    url: order.url ?? 'http://127.0.0.1:1',
    apiKey: order.apiKey ?? 'ph_secret',
    timeout: attemptMs,
    maxAnswerBytes: mostBytes,
    random: () => 0.5,
    clock: {
      now: Date.now,
      sleep: (ms, signal) => {
        // An import has ten minutes, and no waits.
        const isLimit = ms === attemptMs || order.call === 'import'
        if (!isLimit) waits.push(ms / 1_000)
        return new Promise((done, failed) => {
          const timer = setTimeout(done, isLimit ? ms : 0)
          signal?.addEventListener('abort', () => {
            clearTimeout(timer)
            failed(signal.reason)
          })
        })
      },
    },
  })
  const calls: Record<Order['call'], () => Promise<unknown>> = {
    send: async () => (await client.emails.send(mail, { idempotencyKey: order.key })).id,
    get: async () => (await client.emails.get('x')).id,
    cancel: async () => (await client.emails.cancel('x')).message,
    nan: async () => (await client.emails.send({ ...mail, metadata: { x: Number.NaN } })).id,
    bytes: async () => undefined,
    import: () => client.contacts.import('x', new Blob(['email\nann@example.org\n'])),
    list: async () => {
      const ids: string[] = []
      for await (const { id } of client.emails.list({ limit: 2 })) ids.push(id)
      return ids
    },
    webhook: async () => {
      const { body = '', header, secrets = [], now = 0 } = order
      await readWebhook(body, header as string, secrets as string[], { now: now * 1_000 })
      return 'good'
    },
  }
  try {
    for (const call of order.first ?? []) await calls[call]().catch(() => {})
    return { result: await calls[order.call](), waits }
  } catch (error) {
    if (error instanceof WebhookVerificationError) return { error: { code: error.reason } }
    if (error instanceof TypeError) return { error: { code: 'argument', message: error.message } }
    if (!(error instanceof PosthornError)) throw error
    const { code, status = 0, retryable, message, attempts } = error
    const { retryAfter } = error as { retryAfter?: number }
    // Of an import that broke off it says how far that came; the others say that it broke off.
    const kind = error.name === 'ImportInterrupted' ? 'ConnectionError' : error.name
    return { waits, error: { code, kind, status, retryable, message, attempts, retryAfter } }
  }
}

const folder = makeTempDir(t)
t.before(() => packClients(folder))
const drivers = resolve('test/clients/drivers')

/** A Go program is compiled once, beside the client and without any network. */
function goProgram(t: Test): string {
  const dir = makeTempDir(t)
  mkdirSync(join(dir, 'driver'))
  writeFileSync(join(dir, 'go.mod'), 'module posthorn.internal/client\n\ngo 1.19\n')
  copyFileSync(join(folder, 'posthorn.go'), join(dir, 'posthorn.go'))
  copyFileSync(join(drivers, 'driver.go.txt'), join(dir, 'driver/main.go'))
  const env = { ...process.env, GOPROXY: 'off', GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local' }
  execFileSync('go', ['vet', './...'], { cwd: dir, env })
  execFileSync('go', ['build', '-o', 'play', './driver'], { cwd: dir, env })
  return join(dir, 'play')
}

const languages: { language: string; skip: string | false; open: (t: Test) => Play }[] = [
  { language: 'TypeScript', skip: false, open: () => playHere },
  {
    language: 'Python',
    skip: missing('python3'),
    open: (t) => driver(t, 'python3', join(drivers, 'driver.py'), folder),
  },
  {
    language: 'PHP',
    skip: missing('php'),
    open: (t) => driver(t, 'php', join(drivers, 'driver.php'), folder),
  },
  { language: 'Go', skip: missing('go'), open: (t) => driver(t, goProgram(t)) },
]

// Names that Python has already for something else.
const pythonKinds: Record<string, string> = {
  PermissionError: 'PermissionDeniedError',
  ConnectionError: 'ConnectionFailedError',
  TimeoutError: 'TimedOutError',
}

for (const { language, skip, open } of languages) {
  t.test(`the client in ${language} behaves as the table says`, { skip }, async (t) => {
    const play = open(t)
    const server = await scriptedServer(t)
    for (const [i, one] of behaviours.entries()) {
      if (one.only?.includes(language) === false) continue
      const { url, asked } = server.script(`${language}-${i}`, one.steps, one.keeps !== undefined)
      const { call, key, first } = one
      const outcome = await play({ call, url, key, first, mail, timeout, mostBytes })
      t.test(one.name, async (t) => {
        t.same(outcome.waits, one.waits, 'waits')
        t.equal(asked.length, one.steps.length, 'requests')
        if (one.error === undefined) t.same(outcome.result, one.result)
        else {
          const { kind, message = '', ...rest } = one.error
          const own = language === 'Python' ? (pythonKinds[kind] ?? kind) : kind
          const attempts = one.steps.length - (one.first?.length ?? 0)
          // Go has one type of error, and its code.
          const told = language === 'Go' ? {} : { kind: own }
          t.ok(String(outcome.error?.message).includes(message), String(outcome.error?.message))
          t.match(outcome.error, {
            ...rest,
            ...told,
            ...(one.call === 'import' ? {} : { attempts }),
          })
          t.notMatch(JSON.stringify(outcome.error), /ph_secret/)
        }
        t.ok(asked.every(({ authorization }) => authorization === 'Bearer ph_secret'))
        // PHP has none, and undici, below fetch, now and then opens another.
        if (one.keeps === 'one connection' && /Python|Go/.test(language)) {
          t.equal(new Set(asked.map(({ port }) => port)).size, 1, 'one connection')
        }
        if (one.first !== undefined || one.steps.length === 0) return
        const keys = new Set(asked.map(({ key }) => key))
        const bodies = new Set(asked.map(({ body }) => body))
        if (one.call === 'send') {
          t.equal(keys.size, 1, 'one key')
          t.match(
            [...keys][0],
            one.key ?? /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
          )
          t.equal(bodies.size, 1, 'the same bytes')
          t.same(JSON.parse([...bodies][0] ?? ''), mail)
        } else if (one.call !== 'import') t.same([...keys], [undefined], 'no key')
        if (one.call === 'list') {
          t.same(
            asked.map((one) => one.url),
            ['/v1/emails?limit=2', ...[1, 2].map(() => asked[1]?.url)],
          )
          t.match(asked[1]?.url, /^\/v1\/emails\?(limit=2&cursor=c%2B1|cursor=c%2B1&limit=2)$/)
        }
        if (one.call === 'import') {
          t.match(asked[0]?.contentType, /^multipart\/form-data; boundary=/)
          t.match(asked[0]?.body, /name="file"[\s\S]*\r\n\r\nemail\nann@example.org\n\r\n--/)
        }
      })
    }
  })

  t.test(`the client in ${language} verifies webhooks over the raw bytes`, { skip }, async (t) => {
    const play = open(t)
    const now = 1_790_000_000
    for (const { what, header, body, good } of webhookVectors(now)) {
      const { result } = await play({ call: 'webhook', body, header, secrets: [secret], now })
      t.equal(result === 'good', good, what)
    }
    const [signed] = webhookVectors(now)
    const both = { call: 'webhook' as const, body: signed?.body ?? '', now }
    const given = { ...both, header: signed?.header ?? '' }
    t.match(await play({ ...given, secrets: ['other', secret] }), { result: 'good' })
    t.match(await play({ ...given, secrets: ['other'] }), { error: { code: 'signature' } })
    t.match(await play({ ...both, secrets: [secret] }), { error: { code: 'missing' } })
    t.match(await play({ ...both, header: 'v1=00', secrets: [secret] }), {
      error: { code: 'malformed' },
    })
    t.match(await play({ ...given, now: now + 400, secrets: [secret] }), { error: { code: 'old' } })
    for (const [edge, code] of [
      [300, undefined],
      [301, 'old'],
      [-300, undefined],
      [-301, 'old'],
    ] as const) {
      const { error } = await play({ ...given, now: now + edge, secrets: [secret] })
      t.equal(error?.code, code, `${edge} s`)
    }
  })

  t.test(
    `the client in ${language} takes no empty secret, and no key that breaks a header`,
    {
      skip,
    },
    async (t) => {
      const play = open(t)
      const now = 1_790_000_000
      const forged = {
        call: 'webhook' as const,
        body,
        // WebCrypto and OpenSSL differ in empty keys; whoever forges has any.
        header: `t=${now},v1=${createHmac('sha256', '').update(`${now}.${body}`).digest('hex')}`,
        now,
      }
      const missing = language === 'Go' ? [] : ([false, ''] as const)
      for (const secrets of [[''], [' '], ['', secret], [secret, ''], [], null, ...missing]) {
        const { error } = await play({ ...forged, secrets })
        t.equal(error?.code, 'argument', `secret ${JSON.stringify(secrets)}`)
        t.match(error?.message, /secret of the webhook is empty/)
      }
      if (language === 'Python') {
        const { error } = await play({ ...forged, header: {}, secrets: [secret] })
        t.match(error, { code: 'argument', message: /the value of Svc-Signature/ })
      }
      const server = await scriptedServer(t)
      for (const apiKey of ['ph_secret\r\nX: 1', 'ph_secret\n', 'ph_secret x']) {
        const { url, asked } = server.script(`${language}-key`, [])
        const { error } = await play({ call: 'get', url, apiKey, mail, timeout })
        t.match(error?.code, /^(argument|validation_error)$/, JSON.stringify(apiKey))
        t.notMatch(String(error?.message), /ph_secret/, 'and it is not shown')
        t.equal(asked.length, 0)
      }
    },
  )
}

t.test('each operation has its method in each client, and no key is in the files', async (t) => {
  const { paths } = (await import('../../src/openapi/document.js')).makeDocument(
    (await import('../../src/openapi/document.js')).describedRoutes(),
    '0.1.0',
  )
  const ids = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => String(operationId)),
  )
  t.ok(ids.length > 100)
  const [python = '', php = '', go = ''] = ['py', 'php', 'go'].map((ending) =>
    readFileSync(join(folder, `posthorn.${ending}`), 'utf8'),
  )
  const snake = (id: string) => id.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  for (const id of ids) {
    t.match(python, `    def ${snake(id)}(self`, id)
    t.match(php, `    public function ${id}(`, id)
    t.match(go.toLowerCase(), `func (client *client) ${id.toLowerCase()}(`, id)
  }
})

t.test('Python’s types can all be read', { skip: missing('python3') }, async (t) => {
  const look = `
import sys, typing
sys.path.insert(0, sys.argv[1])
import posthorn
types = [one for one in vars(posthorn).values() if hasattr(one, "__total__")]
for one in types: typing.get_type_hints(one, include_extras=True)
for one in vars(posthorn.Posthorn).values():
    if callable(one): typing.get_type_hints(one, vars(posthorn))
print(len(types))`
  t.ok(Number(execFileSync('python3', ['-c', look, folder], { encoding: 'utf8' })) > 200)
})
