import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { configFile } from '../app/files.js'
import { lockDataDir } from '../app/lock.js'
import { loadConfig, readPart, settings, withoutPassword } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { say } from './output.js'
import type { Sandbox } from './sandbox-set-up.js'

/** `posthorn serve` as a process of its own, as an operator would run it. */
export interface QuickstartAppliance {
  privateUrl: string
  publicUrl: string
}

export interface QuickstartProcess {
  /** Resolves when the appliance serves; rejects when it ends before. */
  up: Promise<QuickstartAppliance>
  /** The exit status of its process, or null if a signal ended it. */
  exited: Promise<number | null>
  /** Asks the process to end; after some time, or at a second call, it is forced to. */
  stop(): void
}

// Named from the folder above, so that a packed file finds it too (bin/pack/bundle.js).
const main = fileURLToPath(new URL('../cli/main.js', import.meta.url))
// Longer than `serve` needs at worst to finish its work.
const stopTimeoutMs = 45_000

// Whatever the shell is set up for, the quickstart means its own directory and settings.
const { POSTHORN_CONFIG: _, POSTHORN_DATA: __, ...environment } = process.env

/**
 * A PostgreSQL that the shell names is used if the directory is new or already uses it, as the address in the settings
 * lacks a password. Set for this process too, which itself reads the database.
 */
function fitStore(dataDir: string, store: string | undefined): void {
  const named = environment.POSTHORN_STORE_URL
  if (named === undefined) return
  const file = configFile(dataDir)
  const { POSTHORN_STORE_URL: _, ...others } = environment
  const own = existsSync(file) ? storeOf(file, others) : (store ?? withoutPassword(named))
  if (own === withoutPassword(named)) return
  delete environment.POSTHORN_STORE_URL
  delete process.env.POSTHORN_STORE_URL
}

const storeOf = (file: string, env: NodeJS.ProcessEnv): string =>
  readPart({ store: settings.store }, { env, file }).store.url

/** Where the appliance's log goes: the terminal is for the steps. */
export const logFile = (dataDir: string) => join(dataDir, 'posthorn.log')

/** Makes the data directory, or takes an existing one; makes a new API key in either case. */
export function initialiseSandbox(
  dataDir: string,
  { store, passwordFile }: { store: string | undefined; passwordFile: string | undefined },
): Sandbox {
  fitStore(dataDir, store)
  // Before `init`, which would take the key away from users of a running appliance. Locked and
  // unlocked at once: the lock throws if an appliance has the directory.
  if (existsSync(dataDir)) lockDataDir(dataDir)()
  const args = [main, 'init', '--sandbox', '--json', '--data', dataDir]
  if (store !== undefined) args.push('--store', store)
  if (passwordFile !== undefined) args.push('--password-file', passwordFile)
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: environment,
  })
  if (status !== 0) throw new OperatorError(`posthorn init: ${reasonIn(stderr)}`)
  return JSON.parse(stdout) as Sandbox
}

/** Under --json an error is an object; a failure of Node itself, such as a lack of memory, is plain text. */
function reasonIn(stderr: string): string {
  try {
    const { error } = JSON.parse(stderr) as { error: { message: string } }
    return error.message
  } catch {
    return stderr.trim()
  }
}

/** Starts the appliance; a port that is taken is replaced by a free one. */
export async function serveSandbox(dataDir: string): Promise<QuickstartProcess> {
  const env = {
    ...environment,
    POSTHORN_LOG_FORMAT: 'json',
    ...(await portsInstead(dataDir)),
  }
  const log = openSync(logFile(dataDir), 'w', 0o600)
  const child = spawn(process.execPath, [main, 'serve', '--json', '--data', dataDir], {
    env,
    // Through the channel `serve` notices the end of this process, even by SIGKILL, and ends too.
    stdio: ['ignore', 'pipe', log, 'ipc'],
    // In a process group of its own, so that the terminal's Ctrl-C reaches it only once, from here.
    detached: true,
  })
  closeSync(log)
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const up = firstLine(child).then((line) => JSON.parse(line) as QuickstartAppliance)
  // It may end when nobody is waiting any more.
  up.catch(() => {})
  return { up, exited, stop: () => stop(child) }
}

/** The last lines of the log, for whoever has to find the fault. */
export function tailOfLog(dataDir: string): string {
  const file = logFile(dataDir)
  if (!existsSync(file)) return ''
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15)
  return `The log's last lines (${file}):\n  ${lines.join('\n  ')}`
}

/**
 * `serve --json` writes one line when all listeners are open; before that it may not be asked
 * anything.
 */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const end = output.indexOf('\n')
      if (end !== -1) resolve(output.slice(0, end))
    })
    child.once('error', reject)
    child.once('exit', () => reject(new OperatorError('the appliance ended while it was starting')))
  })
}

/** SIGTERM ends it in order; a later SIGKILL ends it even if it hangs. */
function stop(child: ChildProcess): void {
  if (child.exitCode !== null || child.signalCode !== null) return
  // A second SIGTERM ends it at once, which loses no accepted mail.
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
  child.once('exit', () => clearTimeout(force))
}

/**
 * Free ports of the settings are kept, so that addresses that people wrote down stay valid from one
 * quickstart to the next.
 */
async function portsInstead(dataDir: string): Promise<Record<string, string>> {
  const { http, inbound, sandbox } = loadConfig({ file: configFile(dataDir), env: environment })
  const wanted = [
    { name: 'POSTHORN_HTTP_PRIVATE_PORT', what: 'the API', ...http.private },
    { name: 'POSTHORN_HTTP_PUBLIC_PORT', what: 'the public pages', ...http.public },
    {
      name: 'POSTHORN_SANDBOX_SMTP_PORT',
      what: 'the inbox',
      host: '127.0.0.1',
      port: sandbox.smtpPort,
    },
    {
      name: 'POSTHORN_INBOUND_PORT',
      what: 'the listener for bounces',
      host: inbound.host,
      port: inbound.port,
    },
  ]
  const instead: Record<string, string> = {}
  for (const { name, what, host, port } of wanted) {
    if (await isFree(host, port)) continue
    say(`   port ${port} is in use; ${what} gets a free one`)
    instead[name] = '0'
  }
  return instead
}

/**
 * Opens the port and closes it again: connecting would not find a program that holds the port
 * without answering.
 */
function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
