import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { stringify } from 'smol-toml'
import type { Test } from 'tap'
import { createAccount, createKey } from '../../src/accounts/index.js'
import { type Appliance, applianceKeyFile, startAppliance } from '../../src/app/index.js'
import { type Clock, systemClock } from '../../src/clock/index.js'
import {
  createApplianceKeyFile,
  environmentName,
  jobNames,
  loadConfig,
  openApplianceKey,
} from '../../src/config/index.js'
import type { StaticRecords } from '../../src/dns/index.js'
import { addDomain } from '../../src/domains/index.js'
import type { EmailRecord } from '../../src/emails/index.js'
import { type Log, silentLog } from '../../src/log/index.js'
import { makeTurns, openStore, type Store } from '../../src/store/index.js'
import { type Contract, contractOf } from './contract.js'
import { databaseOf, databaseSettings, isPostgres } from './postgres.js'
import { areTwo, copyKey, inTurnAt, nodeSettings } from './second-node.js'
import { makeTempDir } from './store.js'
import { makeDatabase, rsaPair } from './template.js'

export interface Posthorn {
  dataDir: string
  url: string
  publicUrl: string
  apiKey: string
  accountId: string
  /** The test's own connection to the same database. */
  store: Store
  /**
   * A request with the account's key; `json` is parsed, `headers` are the response's. Throws for an
   * answer of the API that its OpenAPI document does not allow.
   */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  send(body: object, headers?: Record<string, string>): Promise<Answer>
  email(id: string): Promise<EmailRecord>
  until(id: string, isSo: (email: EmailRecord) => boolean, withinMs?: number): Promise<EmailRecord>
  addAccount(name: string): Promise<{ accountId: string; apiKey: string }>
  appliance: Appliance
}

export interface CallOptions {
  body?: object | string | Buffer
  headers?: Record<string, string>
  /** null: no key at all. */
  key?: string | null
}

export interface Answer {
  status: number
  headers: Headers
  // Tests look into whatever came.
  // biome-ignore lint/suspicious/noExplicitAny: a response body has no type before it was looked at
  json: any
  text: string
}

export interface PosthornOptions {
  clock?: Clock
  /** Like environment variables: `{ POSTHORN_OUTBOUND_PORT: '2525' }`. */
  env?: Record<string, string>
  /** Static records, as in the configuration. */
  dns?: StaticRecords
  dataDir?: string
  /** The log of the main thread; silent by default. */
  log?: Log
  /** Settings that have no environment variable, as in the file. */
  settings?: Record<string, unknown>
  isLate?: boolean
  /** The file with its settings; in the data directory by default. */
  configFile?: string
}

/** Every domain's mail goes straight to this receiver. */
export const directTo = (mx: { port: number }) => ({
  env: {
    POSTHORN_OUTBOUND_ROUTE: 'direct',
    POSTHORN_OUTBOUND_PORT: String(mx.port),
    POSTHORN_OUTBOUND_ALLOW_PRIVATE_ADDRESSES: 'true',
  },
  dns: { '*': { mx: [{ preference: 10, exchange: 'mx.test' }] }, 'mx.test': { a: ['127.0.0.1'] } },
})

/**
 * A whole appliance on free ports with one account, one key and the trusted domain `sender.test`.
 * `route` is `sandbox` unless the environment says otherwise.
 */
