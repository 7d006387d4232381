import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { makeTempDir } from '../support/store.js'
import { jsonOf, main, outcomeOf, type RunOptions, runCli, startCli } from './run.js'

interface Addresses {
  privateUrl: string
  publicUrl: string
  sandboxSmtpPort?: number
  inboundSmtpPort?: number
}

async function makeSandbox(t: Test, dir = makeTempDir(t)) {
  const data = join(dir, 'data')
  const ports = [
    '--private-port',
    '0',
    '--public-port',
    '0',
    '--smtp-port',
    '0',
    '--inbound-port',
    '0',
  ]
  const { apiKey } = await jsonOf<{ apiKey: string }>(t, [
    'init',
    '--sandbox',
    ...ports,
    '--data',
    data,
  ])
  return { data, apiKey }
}

/** Starts the appliance and waits for the line that says where it listens. */
async function serve(t: Test, data: string, options: RunOptions = {}) {
  const child = startCli(['serve', '--json', '--data', data], options)
  t.teardown(() => child.kill('SIGKILL'))
  const ended = outcomeOf(child)
  if (child.stdout === null) throw new Error('no stdout')
  const line = once(createInterface({ input: child.stdout }), 'line')
  const first = await Promise.race([line, ended])
  if (!Array.isArray(first)) throw new Error(`serve ended: ${first.stderr}`)
  return { child, ended, addresses: JSON.parse(first[0]) as Addresses }
}

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('serve takes mail, leaves room for other commands and ends with 0 at SIGTERM', async (t) => {
  const { data, apiKey } = await makeSandbox(t)
  const { child, ended, addresses } = await serve(t, data)
  t.match(addresses, {
    privateUrl: /^http:\/\/127\.0\.0\.1:\d+$/,
    publicUrl: /^http:\/\/127\.0\.0\.1:\d+$/,
    sandboxSmtpPort: Number,
    inboundSmtpPort: Number,
  })
  t.equal((await fetch(addresses.privateUrl)).status, 200)
  t.equal((await fetch(addresses.publicUrl)).status, 200)

  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const sent = await fetch(`${addresses.privateUrl}/v1/emails/send`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      from: 'hello@example.test',
      to: 'someone@elsewhere.test',
      subject: 'Hello',
      html: '<p>Hello</p>',
    }),
  })
  t.equal(sent.status, 200, await sent.text())

  // Other commands work beside it, in processes of their own.
  t.match(await jsonOf(t, ['key', 'list', '--data', data]), { keys: [{ last4: apiKey.slice(-4) }] })
  await jsonOf(t, ['account', 'create', 'City', '--data', data])

  child.kill('SIGTERM')
  const { status, stdout, stderr } = await ended
  t.equal(status, 0, stderr)
  t.same(JSON.parse(stdout), addresses, 'stdout has the addresses alone')
  const messages = stderr
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).msg)
  t.ok(messages.includes('Posthorn is up'))
  t.equal(messages.at(-1), 'Stopped')
})

