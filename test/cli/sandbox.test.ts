// Thorough: sandboxes that are started and killed as processes.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { createTransport } from 'nodemailer'
import t, { type Test } from 'tap'
import { Posthorn } from '../../src/client/index.js'
import { cliEntry } from '../support/process.js'

interface TestSandbox {
  url: string
  apiKey: string
  from: string
  smtp: { host: string; port: number }
  inbox: { page: string; messages: string; wait: string; clear: string }
  dataDir: string
  pid: number
}

interface Mail {
  id: number
  subject: string
  headers: { name: string }[]
  attachments: { path: string }[]
}

const command = [cliEntry, 'sandbox', '--for-tests']

async function told(child: ChildProcess): Promise<TestSandbox> {
  if (child.stdout === null) throw new Error('Its output is not a pipe')
  const [line] = await once(createInterface(child.stdout), 'line')
  return JSON.parse(line)
}

async function start(
  t: Test,
  env: Record<string, string> = {},
): Promise<TestSandbox & { child: ChildProcess }> {
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return { ...(await told(child)), child }
}

// A mail comes within milliseconds; this is for machines with other things to do.
const wait = async ({ inbox }: TestSandbox, query: Record<string, string>) => {
  const answer = await fetch(`${inbox.wait}?${new URLSearchParams({ timeout: '30s', ...query })}`)
  return { status: answer.status, json: (await answer.json()) as Mail }
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo(); waited += 20) {
    if (waited > 60_000) throw new Error(`Not so after a minute: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

t.test('mails are waited for, told apart, read and cleared', async (t) => {
  const sandbox = await start(t)
  const { emails } = new Posthorn(sandbox)
  const mail = { from: sandbox.from, subject: 'Welcome, Ann', html: '<p>Hi</p>' }
  const coming = wait(sandbox, { to: 'ann@example.org' })
  await emails.send({
    ...mail,
    to: ['Ann <ann@example.org>', 'bob@example.org'],
    html: '<a href="https://a.test/?t=1&amp;u=2">One</a> <a href="https://a.test/?t=1&amp;u=2">again</a>',
    text: 'See https://b.test/x.',
  })
  const { status, json } = await coming
  t.equal(status, 200, 'it was waited for before it was sent')
  t.match(json, {
    from: sandbox.from,
    subject: 'Welcome, Ann',
    text: 'See https://b.test/x.\n',
    links: ['https://a.test/?t=1&u=2', 'https://b.test/x'],
    attachments: [],
  })
  t.ok(json.headers.some(({ name }) => name === 'DKIM-Signature'))

  const { id } = json
  t.equal((await wait(sandbox, { to: 'ANN@EXAMPLE.ORG', subject: 'welcome' })).json.id, id)
  t.equal((await wait(sandbox, { to: 'bob@example.org' })).status, 200, 'each recipient has one')
  for (const query of [
    { to: 'nn@example.org' },
    { subject: 'Goodbye' },
    { from: 'other@' },
    { subject: '%' },
    { to: 'ann@example.org', after: String(Number.MAX_SAFE_INTEGER) },
  ] as Record<string, string>[]) {
    const { status, json } = await wait(sandbox, { ...query, timeout: '1ms' })
    t.equal(status, 404)
    t.match(json, { code: 'not_found', error: /^No mail with .*has, newest first: "Welcome, Ann"/ })
  }
  t.equal((await wait(sandbox, { timeout: 'soon' })).status, 400)
  t.equal((await wait(sandbox, { after: 'x' })).status, 400)

  await emails.send({ ...mail, to: 'ann@example.org', subject: 'Second' })
  t.equal(
    (await wait(sandbox, { to: 'ann@example.org', after: String(id) })).json.subject,
    'Second',
  )
  const cleared = await fetch(sandbox.inbox.clear, { method: 'POST' })
  t.same(await cleared.json(), { cleared: 3 })
  const { messages } = (await (await fetch(sandbox.inbox.messages)).json()) as { messages: [] }
  t.same(messages, [])
  t.match((await wait(sandbox, { timeout: '0' })).json, { error: /No mail came .* is empty/ })
})

t.test('it has no jobs of its own at night, but for those that are asked for', async (t) => {
  const due = async ({ url }: TestSandbox) => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    return [...metrics.matchAll(/^posthorn_job_next_due\S+\{name="([^"]+)"/gm)].map(
      ([, name]) => name,
    )
  }
  const asked = await start(t, { POSTHORN_JOBS_RETENTION: '23 * * * *' })
  let names: unknown[] = []
  while (names.length === 0) names = await due(asked)
  t.same(names, ['retention'], 'all that are due are shown together')
  // By hand each runs, as everywhere.
  const args = [cliEntry, 'job', 'run', 'optimize', '--json', '--data', asked.dataDir]
  const ran = spawnSync(process.execPath, args, { encoding: 'utf8' })
  t.match(ran, { status: 0, stdout: /"result": ?"done"/ })
})

t.test('a program that sends by SMTP finds its mail there, attachments and all', async (t) => {
  const sandbox = await start(t)
  const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => (index * 31) & 0xff))
  const transport = createTransport({ ...sandbox.smtp, tls: { rejectUnauthorized: false } })
  await transport.sendMail({
    from: 'app@other.test',
    to: 'eve@example.org',
    subject: 'Report',
    text: 'There it is',
    attachments: [{ filename: 'report.bin', content }],
  })
  const { json } = await wait(sandbox, { to: 'eve@example.org' })
  t.match(json.attachments, [{ filename: 'report.bin', sizeBytes: content.length }])
  const file = await fetch(sandbox.url + (json.attachments[0]?.path ?? ''))
  t.ok(content.equals(Buffer.from(await file.arrayBuffer())), 'byte by byte')
  t.equal((await fetch(`${sandbox.url}/sandbox/${json.id}/attachments/1`)).status, 404)
})

t.test('it ends when standard input is closed, and leaves no file', async (t) => {
  const { child, dataDir } = await start(t)
  t.ok(existsSync(join(dataDir, 'posthorn.db')) || readdirSync(dataDir).length > 0)
  child.stdin?.end()
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
  t.notOk(existsSync(dataDir))
})

t.test('one that cannot start says why and ends, though standard input stays open', async (t) => {
  const env = { ...process.env, POSTHORN_LOG_LEVEL: 'loud' }
  const child = spawn(process.execPath, command, { env })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const [code] = await once(child, 'close')
  t.equal(code, 1)
  t.match(said, /^error: .*log\.level/s)
})

for (const stdin of ['pipe', 'ignore'] as const) {
  t.test(`it ends when its parent is killed, with ${stdin} as standard input`, async (t) => {
    const program = `require('node:child_process')
      .spawn(process.execPath, ${JSON.stringify(command)}, { stdio: ['${stdin}', 'inherit', 'inherit'] })
      setInterval(() => {}, 1000)`
    const parent = spawn(process.execPath, ['-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { pid, dataDir } = await told(parent)
    t.ok(isAlive(pid))
    parent.kill('SIGKILL')
    await until('the sandbox is gone', () => !isAlive(pid))
    t.notOk(existsSync(dataDir))
  })
}

t.test('a sandbox that was killed itself is cleared away by the next one', async (t) => {
  const killed = await start(t)
  killed.child.kill('SIGKILL')
  await once(killed.child, 'exit')
  t.ok(existsSync(killed.dataDir))
  const foreign = join(dirname(killed.dataDir), `posthorn-tests-${process.pid}-living`)
  mkdirSync(foreign)
  t.teardown(() => rmSync(foreign, { recursive: true }))
  const { dataDir } = await start(t)
  t.notOk(existsSync(killed.dataDir))
  t.ok(existsSync(foreign), 'what belongs to a living process stays')
  t.not(dataDir, killed.dataDir)
})
