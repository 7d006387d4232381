import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { packageFile } from '../config/index.js'
import { messageOf } from '../errors/index.js'
import { tunnelTo } from './first-link.js'
import { storeUrl } from './option-values.js'
import { remark, say, styled } from './output.js'
import {
  initialiseSandbox,
  logFile,
  type QuickstartProcess,
  serveSandbox,
  tailOfLog,
} from './quickstart-appliance.js'
import { showReturns } from './quickstart-returns.js'
import type { Sandbox } from './sandbox-set-up.js'

// How long each wait may take. A slow machine takes some seconds for the start, and everything else is quicker.
const timeoutMs = 60_000
const afterTimeout = `after ${timeoutMs / 1_000} s`
const pollMs = 20

/** The appliance that was started, and the key to its API. */
interface Target extends Sandbox {
  url: string
}

/** Options of `posthorn quickstart`. */
interface QuickstartOptions {
  once: boolean
  store?: string
  passwordFile?: string
}

/** Where the quickstart works, and how far it has come. */
interface Quickstart {
  dataDir: string
  /** The address of a PostgreSQL. */
  store: string | undefined
  passwordFile: string | undefined
  once: boolean
  beganAt: number
  appliance?: QuickstartProcess
  serving: boolean
  interrupted: boolean
}

/**
 * `posthorn quickstart`: starts the appliance as an operator would (`posthorn init`, `posthorn serve`), sends
 * one mail as an application would, and shows what happens to it, up to the sandbox inbox's verdict on its
 * signatures.
 */
export function quickstartCommand(program: Command): void {
  program
    .command('quickstart')
    .description('try it out: start in sandbox mode, send a first mail and show its way')
    .option(
      '--store <url>',
      'keep it in this PostgreSQL, which is empty or of an earlier quickstart',
      storeUrl,
    )
    .option('--password-file <file>', 'with --store: the file that has its password')
    .option('--once', 'end after the first delivery, with status 0 if it went well', false)
    .addHelpText(
      'after',
      `
Example:
  $ posthorn quickstart

Nothing leaves the machine. Database, keys and settings are kept in ./data/sandbox, or where --data says;
the next quickstart takes them again. It serves until Ctrl-C. A new directory may also be over the
PostgreSQL that POSTHORN_STORE_URL names.`,
    )
    .action(async ({ once, store, passwordFile }: QuickstartOptions, command: Command) => {
      if (passwordFile !== undefined && store === undefined) {
        command.error('error: --password-file is for --store')
      }
      // Whatever the shell's environment names, the quickstart means its own directory and
      // settings.
      const { data } = command.optsWithGlobals<{ data?: string }>()
      const dataDir = resolve(data ?? 'data/sandbox')
      await show({
        dataDir,
        store,
        passwordFile: passwordFile && resolve(passwordFile),
        once,
        beganAt: performance.now(),
        serving: false,
        interrupted: false,
      })
    })
}

/** Runs the steps, and always ends the appliance. */
async function show(quickstart: Quickstart): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!quickstart.interrupted) {
        say(`\nStopping${quickstart.appliance ? ' the appliance' : ''} …`)
      }
      quickstart.interrupted = true
      // Set even if nothing is left to wait for: a request may die with the appliance, unanswered.
      if (!quickstart.serving) process.exitCode = 130
      quickstart.appliance?.stop()
    })
  }
  try {
    await run(quickstart)
  } catch (error) {
    const { appliance, dataDir, interrupted } = quickstart
    process.exitCode = interrupted ? 130 : 1
    if (!interrupted) {
      remark(`\n${styled('red', 'It did not work:', process.stderr)} ${messageOf(error)}`)
      if (appliance) remark(tailOfLog(dataDir))
    }
    appliance?.stop()
    await appliance?.exited
  }
}

/**
 * Six steps, each of which can fail alone: a data directory, a start, a request, a delivery, a
 * signature, a report that comes back. The first step that fails says where to look.
 */
