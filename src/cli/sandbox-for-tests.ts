import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount, createKey } from '../accounts/index.js'
import { plansFile } from '../app/files.js'
import { applianceKeyFile, logOptions, startAppliance } from '../app/index.js'
import { loadPlans, setMarketingPlan } from '../billing/index.js'
import { systemClock } from '../clock/index.js'
import {
  createApplianceKeyFile,
  environmentName,
  jobNames,
  loadConfig,
  openApplianceKey,
} from '../config/index.js'
import type { DkimKeyPair } from '../dkim/index.js'
import { addDomain } from '../domains/index.js'
import { openLog } from '../log/index.js'
import { databaseFile, makeTurns, migrateStore, openStore } from '../store/index.js'
import { setSwitches } from '../tracking/index.js'

/** What a test needs to know; printed as one line of JSON. */
export interface TestSandbox {
  /** The URL of the API; `/sandbox` below it is the inbox. */
  url: string
  apiKey: string
  /** A sender on the account's verified domain. */
  from: string
  domain: string
  /** Takes every mail for everybody into the inbox, for programs that send by SMTP. */
  smtp: { host: string; port: number }
  inbox: { page: string; messages: string; wait: string; clear: string }
  /** The beginning of links to recipients: preference centre, unsubscribing. */
  publicUrl: string
  accountId: string
  dataDir: string
  pid: number
}

// RFC 6761 §6.2: nobody can own it.
const domain = 'example.test'
// Leftovers are found by this prefix. The process's id follows it.
const prefix = 'posthorn-tests-'

/**
 * Starts an empty appliance with an account, with files in memory where the machine has such a place. It
 * answers at once; `complete` starts the threads that deliver mail.
 */
export async function openTestSandbox(
  port: number,
): Promise<{ told: TestSandbox; complete(): Promise<void>; close(): Promise<void> }> {
  const parent = memoryFolder()
  removeLeftovers(parent)
  const dataDir = mkdtempSync(join(parent, `${prefix}${process.pid}-`))
  const remove = () => rmSync(dataDir, { recursive: true, force: true })
  // For an end without the code below, such as by a second signal.
  process.once('exit', remove)
  createApplianceKeyFile(applianceKeyFile(dataDir))
  await makeDatabase(dataDir)
  const config = loadConfig({ env: settings(port) })
  const log = openLog(logOptions(config.log))
  // Done while the appliance starts, as a command beside it would, because making a DKIM key takes
  // a while.
  const made = setUp(dataDir)
  made.catch(() => {})
  const appliance = await startAppliance({ config, dataDir, log, isLate: true })
  const { accountId, apiKey } = await made
  const url = appliance.privateUrl
  return {
    told: {
      url,
      apiKey,
      from: `hello@${domain}`,
      domain,
      smtp: { host: '127.0.0.1', port: appliance.sandboxSmtpPort ?? 0 },
      inbox: {
        page: `${url}/sandbox`,
        messages: `${url}/sandbox.json`,
        wait: `${url}/sandbox/wait.json`,
        clear: `${url}/sandbox/clear.json`,
      },
      publicUrl: appliance.publicUrl,
      accountId,
      dataDir,
      pid: process.pid,
    },
    complete: appliance.complete,
    async close() {
      await appliance.close()
      remove()
    },
  }
}

// What takes longest to make: the database after all migrations, and an RSA key pair for a domain that
// nobody can own. bin/pack-appliance writes it beside the packed modules; tsc writes none.
const emptyDatabase = new URL('../empty.db', import.meta.url)
const rsaPairFile = new URL('../dkim-key.json', import.meta.url)

async function makeDatabase(dataDir: string): Promise<void> {
  if (existsSync(emptyDatabase)) copyFileSync(emptyDatabase, databaseFile(dataDir))
  else await migrateStore({ dataDir })
}

/** The account, its key and its domain. */
async function setUp(dataDir: string) {
  const clock = systemClock
  const key = openApplianceKey(applianceKeyFile(dataDir))
  const store = await openStore({ dataDir, clock, turns: makeTurns(), slot: 0 })
  try {
    const { id: accountId } = await createAccount({ store, clock }, 'Tests')
    const { key: apiKey } = await createKey({ store, clock }, accountId, 'tests')
    const rsaPair: DkimKeyPair | undefined = existsSync(rsaPairFile)
      ? JSON.parse(readFileSync(rsaPairFile, 'utf8'))
      : undefined
    await addDomain({ store, clock, key }, accountId, domain, { trust: true, rsaPair })
    // The largest plan, so that every feature is available.
    const marketing = loadPlans(plansFile(dataDir)).marketing.at(-1) ?? null
    await store.write((tx) => setMarketingPlan(tx, accountId, marketing))
    // Links stay as they were written, so that a test can follow them.
    await setSwitches({ store }, { accountId }, { opens: false, clicks: false })
    return { accountId, apiKey }
  } finally {
    await store.close()
  }
}

/** The machine's own settings do not count, except for a requested log and jobs. */
const settings = (port: number): Record<string, string> => ({
  POSTHORN_HTTP_PRIVATE_PORT: String(port),
  POSTHORN_HTTP_PUBLIC_PORT: '0',
  POSTHORN_HTTP_PUBLIC_HOST: '127.0.0.1',
  POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '0',
  POSTHORN_SANDBOX_SMTP_PORT: '0',
  POSTHORN_INBOUND_HOST: '127.0.0.1',
  POSTHORN_INBOUND_PORT: '0',
  POSTHORN_OUTBOUND_ROUTE: 'sandbox',
  POSTHORN_OUTBOUND_THREADS: '1',
  POSTHORN_OUTBOUND_HELO_NAME: 'localhost',
  POSTHORN_WEBHOOKS_ALLOW: 'localhost,127.0.0.1',
  POSTHORN_LOG_LEVEL: process.env.POSTHORN_LOG_LEVEL ?? 'error',
  POSTHORN_LOG_FORMAT: process.env.POSTHORN_LOG_FORMAT ?? 'json',
  // Tests that run at night are spared the jobs' threads, and mail that they do not expect.
  ...Object.fromEntries(
    jobNames
      .map((name) => environmentName(['jobs', name]))
      .map((variable) => [variable, process.env[variable] ?? 'off']),
  ),
})

/**
 * Tests start many of these; in memory a start does not wait for a disk, and nothing has to be
 * kept.
 */
function memoryFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return '/dev/shm'
  } catch {
    return tmpdir()
  }
}

/** Removes what a killed sandbox left: its process no longer exists. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent).filter((one) => one.startsWith(prefix))) {
    const pid = Number(name.slice(prefix.length).split('-')[0])
    if (!isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

/**
 * Signal 0 only asks. ESRCH means that no such process exists, EPERM that it is another user's
 * (kill(2)).
 */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

const parentEveryMs = 250

/**
 * Resolves when the tests are over: at a signal, or at the end of standard input or of the parent.
 */
export function endOfTests(): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        signals++
        if (signals > 1) process.exit(130)
        resolve()
      })
    }
    const input = fstatSync(0)
    // /dev/null ends at once and a terminal is for people: neither tells anything about a parent.
    if (input.isFIFO() || input.isSocket()) {
      process.stdin.on('end', resolve).on('error', () => resolve())
      process.stdin.resume()
      // The input alone must not keep the process alive: a sandbox that could not start ends.
      process.stdin.unref()
    }
    const parent = process.ppid
    const timer = setInterval(() => {
      if (process.ppid !== parent) resolve()
    }, parentEveryMs)
    timer.unref()
  })
}
