import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import type { Test } from 'tap'
import { type ApplianceKey, openApplianceKey } from '../../src/config/index.js'
import { type FakeMx, fakeMx, type MxScript } from './fake-mx.js'
import { shapedTo } from './outbound.js'
import { type PostgresServer, startPostgres } from './postgres.js'
import { cliEntry, freePorts, type Serving, serve } from './process.js'
import { makeTempDir } from './store.js'

/**
 * Appliances over one PostgreSQL, each a process with a data directory of its own, and an MX for all mail that they
 * send.
 */
export interface NodesRig {
  mx: FakeMx
  server: PostgresServer
  apiKey: string
  /** The data directory of the node of this name; a new one is a copy of the first node's. */
  dirOf(name: string): string
  /** The appliance key of all of them. */
  key: ApplianceKey
  /** Starts the node of this name, or starts it again; `args` are Node's own. */
  start(name: string, env?: Record<string, string>, args?: readonly string[]): Promise<Serving>
  /** A command beside a node. */
  run(
    name: string,
    args: readonly string[],
    env?: Record<string, string>,
  ): Promise<{ status: number | null; stdout: string; stderr: string }>
  ask<Row>(sql: string): Promise<Row[]>
  /** Hands mails in; resolves with the answer. */
  send(node: Serving, mails: readonly object[], key?: string): Promise<Response>
}

/** `settings`: more of the file that all nodes have; `counts`: the server counts statements. */
export async function nodesRig(
  t: Test,
  script: MxScript = {},
  settings = '',
  { counts = false, roomMb }: { counts?: boolean; roomMb?: number | undefined } = {},
): Promise<NodesRig> {
  const server = await startPostgres(t, { counts, ...(roomMb !== undefined && { roomMb }) })
  const ask = async <Row>(sql: string, database = 'mail'): Promise<Row[]> => {
    const client = new pg.Client(`${server.url}/${database}`)
    await client.connect()
    const { rows } = await client.query(sql).finally(() => client.end())
    return rows as Row[]
  }
  await ask('create database mail', 'postgres')
  const store = {
    POSTHORN_STORE_URL: `${server.url}/mail`,
    POSTHORN_STORE_TRUST_DURABILITY: 'true',
  }
  const first = makeTempDir(t)
  const mx = await fakeMx(t, script)
  const made = spawnSync(
    process.execPath,
    [cliEntry, 'init', '--sandbox', '--json', '--data', first],
    { encoding: 'utf8', env: { ...process.env, ...store } },
  )
  if (made.status !== 0) throw new Error(`init failed: ${made.stderr}`)
  const { apiKey } = JSON.parse(made.stdout)
  writeFileSync(
    join(first, 'posthorn.toml'),
    `[outbound]\nroute = "direct"\nport = ${mx.port}\nallow_private_addresses = true\nthreads = 1\nwarm_up = "off"\n` +
      `[node]\njoin = true\n[http.rate_limit]\nrequests = 0\n[dns.static."mx.test"]\na = ["127.0.0.1"]\n` +
      `[webhooks]\nallow = ["127.0.0.1"]\n` +
      `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n${settings}`,
  )
  writeFileSync(join(first, 'shaping.toml'), shapedTo({ connections: 3, messages: 10_000 }))
  const dirs = new Map<string, string>()
  const dirOf = (name: string) => {
    const known = dirs.get(name)
    if (known !== undefined) return known
    const dir = dirs.size === 0 ? first : makeTempDir(t)
    for (const file of ['appliance.key', 'posthorn.toml', 'shaping.toml'])
      if (dir !== first) cpSync(join(first, file), join(dir, file))
    dirs.set(name, dir)
    return dir
  }
  const envOf = (name: string) => ({ ...store, POSTHORN_NODE_NAME: name })
  return {
    mx,
    server,
    apiKey,
    key: openApplianceKey(join(first, 'appliance.key')),
    ask,
    dirOf,
    start: (name, env = {}, args = []) => serve(t, dirOf(name), { ...envOf(name), ...env }, args),
    async run(name, args, env = {}) {
      const words = [cliEntry, ...args, '--data', dirOf(name)]
      const child = spawn(process.execPath, words, {
        env: { ...process.env, ...freePorts, ...envOf(name), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const [stdout, stderr, [status]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ])
      return { status, stdout, stderr }
    },
    send: (node, emails, key) =>
      fetch(`${node.url}/v1/emails/batch`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        body: JSON.stringify({ emails }),
      }),
  }
}

/** Mails whose recipients tell them apart. */
export const mailsTo = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    from: 'a@example.test',
    to: `${name}-${n}@d${n % 4}.test`,
    subject: 'Hello',
    html: '<p>Hello',
  }))

/** Resolves when `isSo` holds; fails after some time, with the last value. */
export async function becomes<T>(
  ask: () => Promise<T>,
  isSo: (found: T) => boolean,
  withinMs: number,
): Promise<T> {
  const began = performance.now()
  for (;;) {
    const found = await ask()
    if (isSo(found)) return found
    if (performance.now() - began > withinMs) throw new Error(`It stays ${JSON.stringify(found)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
