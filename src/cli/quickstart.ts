/*
 * The second half of bin/quickstart: everything is installed and built. Starts the appliance as an
 * operator would (`posthorn init`, `posthorn serve`), sends one mail as an application would, and
 * shows what becomes of it, up to what the sandbox inbox says about its signatures.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, styleText } from 'node:util'
import { loadConfig } from '../config/index.js'
import { messageOf } from '../errors/index.js'

const { values } = parseArgs({
  options: { data: { type: 'string' }, once: { type: 'boolean', default: false } },
})
const dataDir = values.data ?? 'data/sandbox'
const main = fileURLToPath(new URL('./main.js', import.meta.url))
const logFile = join(dataDir, 'posthorn.log')
const timeoutMs = 60_000
const recipient = 'you@example.org'

interface Sandbox {
  apiKey: string
  domain: string
  privateUrl: string
}

let child: ChildProcess | undefined
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    interrupted = true
    child?.kill('SIGTERM')
  })
}
try {
  await run()
} catch (error) {
  if (!interrupted) {
    say(`\n${colour('red', 'It did not work:')} ${messageOf(error)}`)
    say(tailOfLog())
    process.exitCode = 1
  }
  child?.kill('SIGTERM')
}

async function run(): Promise<void> {
  step(1, `Data directory ${dataDir}`)
  const sandbox = initialise()
  step(2, 'Starting the appliance in sandbox mode')
  const { url, exited } = await start()
  say(`  API and pages on ${url}, log in ${logFile}`)
  step(3, `Sending a mail: POST ${url}/v1/emails/send`)
  const id = await send(url, sandbox)
  step(4, 'What becomes of it')
  const email = await watch(url, sandbox, id)
  step(5, 'What the sandbox inbox received')
  const page = await inspect(url, email.reply)
  say(`\n${colour('green', 'Delivered, signed and verified.')}\n`)
  if (values.once) child?.kill('SIGTERM')
  else goOn(url, sandbox, page)
  const code = await exited
  if (code !== 0) throw new Error(`the appliance ended with status ${code}`)
}

function initialise(): Sandbox {
  const args = [main, 'init', '--sandbox', '--json', '--data', dataDir]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`posthorn init: ${stderr.trim()}`)
  const sandbox = JSON.parse(stdout) as Sandbox
  say(`  database, keys and the domain ${sandbox.domain} are ready`)
  return sandbox
}

/** Runs `posthorn serve`; a port that is taken is replaced by a free one. */
async function start(): Promise<{ url: string; exited: Promise<number | null> }> {
  const config = loadConfig({ file: join(dataDir, 'posthorn.toml'), env: process.env })
  const env = {
    ...process.env,
    POSTHORN_LOG_FORMAT: 'json',
    ...(await freePort('POSTHORN_HTTP_PRIVATE_PORT', config.http.private)),
    ...(await freePort('POSTHORN_HTTP_PUBLIC_PORT', config.http.public)),
    ...(await freePort('POSTHORN_SANDBOX_SMTP_PORT', {
      host: '127.0.0.1',
      port: config.sandbox.smtpPort,
    })),
  }
  const log = openSync(logFile, 'w', 0o600)
  const serving = spawn(process.execPath, [main, 'serve', '--data', dataDir], {
    env,
    stdio: ['ignore', 'ignore', log],
    // Ctrl-C is this process's to pass on, once.
    detached: true,
  })
  closeSync(log)
  child = serving
  const exited = new Promise<number | null>((resolve) => serving.once('exit', resolve))
  const url = await within(async () => {
    if (serving.exitCode !== null) throw new Error('the appliance does not start')
    return /"privateUrl":"([^"]+)"/.exec(readFileSync(logFile, 'utf8'))?.[1]
  }, 'the appliance did not start')
  return { url, exited }
}

async function freePort(variable: string, wanted: { host: string; port: number }) {
  if (await isFree(wanted.host, wanted.port)) return {}
  say(`  port ${wanted.port} is taken; a free one is used instead`)
  return { [variable]: '0' }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}

function bodyOf({ domain }: Sandbox) {
  return {
    from: `Posthorn <hello@${domain}>`,
    to: recipient,
    subject: 'Hello from Posthorn 📯',
    html: '<h1>It works</h1><p>This mail came in over HTTP and left over SMTP, signed.</p>',
  }
}

