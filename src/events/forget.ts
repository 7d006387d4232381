import { nextTurn } from '../bounded/index.js'
import type { Log } from '../log/index.js'
import { idsIn, type Store, storedTexts, type Tx, writeApart } from '../store/index.js'
import { makeWrittenBy } from './written-by.js'

/** How long each account's events are kept at present. */
export type Retentions = () => Promise<ReadonlyMap<string, number>>

// A write then takes some milliseconds.
const rowsAWrite = 200
const rowsAtOnce = 500

interface Row {
  id: number
  account_id: string
  at: number
}

/** A log whose ids rise in the order of arrival; each row belongs to an account. */
export interface OldRows {
  /** The name under which the walk's position is remembered. */
  log: string
  /** The next rows after `id` in order; never the newest of all, whose number would be given again. */
  after(id: number, limit: number): Promise<Row[]>
  remove(tx: Tx, ids: readonly number[]): Promise<unknown>
}

/**
 * Deletes events of mails that are older than their account keeps them and already counted in the
 * figures.
 */
export function makeForgetEvents(deps: ForgetDeps, retentions: Retentions) {
  const { read } = deps.store
  const rows: OldRows = {
    log: 'events',
    after: (id, limit) =>
      read
        .selectFrom('events')
        .select(['id', 'account_id', 'at'])
        .where('id', '>', id)
        .where('id', '<', (eb) => eb.selectFrom('events').select(({ fn }) => fn.max('id').as('id')))
        .where('id', '<=', (eb) => eb.selectFrom('figure_cursors').select('event_id'))
        .orderBy('id')
        .limit(limit)
        .execute(),
    remove: (tx, ids) => tx.deleteFrom('events').where('id', 'in', idsIn(ids, 'integer')).execute(),
  }
  return makeForgetOld(deps, rows, retentions)
}

/**
 * Deletes rows that are older than their account keeps them. It walks over the log from its oldest
 * row, once for each retention time, and remembers its position: rows that one account keeps long are
 * not read repeatedly for an account that does not. Resolves with the number deleted.
 */
export function makeForgetOld(deps: ForgetDeps, rows: OldRows, retentions: Retentions) {
  const { read, write } = deps.store
  const writtenBy = makeWrittenBy(rows.after)
  return async (now: number, signal: AbortSignal): Promise<number> => {
    const accounts = new Map<number, Set<string>>()
    for (const [accountId, keepMs] of await retentions()) {
      accounts.set(keepMs, (accounts.get(keepMs) ?? new Set()).add(accountId))
    }
    const known = await read
      .selectFrom('retention_walks')
      .select(['keep_ms', 'accounts', 'cursor'])
      .where('log', '=', rows.log)
      .execute()
    let gone = 0
    for (const [keepMs, those] of accounts) {
      const before = known.find(({ keep_ms }) => keep_ms === keepMs)
      const walked = new Set(storedTexts(before?.accounts ?? '[]') ?? [])
      // An account that now keeps its rows for less time has old rows before the cursor.
      const isNew = [...those].some((id) => !walked.has(id))
      const ages = { until: now - keepMs, by: (some: readonly Row[]) => writtenBy(some, now) }
      const walk = { accounts: those, cursor: isNew ? 0 : (before?.cursor ?? 0), gone: 0 }
      while (!signal.aborted && (await step(deps, rows, walk, ages))) {
        // Lets others have their turn of the loop, as most steps only read.
        await nextTurn()
      }
      gone += walk.gone
      const isSame = walked.size === those.size && !isNew && walk.cursor === before?.cursor
      if (isSame) continue
      const came = { accounts: JSON.stringify([...those]), cursor: walk.cursor }
      await write((tx) =>
        tx
          .insertInto('retention_walks')
          .values({ log: rows.log, keep_ms: keepMs, ...came })
          .onConflict((conflict) => conflict.columns(['log', 'keep_ms']).doUpdateSet(came))
          .execute(),
      )
    }
    const left = known.filter(({ keep_ms }) => !accounts.has(keep_ms))
    for (const { keep_ms } of left) {
      await write((tx) =>
        tx
          .deleteFrom('retention_walks')
          .where('log', '=', rows.log)
          .where('keep_ms', '=', keep_ms)
          .execute(),
      )
    }
    return gone
  }
}

interface ForgetDeps {
  store: Store
  log: Log
  /** Waited for after each write. */
  rest?: () => Promise<void>
}

interface Walk {
  accounts: ReadonlySet<string>
  /** The last row that was read. */
  cursor: number
  gone: number
}

/** Walks over some rows; tells whether there may be more that happened before `until`. */
async function step(
  { store, log, rest }: ForgetDeps,
  { after, remove }: OldRows,
  walk: Walk,
  { until, by }: { until: number; by: (rows: readonly Row[]) => Promise<number[]> },
): Promise<boolean> {
  const rows = await after(walk.cursor, rowsAtOnce)
  const young = (await by(rows)).findIndex((at) => at >= until)
  const old = young === -1 ? rows : rows.slice(0, young)
  const theirs = old.filter(({ account_id }) => walk.accounts.has(account_id)).map(({ id }) => id)
  for (let from = 0; from < theirs.length; from += rowsAWrite) {
    const ids = theirs.slice(from, from + rowsAWrite)
    const { written, faults, left, cause } = await writeApart(store.write, ids, remove)
    walk.gone += written.length
    if (left.length > 0) throw cause
    for (const { item, error } of faults) {
      log.error({ error, event: item }, 'An old event cannot be deleted; it stays')
    }
    await rest?.()
  }
  walk.cursor = old.at(-1)?.id ?? walk.cursor
  return old.length === rowsAtOnce
}
