import type { Clock } from '../clock/index.js'
import type { LandEvents } from '../events/index.js'
import { idsIn, lockedFree, type Store, type Tx, unindexed, writeApart } from '../store/index.js'
import type { StreamKey } from './due-rows.js'
import { adoptingThread, firstLeaseOf, leaseMs, leaseOf } from './lease.js'
import { type Settlement, settle } from './settle.js'
import type { StreamDue } from './streams.js'

/*
 * What an appliance has left that is gone, or that gives up its mail: others over the same database take it over, row by
 * row. Whoever it was sees it: its settlements count nothing for rows whose lease is another one.
 *
 *   waiting, node = gone ──adopt──▶ waiting, node = mine
 *   leased,  node = gone ──adopt──▶ waiting, node = mine, one attempt more, in doubt
 */

/** Whose rows are taken over: rows that were leased have this epoch or an earlier one. */
export interface GoneNode {
  number: number
  epoch: number
  name: string
}

interface AdoptDeps {
  store: Pick<Store, 'read' | 'byRow' | 'node'>
  clock: Pick<Clock, 'now'>
  land: LandEvents
}

export interface Adopting {
  /** Several appliances may take over at the same time: which of them this one is. Each has slices of its own. */
  rank: number
  of: number
  /** Mail in hand there stays: that node is alive, and only gives up mail that it has not begun. */
  spares?: boolean
  signal: AbortSignal
  /** Called after each commit, so that transactional mail need not wait for all the rest. */
  onTaken: (due: readonly StreamDue[]) => void
}

// Rows that one statement takes over: that takes some tens of milliseconds of the server.
const perSlice = 1_000
// One look at the rows that are left, in the order in which they have to leave, serves many slices.
const perLook = 20_000
const perSettle = 64

/**
 * Takes over the rows that it finds, transactional mail first; resolves with how many deliveries it took. To be called
 * again.
 */
export async function adopt(deps: AdoptDeps, from: GoneNode, how: Adopting): Promise<number> {
  const waiting = await adoptWaiting(deps, from, how)
  return how.spares ? waiting : waiting + (await adoptInHand(deps, from, how))
}

async function adoptWaiting(
  { store }: AdoptDeps,
  from: GoneNode,
  { rank, of, signal, onTaken }: Adopting,
): Promise<number> {
  const found = await store.read
    .selectFrom('queue')
    .select('id')
    .where('node', '=', from.number)
    .where('lease', 'is', null)
    .orderBy('class')
    .orderBy('due_at')
    .limit(perLook)
    .execute()
  let taken = 0
  // When only a few are left, every appliance tries all of them.
  const slices = Math.ceil(found.length / perSlice)
  for (let slice = 0; slice < slices && !signal.aborted; slice++) {
    if (slices > of && slice % of !== rank) continue
    const ids = found.slice(slice * perSlice, (slice + 1) * perSlice).map(({ id }) => id)
    const rows = await store.byRow((tx) => moveHere(tx, store.node.number, from, ids))
    taken += rows.length
    if (rows.length > 0) onTaken(rows)
  }
  return taken
}

const moveHere = (tx: Tx, node: number, from: GoneNode, ids: readonly number[]) =>
  tx
    .updateTable('queue')
    // The address from which it was put off belongs to another machine.
    .set({ node, source: null })
    .where(
      'id',
      'in',
      tx
        .selectFrom('queue as found')
        .select('found.id')
        .where('found.id', 'in', idsIn(ids, 'integer'))
        .where(unindexed<number>('found.node'), '=', from.number)
        .where('found.lease', 'is', null)
        .modifyEnd(lockedFree),
    )
    .returning(['lane', 'class', 'account_id as accountId', 'due_at as dueAt'])
    .execute()

/**
 * Takes over what the node had in hand when it went. That mail may have left, so it has one attempt more, with an
 * unknown end.
 */