async function send(url: string, sandbox: Sandbox): Promise<string> {
  const response = await fetch(`${url}/v1/emails/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(bodyOf(sandbox)),
  })
  const answer = await response.text()
  say(`  ${response.status} ${answer}`)
  if (response.status !== 200) throw new Error(`the API answered ${response.status}`)
  return (JSON.parse(answer) as { id: string }).id
}

interface Watched {
  status: string
  recipients: { reply: string | null }[]
}

async function watch(url: string, sandbox: Sandbox, id: string): Promise<{ reply: string }> {
  let last = ''
  return within(async () => {
    const response = await fetch(`${url}/v1/emails/${id}`, {
      headers: { authorization: `Bearer ${sandbox.apiKey}` },
    })
    const { email } = (await response.json()) as { email: Watched }
    const reply = email.recipients[0]?.reply ?? ''
    if (email.status !== last) say(`  ${email.status}`)
    last = email.status
    if (['bounced', 'failed'].includes(last)) throw new Error(`the mail ${last}: ${reply}`)
    if (last !== 'delivered') return undefined
    say(`  the receiving server said: ${reply}`)
    return { reply }
  }, 'the mail was not delivered')
}

interface Received {
  id: number
  from: string
  subject: string
  tls: boolean
  verdicts: {
    dkim: { result: string; algorithm: string; domain: string }[]
    spf: { result: string }
    dmarc: { result: string }
  } | null
}

/** Shows the inbox's verdicts and returns the message's page; a signature that fails is an error. */
async function inspect(url: string, reply: string): Promise<string> {
  const id = /Kept in the sandbox as (\d+)/.exec(reply)?.[1]
  if (id === undefined) throw new Error('the reply is not of the sandbox inbox')
  const message = await within(async () => {
    const found = (await (await fetch(`${url}/sandbox/${id}.json`)).json()) as Received
    return found.verdicts === null ? undefined : { ...found, verdicts: found.verdicts }
  }, 'the signatures were not checked')
  const { dkim, spf, dmarc } = message.verdicts
  say(`  "${message.subject}" over ${message.tls ? 'TLS' : 'plain SMTP'}`)
  for (const { algorithm, domain, result } of dkim) {
    say(`  DKIM ${algorithm} by ${domain}: ${passed(result)}`)
  }
  say(`  SPF: ${passed(spf.result)}   DMARC: ${passed(dmarc.result)}`)
  const results = [...dkim.map(({ result }) => result), spf.result, dmarc.result]
  if (dkim.length < 2 || results.some((result) => result !== 'pass')) {
    throw new Error('a check of the mail did not pass')
  }
  return `${url}/sandbox/${id}`
}

function goOn(url: string, sandbox: Sandbox, page: string): void {
  say(`The mail      ${page}`)
  say(`Sandbox inbox ${url}/sandbox`)
  say(`API           ${url}/v1`)
  say(`API key       ${sandbox.apiKey}`)
  say('\nSend one yourself:\n')
  say(`  curl ${url}/v1/emails/send \\`)
  say(`    -H 'Authorization: Bearer ${sandbox.apiKey}' \\`)
  say("    -H 'Content-Type: application/json' \\")
  say(`    -d '${JSON.stringify({ ...bodyOf(sandbox), subject: 'Hello' })}'`)
  say(`\nServing until ${colour('bold', 'Ctrl-C')}.`)
}

/** Asks again and again until there is an answer. */
async function within<T>(ask: () => Promise<T | undefined>, failure: string): Promise<T> {
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += 50) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (interrupted) throw new Error('interrupted')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${failure} within ${timeoutMs / 1_000} s`)
}

function tailOfLog(): string {
  try {
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-10)
    return `The log's last lines (${logFile}):\n  ${lines.join('\n  ')}`
  } catch {
    return ''
  }
}

function passed(result: string): string {
  return colour(result === 'pass' ? 'green' : 'red', result)
}

function colour(style: 'red' | 'green' | 'bold', text: string): string {
  const wanted = process.stdout.isTTY && process.env.NO_COLOR === undefined
  return wanted ? styleText(style, text) : text
}

function step(number: number, text: string): void {
  say(`\n${colour('bold', `${number}. ${text}`)}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
