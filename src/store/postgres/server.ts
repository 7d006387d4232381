import type { Kysely } from 'kysely'
import pg from 'pg'
import { isUnusable, unusable } from '../fault.js'
import type { OwnNode } from '../own-node.js'
import type { Tables } from '../schema/index.js'
import { serverAdvice, wordsOfServer } from '../server-advice.js'
import { clientReading, connectionTo } from './connect.js'
import { kyselyOver } from './driver.js'
import { isRefused, isRetried, troubleOf } from './errors.js'

// A query without an answer for so long is a reason to ask whether the server is there at all.
const patienceMs = 600
const lookEveryMs = 200
// The time that a healthy but busy server needs to accept a connection and to answer `select`.
const probeMs = 1_200
// For so long nobody looks again for a server that was not found: callers are refused at once.
const awayMs = 250

interface Asked {
  since: number
  /** The losses before it: after another one its connection is of no use. */
  losses: number
  fail: (error: Error) => void
}

/** The server that takes writes, of one or several hosts, as a thread knows it. */
export interface Server {
  /** The settings of a connection to it, and the class that makes one. */
  config(options: { readOnly: boolean }): pg.ClientConfig
  readonly Client: typeof pg.Client
  /** Another number after each loss: earlier connections are of no use, whichever host it is now. */
  losses(): number
  /**
   * Resolves when the server is there, as far as is known. Rejects with a 503 at once where it was not found a moment
   * ago.
   */
  ready(): Promise<void>
  /** The answer of `ask`; rejects when none comes and the server does not answer anybody any more. */
  answered<T>(ask: () => Promise<T>): Promise<T>
  /** Whether the error says that the connection is of no use any more; then the server is searched for. */
  lostBy(error: unknown): boolean
  /** The 503 for a caller that got no connection, whatever the server says: existing connections may go on. */
  unconnected(error: unknown): Error
}

/**
 * The way to the database of `url`, which may name several hosts: the one that accepts writes is searched for, and
 * again after each loss, because a failover makes another one the primary.
 */
export function openServer(
  { url, passwordFile }: { url: string; passwordFile?: string | undefined },
  node?: Pick<OwnNode, 'number'>,
): Server {
  const urls = addressesOf(url)
  const Client = clientReading(passwordFile)
  const asked = new Set<Asked>()
  let at = 0
  let isLost = urls.length > 1
  let losses = 0
  let finding: Promise<void> | undefined
  let missed: { error: unknown; at: number } | undefined
  let looking: NodeJS.Timeout | undefined

  const find = async () => {
    const faults: unknown[] = []
    for (let tried = 0; tried < urls.length; tried++) {
      const candidate = (at + tried) % urls.length
      try {
        await requireWritable(Client, urls[candidate] ?? '')
        if (candidate !== at) losses++
        at = candidate
        isLost = false
        missed = undefined
        return
      } catch (error) {
        faults.push(error)
      }
    }
    const error = urls.length === 1 ? faults[0] : faultOfAll(faults)
    missed = { error, at: performance.now() }
    throw unusable(error)
  }
  const lose = () => {
    if (!isLost) losses++
    isLost = true
  }
  const look = async () => {
    const now = performance.now()
    const isLate = [...asked].some(({ since }) => now - since >= patienceMs)
    if (!isLate || finding !== undefined) return
    finding = find()
    let cause: unknown
    try {
      await finding
    } catch (error) {
      lose()
      cause = error
    } finally {
      finding = undefined
    }
    // Those too that wait for a server that is gone, while another one has taken its place.
    for (const one of asked)
      if (cause !== undefined || one.losses !== losses) one.fail(noAnswer(cause))
  }
  return {
    Client,
    config: ({ readOnly }) =>
      connectionTo(urls[at] ?? '', { readOnly, ...(node && { node: node.number }) }),
    losses: () => losses,
    async ready() {
      if (!isLost) return
      if (missed !== undefined && performance.now() - missed.at < awayMs) {
        throw unusable(missed.error)
      }
      finding ??= find().finally(() => {
        finding = undefined
      })
      await finding
    },
    async answered(ask) {
      const one: Asked = { since: performance.now(), losses, fail: () => {} }
      const refused = new Promise<never>((_, reject) => {
        one.fail = reject
      })
      asked.add(one)
      looking ??= setInterval(look, lookEveryMs).unref()
      try {
        return await Promise.race([ask(), refused])
      } finally {
        asked.delete(one)
        if (asked.size === 0) {
          clearInterval(looking)
          looking = undefined
        }
      }
    },
    lostBy(error) {
      if (isUnusable(error)) return true
      // A transaction that lost against another one runs again, on the same server.
      if (troubleOf(error)?.passes !== true || isRetried(error) || isRefused(error)) return false
      lose()
      return true
    },
    unconnected(error) {
      if (isUnusable(error)) return error
      isLost = true
      missed = { error, at: performance.now() }
      return unusable(error)
    },
  }
}

/** A separate connection to `url`, for code that makes tables; it ends after `work`. */
export async function withConnection<T>(
  url: string,
  work: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  const server = openServer({ url })
  await server.ready()
  const client = new pg.Client(server.config({ readOnly: false }))
  try {
    // When the connection is refused, the library leaves its socket open, which would keep the process running.
    await client.connect()
    return await work(kyselyOver<Tables>(client))
  } finally {
    await client.end()
  }
}

/** `postgres://user@one:5432,two/database` as an address for each host. */
export function addressesOf(url: string): string[] {
  const parts = /^(\w+:\/\/(?:[^@/?]*@)?)([^@/?]*)(\/.*)$/.exec(url)
  if (parts === null) return [url]
  const [, before = '', hosts = '', after = ''] = parts
  return hosts.split(',').map((host) => `${before}${host}${after}`)
}

/**
 * Rejects where the server does not answer in time, or accepts no writes: a standby, or a primary that was made
 * read-only.
 */
async function requireWritable(Client: typeof pg.Client, url: string): Promise<void> {
  const client = new Client({
    ...connectionTo(url, { readOnly: false }),
    connectionTimeoutMillis: probeMs,
    query_timeout: probeMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ refuses: number }>(
      "select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as refuses",
    )
    if (rows[0]?.refuses === 1) throw new Standby(client.host)
  } finally {
    // A server that does not answer does not close the connection properly either.
    client.end().catch(() => {})
  }
}

/** A server that accepts no writes. The code is that of a statement that it would refuse. */
class Standby extends Error {
  readonly code = '25006'
  readonly severity = 'ERROR'

  constructor(host: string) {
    super(`${host} is a standby, or read-only: it takes no writes`)
  }
}

/**
 * What all hosts said. Its code and its cause are those of the one that says most: a server that refuses this
 * appliance, before one that is away, before a standby.
 */
function faultOfAll(faults: readonly unknown[]): Error {
  const said = [...new Set(faults.map(wordsOfServer))].join('; ')
  const primaries = faults.filter((one) => !(one instanceof Standby))
  const most = primaries.find(serverAdvice) ?? primaries[0] ?? faults[0]
  return Object.assign(new Error(said, { cause: most }), most)
}

const noAnswer = (cause: unknown) =>
  Object.assign(new Error('The database does not answer', { cause }), { code: 'ETIMEDOUT' })
