import type { UpdateResult } from 'kysely'
import { cell, idsOf, prepared, rowsOf, type Tx, unindexed } from '../store/index.js'
import { type Claim, type Claimed, findDue, type StreamKey, type WantedRows } from './due-rows.js'
import { firstLeaseOf, leaseMs, leaseOf } from './lease.js'

/*
 * The queue's hot SQL. A lease moves `due_at` to its own end, so what is in flight leaves the range
 * that the next claim reads: each claim costs its own rows, whatever else waits.
 *
 *   waiting (lease null, due_at = when) ──claim──▶ leased (lease = `leaseOf`, due_at = lease end)
 *      ▲──────────────── settle: deferred ─────────────┤
 *      ▲──────────────── releaseLeases (restart) ──────┤
 *      ▲──────────────── unclaim: not tried ───────────┤
 *                                                      └── settle: ended ──▶ `deliveries`
 */

/** Who claims: the appliance by its number, its thread by `leaseOf`. */
export interface Claimant {
  node: number
  lease: number
}

/**
 * Takes up to `limit` due deliveries of each stream, the longest due first, and leases them to the claimant. Mail of a
 * stopped account waits. By row: a row that another one takes meanwhile is not taken.
 */
export async function claim(
  tx: Tx,
  wants: readonly WantedRows[],
  { now, ...claimant }: Claimant & { now: number },
): Promise<Claim[]> {
  const claims = await findDue(tx, wants, { now, node: claimant.node })
  const taken = claims.flatMap((one) => one.taken)
  if (taken.length === 0) return claims
  const leased = await leaseTo(tx, taken, { now, ...claimant })
  if (leased.size === taken.length) return claims
  return claims.map((one) => ({ ...one, taken: one.taken.filter(({ id }) => leased.has(id)) }))
}

/**
 * The ids of those that are leased to the claimant now, without rows that somebody else has taken since they were
 * found.
 */
async function leaseTo(
  tx: Tx,
  due: readonly Claimed[],
  { now, ...claimant }: Claimant & { now: number },
): Promise<ReadonlySet<number>> {
  const ids = JSON.stringify(due.map(({ id }) => id))
  const rows = await leaseRows(tx, { ids, now, until: now + leaseMs, ...claimant })
  const leased = new Set(rows.map(({ id }) => id))
  if (leased.size !== due.length) await refuseLeftDue(tx, due, { leased, now, node: claimant.node })
  const taken = due.filter(({ id }) => leased.has(id))
  const emailIds = JSON.stringify([...new Set(taken.map(({ emailId }) => emailId))])
  await markSending(tx, { emailIds })
  return leased
}

/** Whatever keeps a row from being leased, its mail would be sent again and again. */
async function refuseLeftDue(
  tx: Tx,
  due: readonly Claimed[],
  { leased, now, node }: { leased: ReadonlySet<number>; now: number; node: number },
): Promise<void> {
  const ids = JSON.stringify(due.flatMap(({ id }) => (leased.has(id) ? [] : [id])))
  const { length } = await dueAmong(tx, { ids, now, node })
  if (length > 0) throw new Error(`${length} of ${due.length} deliveries did not take their lease`)
}

const dueAmong = prepared<{ ids: string; now: number; node: number }, { id: number }>(
  (db, { ids, now, node }) =>
    db
      .selectFrom('queue')
      .select('id')
      .where('id', 'in', idsOf(ids, 'integer'))
      .where(unindexed<number>('node'), '=', node)
      .where('due_at', '<=', now),
)

const leaseRows = prepared<Claimant & { ids: string; now: number; until: number }, { id: number }>(
  (db, { ids, lease, node, now, until }) =>
    db
      .updateTable('queue')
      .set({ lease, due_at: until })
      .where('id', 'in', idsOf(ids, 'integer'))
      .where(unindexed<number>('due_at'), '<=', now)
      // Another appliance may have taken them over meanwhile.
      .where(unindexed<number>('node'), '=', node)
      .returning('id'),
)

const markSending = prepared<{ emailIds: string }, UpdateResult>((db, { emailIds }) =>
  db
    .updateTable('emails')
    .set({ status: 'sending' })
    .where('id', 'in', idsOf(emailIds, 'text'))
    .where('status', 'in', ['queued', 'scheduled']),
)

/**
 * Gives back rows that were claimed under `lease` and not tried, in one statement: each is due again at its `dueAt`.
 */
export async function unclaim(tx: Tx, claimed: readonly Claimed[], lease: number): Promise<void> {
  const json = JSON.stringify(claimed.map(({ id, dueAt }) => [id, dueAt]))
  await giveBack(tx, { json, lease })
}

const giveBack = prepared<{ json: string; lease: number }, UpdateResult>((db, { json, lease }) =>
  db
    .updateTable('queue')
    .from(rowsOf(json))
    .set({ lease: null, due_at: cell(1, 'integer') })
    .where('queue.id', '=', cell(0, 'integer'))
    .where('lease', '=', lease),
)

/** A claim of which nobody knows whether it was committed: the database was gone before it answered. */
export interface LostClaim {
  streams: readonly StreamKey[]
  lease: number
  /** When it was made. */
  at: number
}

/**
 * Makes due again what such a claim has leased, as nobody has it in hand. A claim that is still under way is waited
 * for. Each stream is one search, by the end of its leases.
 */
export async function releaseLost(
  tx: Tx,
  { streams, lease, at }: LostClaim,
  { now, node }: { now: number; node: number },
): Promise<number> {
  let released = 0
  for (const { lane, class: of, accountId } of streams) {
    const { numUpdatedRows } = await tx
      .updateTable('queue')
      .set({ lease: null, due_at: now })
      .where('node', '=', node)
      .where('lane', '=', lane)
      .where('class', '=', of)
      .where('account_id', '=', accountId)
      .where('due_at', '=', at + leaseMs)
      .where(unindexed<number>('lease'), '=', lease)
      .executeTakeFirst()
    released += Number(numUpdatedRows)
  }
  return released
}

/**
 * Makes due at once what `thread` held when it died, and what an earlier start of this appliance held; a restart calls
 * it before anything else. The remote servers may have taken this mail already: these are the only possible duplicates.
 */
export async function releaseLeases(
  tx: Tx,
  { thread, node, now }: { thread: number; node: { number: number; epoch: number }; now: number },
): Promise<void> {
  await tx
    .updateTable('queue')
    .set({ lease: null, due_at: now })
    .where(({ eb, or }) =>
      or([eb('lease', '=', leaseOf(node, thread)), eb('lease', '<', firstLeaseOf(node))]),
    )
    .where(unindexed<number>('node'), '=', node.number)
    .execute()
}