async function run(quickstart: Quickstart): Promise<void> {
  const { dataDir, once } = quickstart
  step(1, `Data directory ${dataDir}`)
  const sandbox = initialiseSandbox(dataDir, quickstart)
  say(`   database, keys, an account, an API key and the domain ${sandbox.domain} are there`)

  step(2, 'Start the appliance in sandbox mode')
  const appliance = await serveSandbox(dataDir)
  quickstart.appliance = appliance
  if (quickstart.interrupted) appliance.stop()
  const { exited } = appliance
  const { privateUrl: url, publicUrl } = await withTimeout(appliance.up, 'the appliance is not up')
  say(`   API and pages on ${url}, public listener on ${publicUrl}`)
  say(`   its log is ${logFile(dataDir)}`)

  step(3, `Send a mail: POST ${url}/v1/emails/send`)
  const target = { ...sandbox, url }
  const sentAt = performance.now()
  const { id, message } = await ask<{ id: string; message: string }>(target, '/v1/emails/send', {
    method: 'POST',
    body: JSON.stringify(firstMail(sandbox)),
  })
  say(`   "${message}", id ${id}`)

  step(4, `What becomes of it: GET /v1/emails/${id}`)
  const reply = await watch(target, id, sentAt)

  step(5, 'What the sandbox inbox received')
  const page = await inspect(target, reply)

  step(6, 'What comes back: a bounce and a complaint, by the simulator')
  await showReturns({
    dataDir,
    accountId: sandbox.accountId,
    domain: sandbox.domain,
    poll,
    ask: (path, init) => ask(target, path, init),
  })
  say(`\n${styled('green', 'Delivered, signed and verified.')} ${seconds(quickstart.beganAt)}\n`)

  tellAddresses(quickstart, target, page)
  if (once) appliance.stop()
  else {
    say(`\nServing until ${styled('bold', 'Ctrl-C')}.`)
    quickstart.serving = true
  }
  const code = await exited
  if (code !== 0) throw new Error(`the appliance ended with status ${code}`)
  if (quickstart.serving && !quickstart.interrupted)
    throw new Error('the appliance ended by itself')
  say('Stopped.')
}

/** The mail that is sent, and shown as an example for the next one. */
function firstMail({ domain }: Pick<Sandbox, 'domain'>) {
  return {
    from: `Posthorn <hello@${domain}>`,
    to: 'you@example.org',
    subject: 'Hello from Posthorn 📯',
    html: '<h1>It works</h1><p>This mail came in over HTTP and left over SMTP, signed.</p>',
  }
}

/** The used part of the API's answer. */
interface Email {
  status: string
  recipients: { reply: string | null }[]
}

/** Says each status once, with the time since the request; returns the receiver's reply. */
async function watch(target: Target, id: string, sentAt: number): Promise<string> {
  let last = ''
  return poll('the mail was not delivered', async () => {
    const { email } = await ask<{ email: Email }>(target, `/v1/emails/${id}`)
    const reply = email.recipients[0]?.reply ?? ''
    if (email.status !== last) say(`   ${email.status.padEnd(10)} ${seconds(sentAt)}`)
    last = email.status
    if (['bounced', 'failed'].includes(last)) throw new Error(`the mail ${last}: ${reply}`)
    if (last !== 'delivered') return undefined
    say(`   the receiving server's reply: ${reply}`)
    return reply
  })
}

/** The used part of a message of the sandbox inbox. */
interface Received {
  to: string[]
  subject: string
  tls: boolean
  verdicts: {
    dkim: { result: string; algorithm: string; domain: string }[]
    spf: { result: string }
    dmarc: { result: string }
  } | null
}

