import pg from 'pg'
import { reportFault } from '../fault.js'
import { makeIds, readLastIds, writersOf } from '../ids.js'
import { remembered } from '../remembered.js'
import type { Tables } from '../schema/index.js'
import type { Store, StoreOptions } from '../store.js'
import { joinTurns, type WriteTurns } from '../turns.js'
import { connectionTo } from './connect.js'
import { kyselyOver } from './driver.js'
import { makeWriter } from './writer.js'

// Queries of a thread that run at once; the others wait.
const mostReaders = 4
/** The table in which the appliance writes every some seconds that it is alive. */
const signOfLife = 'appliance'
// Others' commits are asked for this often, and only while somebody wants to know.
const askedEveryMs = 250

/** Opens the database of `url`, which `migrateStore` has made or brought up to date. */
export async function openPostgres(options: StoreOptions & { url: string }): Promise<Store> {
  const { url, clock } = options
  const turns = joinTurns(options.turns, options.slot)
  const writer = makeWriter({
    connection: connectionTo(url, { readOnly: false }),
    watch: () => watch(turns),
    onCommit: options.onCommit,
  })
  const pool = new pg.Pool({ ...connectionTo(url, { readOnly: true }), max: mostReaders })
  pool.on('error', (error) => reportFault(error, options.onFault))
  const read = kyselyOver<Tables>(pool)
  const first = async (query: string) => {
    const { rows } = await pool.query<{ id: unknown }>(query)
    return rows[0]?.id
  }
  const last = await readLastIds(first).catch(async (error) => {
    await pool.end()
    throw error
  })
  const foreign = countForeign(pool)
  return {
    read,
    write: writer.write,
    byRow: writer.byRow,
    gather: writer.gather,
    ids: makeIds(clock, writersOf(options.slot), last),
    // The server does so by itself.
    checkpoint: async () => {},
    commits: () => turns.commits().all + foreign(),
    deeds: () => turns.commits().deeds + foreign(),
    forgetPages: () => {},
    changes: turns.changes,
    async close() {
      await writer.idle()
      await writer.close()
      if (!pool.ending) await pool.end()
    },
  }
}

/** Notes what the transactions of one connection have changed, once they are committed. */
function watch(turns: Pick<WriteTurns, 'noteChange' | 'noteCommit'>) {
  let changed: 'nothing' | 'alive' | 'more' = 'nothing'
  let isChanging = false
  return {
    onRows(table: string) {
      if (table !== signOfLife) changed = 'more'
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

/** Another number some time after a commit of anybody: the server is asked now and then, while somebody asks here. */
function countForeign(pool: pg.Pool): () => number {
  let known = 0
  let askedAt = Number.NEGATIVE_INFINITY
  const ask = async () => {
    const { rows } = await pool.query<{ next: number }>(
      'select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next',
    )
    known = rows[0]?.next ?? known
  }
  return () => {
    const now = performance.now()
    if (now - askedAt >= askedEveryMs) {
      askedAt = now
      // Whoever asks again is told then; a server that is away has no news.
      ask().catch(() => {})
    }
    return known
  }
}