t.test('an account gets no plan that the running appliance has not read', async (t) => {
  const { data } = await makeSandbox(t)
  const { child, ended } = await serve(t, data)
  const plans = readFileSync('config/plans.toml', 'utf8')
  const [starter = ''] = /\[\[email\]\]\nid = .+\nname = "Starter"\n(?:.+\n)*/.exec(plans) ?? []
  const gold = starter.replace('Starter', 'Gold').replace(/id = ".{8}/, 'id = "ffffffff')
  writeFileSync(join(data, 'plans.toml'), `${plans}\n${gold}`)
  const [account] = await jsonOf<{ name: string }[]>(t, ['account', 'list', '--data', data])
  const set = (plan: string) =>
    runCli(['account', 'set-plan', account?.name ?? '', plan, '--data', data])
  t.match(await set('Gold'), {
    status: 1,
    stderr: 'error: The running appliance has not read the plan "Gold": restart it first',
  })
  t.match(await set('Growth'), { status: 0 })
  // As while it starts or stops.
  rmSync(join(data, 'control.sock'))
  t.match(await set('Gold'), { status: 1, stderr: /serves .+ and does not say whether/ })
  child.kill('SIGTERM')
  await ended
  t.match(await set('Gold'), { status: 0 }, 'the next start reads it')
})

t.test('a directory with a name too long for a socket has none, also elsewhere', async (t) => {
  const parent = makeTempDir(t)
  const { data } = await makeSandbox(t, join(parent, 'x'.repeat(100)))
  const { child, ended } = await serve(t, data)
  t.same(readdirSync(parent), ['x'.repeat(100)])
  t.notOk(existsSync(join(data, 'control.sock')))
  t.match(await runCli(['account', 'set-plan', 'Sandbox', 'Growth', '--data', data]), { status: 0 })
  child.kill('SIGTERM')
  await ended
})

t.test('serve with too few descriptors says what to do', async (t) => {
  const { data } = await makeSandbox(t)
  const few = ['sh', '-c', 'ulimit -n 256; exec "$@"', '-', process.execPath, main]
  const outcome = await runCli(['serve', '--data', data], { program: few })
  t.match(outcome, { status: 1, stderr: /"msg":"This process may open 256 files; .*LimitNOFILE/ })
})

t.test(
  'a second serve on the same data directory is refused, and the first lives on',
  async (t) => {
    const { data } = await makeSandbox(t)
    const { child, ended, addresses } = await serve(t, data)
    const second = await runCli(['serve', '--data', data], { alone: true })
    t.match(second, { status: 1, stdout: '' })
    const line = JSON.parse(second.stderr)
    t.match(line, {
      level: 'error',
      code: 'refused',
      msg: `Another posthorn serves ${data} already`,
    })
    t.ok(line.time, 'as every line of the log')
    const told = await runCli(['serve', '--data', data], {
      alone: true,
      env: { POSTHORN_LOG_FORMAT: 'human' },
    })
    const nowhere = ['serve', '--data', data, '--config', `${data}/none.toml`]
    const missing = JSON.parse((await runCli(nowhere, { alone: true })).stderr)
    t.match(missing, { level: 'error', msg: /^There is no configuration file .*none\.toml/ })
    t.match(told.stderr, `error: Another posthorn serves ${data} already. Stop it first`)
    t.equal((await fetch(addresses.privateUrl)).status, 200)
    child.kill('SIGINT')
    t.equal((await ended).status, 0)
    // The lock went with it.
    const third = await serve(t, data)
    third.child.kill('SIGTERM')
    t.equal((await third.ended).status, 0)
  },
)

t.test('a second signal ends it at once', async (t) => {
  const { data } = await makeSandbox(t)
  for (const [signal, expected] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const { child, ended, addresses } = await serve(t, data)
    // A request that never ends holds the orderly stop up for its ten seconds.
    const { hostname, port } = new URL(addresses.privateUrl)
    const socket = createConnection(Number(port), hostname).on('error', () => {})
    t.teardown(() => socket.destroy())
    socket.write(
      'POST /v1/emails/send HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n{',
    )
    await stderrHas(child.stderr, () => child.kill(signal), '"Stopping"')
    child.kill(signal)
    t.equal((await ended).status, expected, signal)
  }
})

t.test('a port that is taken is said, and nothing stays behind', async (t) => {
  const { data } = await makeSandbox(t)
  const { child, ended, addresses } = await serve(t, data)
  const other = await makeSandbox(t)
  const { port } = new URL(addresses.privateUrl)
  const result = await runCli(['serve', '--data', other.data], {
    alone: true,
    env: { POSTHORN_HTTP_PRIVATE_PORT: port },
  })
  t.match(result, { status: 1, stdout: '' })
  t.match(result.stderr, `"msg":"Cannot listen on 127.0.0.1:${port}: listen EADDRINUSE`)
  t.match(result.stderr, 'Another program has this port: stop it or choose another port')
  child.kill('SIGTERM')
  await ended
})

t.test('a bad setting stops the start, with its name and what was expected', async (t) => {
  const { data } = await makeSandbox(t)
  writeFileSync(join(data, 'posthorn.toml'), '[outbound]\nthreads = 0\n')
  const { status, stderr } = await runCli(['serve', '--data', data], { alone: true })
  t.equal(status, 1)
  t.match(stderr, 'outbound.threads: 0 given, expected a whole number from 1 to 8')
})

/** Does something and waits until the log has a text. */
async function stderrHas(
  stream: NodeJS.ReadableStream | null,
  act: () => void,
  expected: string,
): Promise<void> {
  if (stream === null) throw new Error('no stderr')
  let seen = ''
  const found = new Promise<void>((resolve) => {
    stream.on('data', (text: string) => {
      seen += text
      if (seen.includes(expected)) resolve()
    })
  })
  act()
  await found
}