async function adoptInHand(
  deps: AdoptDeps,
  from: GoneNode,
  { signal, onTaken }: Adopting,
): Promise<number> {
  const { store } = deps
  let taken = 0
  while (!signal.aborted) {
    const found = await store.read
      .selectFrom('queue')
      .select('id')
      .where('lease', 'is not', null)
      .where('lease', '<', leasesUpTo(from))
      .where(unindexed<number>('node'), '=', from.number)
      .limit(perSettle)
      .execute()
    const ids = found.map(({ id }) => id)
    const { results, faults, left, cause } = await writeApart(store.byRow, ids, (tx, some) =>
      takeInHand(deps, tx, from, some),
    )
    if (left.length > 0) throw cause
    // Whatever keeps its end from being written, it is tried again as after any restart.
    const unwritten = faults.map(({ item }) => item)
    const freed = await store.byRow((tx) => freeHere(deps, tx, from, unwritten))
    const due = [...results.flat(), ...freed]
    taken += due.length
    if (due.length === 0) break
    onTaken(due)
  }
  return taken
}

const leasesUpTo = ({ epoch }: GoneNode) => firstLeaseOf({ epoch: epoch + 1 })

async function takeInHand(
  { store: { node }, clock, land }: AdoptDeps,
  tx: Tx,
  from: GoneNode,
  ids: readonly number[],
): Promise<StreamDue[]> {
  const rows = await tx
    .selectFrom('queue')
    .select(['id', 'email_id', 'account_id', 'recipient', 'lane', 'class', 'attempts', 'due_at'])
    .where('id', 'in', idsIn(ids, 'integer'))
    .where(unindexed<number>('node'), '=', from.number)
    .where('lease', '<', leasesUpTo(from))
    .modifyEnd(lockedFree)
    .execute()
  if (rows.length === 0) return []
  const now = clock.now()
  const lease = leaseOf(node, adoptingThread)
  await tx
    .updateTable('queue')
    .set({ node: node.number, lease })
    .where(
      'id',
      'in',
      idsIn(
        rows.map(({ id }) => id),
        'integer',
      ),
    )
    .execute()
  const settlements = rows.map(
    (row): Settlement => ({
      kind: 'deferred',
      id: row.id,
      emailId: row.email_id,
      accountId: row.account_id,
      class: row.class,
      recipient: row.recipient,
      // The time of the claim.
      startedAt: Math.min(now, row.due_at - leaseMs),
      attempts: row.attempts + 1,
      reply: saysLost(from),
      remote: null,
      tls: null,
      transcript: saysLost(from),
      dueAt: now,
      source: null,
      putOffBy: null,
      cause: 'in-doubt',
    }),
  )
  await settle(tx, settlements, { lease, now, land })
  return rows.map((row) => streamOf(row, now))
}

async function freeHere(
  { store: { node }, clock }: AdoptDeps,
  tx: Tx,
  from: GoneNode,
  ids: readonly number[],
): Promise<StreamDue[]> {
  if (ids.length === 0) return []
  const now = clock.now()
  const rows = await tx
    .updateTable('queue')
    .set({ node: node.number, lease: null, due_at: now, source: null })
    .where('id', 'in', idsIn(ids, 'integer'))
    .where(unindexed<number>('node'), '=', from.number)
    .where('lease', '<', leasesUpTo(from))
    .returning(['lane', 'class', 'account_id'])
    .execute()
  return rows.map((row) => streamOf(row, now))
}

const streamOf = (
  row: { lane: string; class: StreamDue['class']; account_id: string },
  dueAt: number,
): StreamDue => ({ lane: row.lane, class: row.class, accountId: row.account_id, dueAt })

/** Shown in the mail's timeline, and where its last answer stands. */
export const saysLost = ({ name }: Pick<GoneNode, 'name'>) =>
  `Node lost: ${name} was gone while it had this mail in hand, so that it may have arrived; another node tries it`

/**
 * Gives the waiting deliveries of a stream to another node, and leaves those in hand; resolves with how many it gave.
 */
export async function handOver(
  { byRow, node }: Pick<Store, 'byRow' | 'node'>,
  { lane, class: of, accountId }: StreamKey,
  to: number,
): Promise<number> {
  for (let moved = 0; ; ) {
    const rows = await byRow((tx) =>
      tx
        .updateTable('queue')
        .set({ node: to, source: null })
        .where(
          'id',
          'in',
          tx
            .selectFrom('queue as found')
            .select('found.id')
            .where('found.node', '=', node.number)
            .where('found.lane', '=', lane)
            .where('found.class', '=', of)
            .where('found.account_id', '=', accountId)
            .where('found.lease', 'is', null)
            .limit(perSlice)
            .modifyEnd(lockedFree),
        )
        .returning('id')
        .execute(),
    )
    moved += rows.length
    if (rows.length < perSlice) return moved
  }
}