export async function startPosthorn(t: Test, options: PosthornOptions = {}): Promise<Posthorn> {
  const clock = options.clock ?? systemClock
  const dataDir = options.dataDir ?? makeTempDir(t)
  const storeUrl = isPostgres ? await databaseOf(dataDir) : undefined
  if (storeUrl === undefined) await makeDatabase(dataDir)
  createApplianceKeyFile(applianceKeyFile(dataDir))
  // The last write slot, which no thread of the appliance has.
  const store = await openStore({
    dataDir,
    url: storeUrl,
    clock,
    turns: makeTurns(),
    slot: 15,
  })
  t.teardown(() => store.close())
  const account = await createAccount({ store, clock }, 'Test')
  const { key: apiKey } = await createKey({ store, clock }, account.id, 'test')
  const key = openApplianceKey(applianceKeyFile(dataDir))
  const signs = { trust: true, rsaPair: await rsaPair() }
  await addDomain({ store, clock, key }, account.id, 'sender.test', signs)

  const file = options.configFile ?? join(dataDir, 'posthorn.toml')
  writeFileSync(file, stringify({ ...options.settings, dns: { static: options.dns ?? {} } }))
  // For the commands that the test runs by itself.
  Object.assign(process.env, databaseSettings(dataDir))
  const configOf = (node: string) =>
    loadConfig({
      file,
      env: {
        POSTHORN_HTTP_PRIVATE_PORT: '0',
        POSTHORN_HTTP_PUBLIC_PORT: '0',
        POSTHORN_HTTP_PUBLIC_HOST: '127.0.0.1',
        POSTHORN_HTTP_RATE_LIMIT_REQUESTS: '0',
        POSTHORN_SANDBOX_SMTP_PORT: '0',
        POSTHORN_INBOUND_HOST: '127.0.0.1',
        POSTHORN_INBOUND_PORT: '0',
        POSTHORN_OUTBOUND_ROUTE: 'sandbox',
        POSTHORN_OUTBOUND_THREADS: '1',
        // The threads' own logs go to stderr.
        POSTHORN_LOG_LEVEL: 'error',
        // A test's clock may run for days, so jobs start only where the test asks for them.
        ...databaseSettings(dataDir),
        ...nodeSettings(node),
        ...Object.fromEntries(jobNames.map((name) => [environmentName(['jobs', name]), 'off'])),
        ...options.env,
      },
    })
  const log = options.log ?? silentLog
  const start = async (of: string, node: string) => {
    const config = configOf(node)
    const isLate = options.isLate === true
    const made = await startAppliance({ config, configFile: file, dataDir: of, log, clock, isLate })
    t.teardown(() => made.close())
    return made
  }
  const appliance = await start(dataDir, 'mail1')
  let url = appliance.privateUrl
  if (areTwo) {
    const other = makeTempDir(t)
    copyKey(dataDir, other)
    const second = await start(other, 'mail2')
    url = await inTurnAt(t, [url, second.privateUrl])
  }

  let contract: Contract | undefined
  const call = async (method: string, path: string, given: CallOptions = {}): Promise<Answer> => {
    const auth: Record<string, string> =
      given.key === null ? {} : { authorization: `Bearer ${given.key ?? apiKey}` }
    const json: Record<string, string> =
      given.body === undefined ? {} : { 'content-type': 'application/json' }
    const raw = typeof given.body === 'string' || given.body instanceof Buffer
    const response = await fetch(url + path, {
      method,
      headers: { ...auth, ...json, ...given.headers },
      body:
        given.body === undefined ? null : raw ? (given.body as string) : JSON.stringify(given.body),
    })
    const text = await response.text()
    const { status, headers } = response
    if (path.startsWith('/v1/')) {
      const coding = given.headers?.['content-encoding'] ?? 'identity'
      const sent = raw ? parsed(decoded(given.body, coding)) : given.body
      contract ??= await contractOf(url)
      contract.check({ method, path, sent, status, text, header: (name) => headers.get(name) })
    }
    return { status, headers, json: parsed(text), text }
  }
  const posthorn: Posthorn = {
    dataDir,
    url,
    publicUrl: appliance.publicUrl,
    apiKey,
    accountId: account.id,
    store,
    appliance,
    call,
    send: (body, headers = {}) => call('POST', '/v1/emails/send', { body, headers }),
    email: async (id) => (await call('GET', `/v1/emails/${id}`)).json.email,
    async until(id, isSo, withinMs = 15_000) {
      for (let waited = 0; ; waited += 10) {
        const email = await posthorn.email(id)
        if (isSo(email)) return email
        if (waited >= withinMs) throw new Error(`The email stays ${JSON.stringify(email)}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    async addAccount(name) {
      const { id } = await createAccount({ store, clock }, name)
      return { accountId: id, apiKey: (await createKey({ store, clock }, id, 'key')).key }
    },
  }
  return posthorn
}

/** The text of a raw body; empty where its coding is unknown or garbled. */
function decoded(body: CallOptions['body'], coding: string): string {
  if (!(body instanceof Buffer) || !/gzip/i.test(coding)) return String(body)
  try {
    return gunzipSync(body).toString()
  } catch {
    return ''
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