/** Shows the inbox's verdicts and returns the message's page; a signature that fails is an error. */
async function inspect(target: Target, reply: string): Promise<string> {
  // Loaded only here, as the inbox's folder loads the database.
  const { keptNumber } = await import('../sandbox/index.js')
  const number = keptNumber(reply)
  if (number === undefined) throw new Error('the reply is not of the sandbox inbox')
  const page = `/sandbox/${number}`
  const { message, verdicts } = await poll('the signatures were not checked', async () => {
    const found = await ask<Received>(target, `${page}.json`)
    return found.verdicts === null ? undefined : { message: found, verdicts: found.verdicts }
  })
  const { dkim, spf, dmarc } = verdicts
  const how = message.tls ? 'TLS' : 'plain SMTP'
  say(`   "${message.subject}" for ${message.to.join(', ')}, over ${how}`)
  for (const { algorithm, domain, result } of dkim) {
    say(`   ${verdict(result)}  DKIM by ${domain}, ${algorithm}`)
  }
  say(`   ${verdict(spf.result)}  SPF`)
  say(`   ${verdict(dmarc.result)}  DMARC`)
  const results = [...dkim, spf, dmarc].map(({ result }) => result)
  if (dkim.length < 2) throw new Error('the mail does not have both signatures')
  if (results.some((result) => result !== 'pass')) throw new Error('a check did not pass')
  return target.url + page
}

/** What to try next: pages, API, a command to paste. */
function tellAddresses(
  { dataDir, once }: Quickstart,
  { url, apiKey, ...sandbox }: Target,
  page: string,
): void {
  say(`This mail      ${page}`)
  say(`Sandbox inbox  ${url}/sandbox`)
  say(`API            ${url}/v1`)
  const { setupUrl } = sandbox
  const dashboard = typeof setupUrl === 'string' ? new URL(setupUrl).pathname : '/login'
  say(`Dashboard      ${url}${dashboard}`)
  if (setupUrl) say('               (makes you its first operator; the link is good once)')
  const tunnel = tunnelTo(url, hostname())
  if (tunnel !== undefined)
    say(`               (from another machine, after this there: ${tunnel})`)
  if (once) return
  say("\nFor another shell; the examples in Posthorn's documents use both:\n")
  say(`  export API=${url}/v1`)
  say(`  export KEY=${apiKey}`)
  say('\nSend one yourself:\n')
  say('  curl "$API/emails/send" \\')
  say(`    -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`)
  say(`    -d '${JSON.stringify(firstMail(sandbox))}'`)
  // A checkout is on nobody's PATH.
  const command = existsSync(packageFile('release.json')) ? 'posthorn' : 'bin/posthorn'
  say('\nThe next quickstart replaces this API key. For one that stays:\n')
  say(`  ${command} key create 'My application' --data '${dataDir}'`)
}

/** One request with the key; rejects with the API's message unless the answer is a 200. */
async function ask<T>(target: Target, path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(target.url + path, {
    ...init,
    headers: { authorization: `Bearer ${target.apiKey}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  const body = await response.text()
  if (response.status === 200) return JSON.parse(body) as T
  throw new Error(`${path} answered ${response.status}: ${body}`)
}

/** Looks again and again until there is an answer. */
function poll<T>(failure: string, look: () => Promise<T | undefined>): Promise<T> {
  const began = performance.now()
  const again = async (): Promise<T> => {
    const found = await look()
    if (found !== undefined) return found
    const waited = performance.now() - began
    if (waited > timeoutMs) throw new Error(`${failure} ${afterTimeout}`)
    // Ever less often: on a slow machine the requests would otherwise reach a key's limit per
    // minute.
    await new Promise((resolve) => setTimeout(resolve, Math.max(pollMs, waited / 10)))
    return again()
  }
  return again()
}

/** A wait without an end would look like a slow machine; the message says what was waited for. */
async function withTimeout<T>(promise: Promise<T>, failure: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${failure} ${afterTimeout}`)), timeoutMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** A result in its colour. */
function verdict(result: string): string {
  return styled(result === 'pass' ? 'green' : 'red', result)
}

/** How long ago something began. */
function seconds(since: number): string {
  return styled('dim', `${((performance.now() - since) / 1_000).toFixed(2)} s`)
}

/** The heading of a step. */
function step(number: number, text: string): void {
  say(`\n${styled('bold', `${number}. ${text}`)}`)
}
