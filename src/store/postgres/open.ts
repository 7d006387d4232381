import pg from 'pg'
import { isUnusable, reportFault, unusable } from '../fault.js'
import { makeIds, readLastIds, writersOfNode } from '../ids.js'
import { ownNodeIn } from '../own-node.js'
import { remembered } from '../remembered.js'
import type { Tables } from '../schema/index.js'
import type { Store, StoreOptions, WayThere } from '../store.js'
import { joinTurns, type WriteTurns } from '../turns.js'
import { kyselyOver } from './driver.js'
import { isRetried, troubleOf } from './errors.js'
import { openServer, type Server } from './server.js'
import type { Queries } from './whole-logs.js'
import { makeWriter } from './writer.js'

// Queries of a thread that run at once; the others wait.
const mostReaders = 4
/** The tables in which the appliance writes every few seconds that it is alive and holds the database. */
const signsOfLife = ['appliance', 'nodes']
// A process without signs of life asks for others' commits this often, and only while somebody wants to know.
const askedEveryMs = 250

/** Opens the database of `url`, which `migrateStore` has made or brought up to date. */
export async function openPostgres(options: StoreOptions & { url: string }): Promise<Store> {
  const { clock } = options
  const node = ownNodeIn(options.turns)
  const server = openServer(options, node)
  const turns = joinTurns(options.turns, options.slot)
  const writer = makeWriter({
    server,
    node,
    watch: () => watch(turns),
    onCommit: options.onCommit,
    wayThere: options.wayThere,
    noteTransaction: turns.noteTransaction,
  })
  const readers = openReaders(server, options)
  // A reader that looks at a log after each commit has not seen all of it while another transaction's numbers were
  // under way.
  let partly = 0
  const read = kyselyOver<Tables>(readers, { onPartly: () => void partly++ })
  const first = async (query: string) => {
    const { rows } = await readers.query<{ id: unknown }>(query)
    return rows[0]?.id
  }
  const last = await readLastIds(first).catch(async (error) => {
    await readers.end()
    throw error
  })
  const asked = countForeign(readers, turns)
  const foreign = () => (node.epoch === 0 ? asked() : node.othersCommits())
  return {
    read,
    write: writer.write,
    byRow: writer.byRow,
    gather: writer.gather,
    node,
    ids: makeIds(clock, writersOfNode(node.number, options.slot), last),
    // The server makes checkpoints by itself.
    checkpoint: async () => {},
    commits: () => turns.commits().deeds + foreign() + partly,
    deeds: () => turns.commits().deeds + foreign(),
    forgetPages: () => {},
    changes: turns.changes,
    async close() {
      await writer.idle()
      await writer.close()
      await readers.end()
    },
  }
}

/** Notes what the transactions of one connection have changed, once they are committed. */
function watch(turns: Pick<WriteTurns, 'noteChange' | 'noteCommit'>) {
  let changed: 'nothing' | 'alive' | 'more' = 'nothing'
  let isChanging = false
  return {
    onRows(table: string) {
      if (!signsOfLife.includes(table)) changed = 'more'
      else if (changed === 'nothing') changed = 'alive'
      if (remembered.some((name) => name === table)) isChanging = true
    },
    afterCommit() {
      if (isChanging) turns.noteChange()
      if (changed !== 'nothing') turns.noteCommit(changed === 'more')
      isChanging = false
      changed = 'nothing'
    },
  }
}

/** Some connections that read, to the server that accepts writes: only that has everything that was committed. */
function openReaders(
  server: Server,
  { onFault, wayThere }: Pick<StoreOptions, 'onFault' | 'wayThere'>,
): Queries & Pick<pg.Pool, 'end'> {
  let pool: pg.Pool | undefined
  let losses: number | undefined
  const current = () => {
    if (pool !== undefined && losses === server.losses()) return pool
    // Queries under way there fail by themselves.
    void pool?.end().catch(() => {})
    losses = server.losses()
    const { Client } = server
    pool = new pg.Pool({ ...server.config({ readOnly: true }), Client, max: mostReaders })
    pool.on('error', (error) => {
      reportFault(error, onFault)
      server.lostBy(error)
    })
    // A running query reports the error to its caller; without a listener it would end the thread.
    pool.on('connect', (client) => client.on('error', () => {}))
    return pool
  }
  const query = async (...asked: Parameters<pg.Pool['query']>) => {
    try {
      // A free connection still works while new ones are refused, as after a change of the password.
      if (pool === undefined || losses !== server.losses() || pool.idleCount === 0)
        await server.ready()
      return await server.answered(() => ask(server, current(), wayThere, asked))
    } catch (error) {
      reportFault(error, onFault)
      server.lostBy(error)
      const isAway = troubleOf(error)?.passes === true && !isRetried(error)
      throw isAway && !isUnusable(error) ? unusable(error) : error
    }
  }
  return {
    query: query as unknown as pg.Pool['query'],
    end: async () => {
      if (pool?.ending === false) await pool.end()
    },
  }
}

/** Asks on a connection; where all are in use it waits for one. */
async function ask(
  server: Pick<Server, 'unconnected'>,
  pool: pg.Pool,
  wayThere: WayThere | undefined,
  asked: Parameters<pg.Pool['query']>,
): Promise<unknown> {
  const began = performance.now()
  const client = await pool.connect().catch((error: unknown) => {
    throw server.unconnected(error)
  })
  wayThere?.waited((performance.now() - began) / 1_000)
  wayThere?.asked()
  let lost: Error | undefined
  try {
    return await client.query(...asked)
  } catch (error) {
    // An error that the server reports is not a fault of the connection.
    if (!(error instanceof pg.DatabaseError)) lost = error instanceof Error ? error : new Error()
    throw error
  } finally {
    client.release(lost)
  }
}

/**
 * Another number some time after a commit of another process: the server is asked from time to time, while somebody
 * asks here. A commit may be missed after a transaction of our own of which nobody knows whether it began.
 */
function countForeign(
  readers: Queries,
  { transactions }: Pick<WriteTurns, 'transactions'>,
): () => number {
  let known = 0
  let first: number | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  const ask = async () => {
    const { rows } = await readers.query<{ next: number }>(
      'select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next',
    )
    const next = rows[0]?.next
    if (next === undefined) return
    // The appliance's own commits are counted when they happen, and its signs of life do not count.
    const others = next - transactions().begun
    first ??= others
    known = Math.max(known, others - first)
  }
  return () => {
    const now = performance.now()
    if (now - askedAt >= askedEveryMs) {
      askedAt = now
      // The next question gets the answer; a server that is away has no news.
      ask().catch(() => {})
    }
    return known
  }
}
