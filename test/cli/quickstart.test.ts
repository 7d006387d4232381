// Thorough: starts the quickstart five times; .ci/run does it too.
import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { tryLockFile } from '../../src/store/index.js'
import { makeTempDir } from '../support/store.js'
import { outcomeOf, startCli } from './run.js'

/*
 * The part of bin/quickstart that comes after installing and building. Its own processes: whatever
 * happens to it, nothing may be left running.
 */
const freePorts = {
  POSTHORN_HTTP_PRIVATE_PORT: '0',
  POSTHORN_HTTP_PUBLIC_PORT: '0',
  POSTHORN_SANDBOX_SMTP_PORT: '0',
  POSTHORN_INBOUND_PORT: '0',
}

t.setTimeout(300_000)

function start(t: Test, data: string, options: { once?: boolean; env?: object } = {}) {
  const once = options.once === false ? [] : ['--once']
  const env = { ...freePorts, ...options.env }
  const child = startCli(['quickstart', '--data', data, ...once], { env })
  t.teardown(() => child.kill('SIGKILL'))
  return { child, ended: outcomeOf(child) }
}

/** Resolves with what was said up to a line that begins so. */
async function saidBy(child: ChildProcess, beginning: string): Promise<string> {
  if (child.stdout === null) throw new Error('no stdout')
  let said = ''
  for await (const line of createInterface({ input: child.stdout })) {
    said += `${line}\n`
    if (line.startsWith(beginning)) return said
  }
  throw new Error(`quickstart ended: ${said}`)
}

/** Resolves when no appliance holds the data directory any more. */
async function released(data: string): Promise<void> {
  for (let unlock = tryLockFile(join(data, 'posthorn.lock')); ; ) {
    if (unlock !== undefined) return unlock()
    await new Promise((resolve) => setTimeout(resolve, 20))
    unlock = tryLockFile(join(data, 'posthorn.lock'))
  }
}

t.test(
  'it sends a mail and shows its way up to the verified signatures, and does so again',
  async (t) => {
    const data = join(makeTempDir(t), 'data')
    const first = await start(t, data).ended
    t.match(first, { status: 0, stderr: '' })
    for (const line of [
      /^1\. Data directory .*\/data$/m,
      /^ +"Email queued", id [0-9a-f-]{36}$/m,
      /^ +delivered +\d+\.\d\d s$/m,
      /^ +the receiving server's reply: 250 .* Kept in the sandbox as \d+$/m,
      /^ +pass {2}DKIM by example\.test, rsa-sha256$/m,
      /^ +pass {2}DKIM by example\.test, ed25519-sha256$/m,
      /^ +pass {2}SPF$/m,
      /^ +pass {2}DMARC$/m,
      /^ +bounced: 550 5\.1\.1 /m,
      /^ +the next mail to it is suppressed, for its bounce$/m,
      /^ +the next mail to it is suppressed, for its complaint$/m,
      /^Delivered, signed and verified\. /m,
    ]) {
      t.match(first.stdout, line)
    }
    // Again, where other programs have the ports meanwhile.
    const key = readFileSync(join(data, 'appliance.key'), 'utf8')
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    t.teardown(() => other.close())
    const address = other.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const { status, stdout, stderr } = await start(t, data, {
      env: {
        POSTHORN_CONFIG: '/nonexistent/posthorn.toml',
        POSTHORN_HTTP_PRIVATE_PORT: port,
        POSTHORN_SANDBOX_SMTP_PORT: port,
      },
    }).ended
    t.match({ status, stderr }, { status: 0, stderr: '' }, 'again')
    t.equal(readFileSync(join(data, 'appliance.key'), 'utf8'), key, 'what is there is reused')
    t.match(stdout, `port ${port} is in use; the API gets a free one\n`)
    t.match(stdout, `port ${port} is in use; the inbox gets a free one\n`)
    t.notMatch(stdout, `http://127.0.0.1:${port}`)
  },
)

t.test('it serves on until Ctrl-C, and a second one does not disturb it', async (t) => {
  const data = join(makeTempDir(t), 'data')
  const { child, ended } = start(t, data, { once: false })
  const said = await saidBy(child, 'Serving until')
  const [, inbox = ''] = /^Sandbox inbox +(\S+)$/m.exec(said) ?? []
  t.match(await (await fetch(inbox)).text(), 'Hello from Posthorn')

  const second = await start(t, data).ended
  t.match(second, { status: 1, stderr: /Another posthorn serves .* already\. Stop it first/ })
  const [, command = ''] = /(^ {2}export API=.+?\}'$)/ms.exec(said) ?? []
  t.match(command, /^ {2}export API=http:.+\/v1\n {2}export KEY=ph_\S+\n/)
  const pasted = command.replace('Send one yourself:', '')
  const sent = spawnSync('bash', ['-ec', `${pasted} --silent`], { encoding: 'utf8' })
  t.match(sent.stdout, '"message":"Email queued"', 'the command to try works, after both lines')
  t.match(said, `bin/posthorn key create 'My application' --data '${data}'`)

  child.kill('SIGINT')
  t.match(await ended, { status: 0, stderr: '' })
  await released(data)
})

t.test('however it ends, the appliance that it has started ends too', async (t) => {
  const data = join(makeTempDir(t), 'data')
  for (const [signal, after, status] of [
    ['SIGKILL', '   API and pages on', null],
    ['SIGHUP', '   API and pages on', 130],
    ['SIGTERM', '2. Start the appliance', 130],
  ] as const) {
    const { child, ended } = start(t, data, { once: false })
    await saidBy(child, after)
    if (signal !== 'SIGTERM') {
      t.equal(tryLockFile(join(data, 'posthorn.lock')), undefined, 'the appliance runs')
    }
    child.kill(signal)
    t.equal((await ended).status, status, signal)
    await released(data)
  }
})

t.test('what goes wrong ends it with status 1 and the reason', async (t) => {
  const folder = makeTempDir(t)
  const data = join(folder, 'data')
  writeFileSync(join(folder, 'file'), '')
  const refused = async (directory: string, reason: RegExp, env = {}) => {
    const { status, stderr } = await start(t, directory, { env }).ended
    t.equal(status, 1)
    t.match(stderr, /^\nIt did not work: /)
    t.match(stderr, reason)
    t.notMatch(stderr, /\n {4}at /, 'no stack')
  }
  await refused(join(folder, 'file', 'data'), /ENOTDIR/)
  const level = { POSTHORN_LOG_LEVEL: 'loud' }
  await refused(data, /log\.level\): "loud" given, expected debug, info, warn or error/, level)
  await refused(data, /address not available 192\.0\.2\.1/, {
    POSTHORN_HTTP_PRIVATE_HOST: '192.0.2.1',
  })
  writeFileSync(join(data, 'plans.toml'), 'plans = [')
  await refused(data, /The log's last lines .*\n.*plans\.toml/s)
  writeFileSync(join(data, 'appliance.key'), 'c2hvcnQ=\n')
  await refused(data, /appliance\.key is damaged/)
  writeFileSync(join(data, 'posthorn.toml'), '[outbound]\nroute = "direct"\n')
  await refused(data, /outbound\.route is "direct" .* Choose another --data directory/)
})
