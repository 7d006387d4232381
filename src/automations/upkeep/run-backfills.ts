import type { UpdateResult } from 'kysely'
import { type Plans, readBilling } from '../../billing/index.js'
import { type Clock, hourMs, pause } from '../../clock/index.js'
import { makeRunTally } from '../../runs/index.js'
import { prepared, type Store } from '../../store/index.js'
import { type IngestDeps, judgeStarts, startRuns, storeEvents } from '../events/index.js'
import {
  type Backfill,
  beginsOnDates,
  crowdOf,
  findBackfill,
  membersAfter,
  provisional,
  triggerOf,
} from './backfill.js'

/** What starts over lists need. */
interface BackfillRunDeps {
  store: Store
  clock: Clock
  plans: Plans
  versions: IngestDeps['versions']
  automate: () => void
  /** Whether there are as many live runs as there may be. */
  isFull: () => Promise<boolean>
}

// Contacts a transaction, and the rest after it in which others write.
const perWrite = 200
const restMs = 20
// After a time without the appliance no more than this is caught up on.
const catchUpMs = 10_000

/**
 * Takes all starts that are under way on, in turn, as far as their rates let them now. The next call makes up for a
 * kill at any point: the cursor moves in the transaction that starts the runs. Resolves with when the next start may be
 * taken on.
 */
export async function runBackfills(
  deps: BackfillRunDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  let next: number | undefined
  for (let isDue = true; isDue && !signal.aborted; ) {
    isDue = false
    next = undefined
    for (const row of await underWay(deps.store.read, {})) {
      if (signal.aborted) return undefined
      next = Math.min(next ?? row.next_at, row.next_at)
      if (row.next_at > deps.clock.now()) continue
      if (!(await startSome(deps, row))) continue
      isDue = true
      await pause(deps.clock, restMs, signal)
    }
  }
  return next
}

/** Starts the next runs; resolves with whether the start is to be looked at again at once. */
async function startSome(deps: BackfillRunDeps, row: Backfill): Promise<boolean> {
  const { store, clock, plans, versions } = deps
  const { automation_id: id, account_id: accountId, per_hour: perHour } = row
  const crowd = crowdOf(row)
  // The start goes on once the account may send, and there is room for its runs.
  const { suspended, state } = await readBilling(store.read, plans, accountId)
  if (suspended !== null || state === 'expired' || (await deps.isFull())) return false
  // A minute's worth at most, so that a low rate goes evenly over the hour.
  const limit = Math.min(perWrite, Math.ceil(perHour / 60))
  const outcome = await store.write(async (tx) => {
    const before = await findBackfill(tx, id)
    // The start was stopped, or another engine has taken this slice, as the cursor tells.
    if (before === undefined || before.ended_at !== null || before.cursor !== row.cursor) return
    const trigger = await triggerOf(tx, id)
    // The automation was disabled since: the start goes on when it is enabled.
    if (trigger === undefined) return
    // Since the start was asked for, a version was enabled that begins on each person's own day.
    if (await beginsOnDates(tx, id)) {
      const { cursor, seen, started, next_at: nextAt } = before
      await advance(tx, { id, cursor, seen, started, nextAt, endedAt: clock.now() })
      return
    }
    const now = clock.now()
    const found = await membersAfter(tx, crowd, before.cursor, perWrite)
    const events = found.map((contact) => provisional(contact, crowd, now))
    const judged = await judgeStarts(tx, versions, { accountId, now }, events, [trigger])
    // People who are not let in cost nothing of the rate, and no write of their own.
    const all = judged.flatMap(({ event, reason }) => (reason === undefined ? [event] : []))
    const entering = all.slice(0, limit)
    const next = all[limit]?.contact.id
    const through = next === undefined ? found.length : found.findIndex(({ id }) => id === next)
    const members = found.slice(0, through)
    const tally = makeRunTally()
    const stored = await storeEvents(tx, accountId, now, entering)
    await startRuns(tx, { ids: store.ids, versions }, { accountId, now, tally }, stored, trigger)
    await tally.write(tx)
    const started = entering.length
    const done = next === undefined && found.length < perWrite
    const next_at = Math.max(before.next_at, now - catchUpMs) + (started * hourMs) / perHour
    await advance(tx, {
      id,
      cursor: members.at(-1)?.id ?? before.cursor,
      seen: before.seen + members.length,
      started: before.started + started,
      nextAt: Math.round(next_at),
      endedAt: done ? now : null,
    })
    return { started, isDue: !done && next_at <= now }
  }, accountId)
  if (outcome === undefined) return false
  if (outcome.started > 0) deps.automate()
  return outcome.isDue
}

/** Few rows, in the order of their next slice. */
const underWay = prepared<object, Backfill>((db) =>
  db
    .selectFrom('automation_backfills')
    .selectAll()
    .where('ended_at', 'is', null)
    .orderBy('next_at'),
)

/**
 * The cursor is moved in the transaction that starts the runs: a kill in between starts nobody
 * twice and leaves nobody out.
 */
const advance = prepared<
  {
    id: string
    cursor: string
    seen: number
    started: number
    nextAt: number
    endedAt: number | null
  },
  UpdateResult
>((db, { id, cursor, seen, started, nextAt, endedAt }) =>
  db
    .updateTable('automation_backfills')
    .set({ cursor, seen, started, next_at: nextAt, ended_at: endedAt })
    .where('automation_id', '=', id),
)
