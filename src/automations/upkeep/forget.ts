import { markContacts } from '../../changes/index.js'
import { makeForgetOld, type Retentions } from '../../events/index.js'
import type { Log } from '../../log/index.js'
import { firstUuidAt, idsIn, type Read, type Store, type Tx } from '../../store/index.js'

/**
 * Deletes contacts' events that are older than their account keeps them, but none that a live run of the contact may
 * still ask for: the one that began it and those that came since. The walk over the log does not come by such events
 * again, so they are noted, and go when the run has ended.
 */
export function makeForgetContactEvents(
  deps: { store: Store; log: Log; rest?: () => Promise<void> },
  retentions: Retentions,
): (now: number, signal: AbortSignal) => Promise<number> {
  const { read } = deps.store
  const forgetOld = makeForgetOld(
    deps,
    {
      log: 'automation_events',
      after: (id, limit) =>
        read
          .selectFrom('automation_events')
          .select(['id', 'account_id', 'at'])
          .where('id', '>', id)
          // Never the newest event: the next event's number is counted from it, and must be higher than all that runs
          // remember.
          .where('id', '<', (eb) =>
            eb.selectFrom('automation_events').select(({ fn }) => fn.max('id').as('id')),
          )
          .orderBy('id')
          .limit(limit)
          .execute(),
      async remove(tx, ids) {
        const needed = await neededAmong(tx, ids)
        const free = ids.filter((id) => !needed.has(id))
        await forgetEvents(tx, free)
        if (needed.size === 0) return
        await tx
          .insertInto('automation_kept')
          .values([...needed].map((id) => ({ event_id: id })))
          // The walk begins anew when an account comes to keep less, and then meets noted events again.
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      },
    },
    retentions,
  )
  return async (now, signal) => {
    const kept = await forgetKept(deps, signal)
    return kept + (await forgetOld(now, signal))
  }
}

// Rows in a transaction, for which other writes wait.
const rowsAtOnce = 500

/** Segments may count these events. */
async function forgetEvents(tx: Tx, ids: readonly number[]): Promise<void> {
  const gone = await tx
    .deleteFrom('automation_events')
    .where('id', 'in', idsIn(ids, 'integer'))
    .returning('contact_id')
    .execute()
  await markContacts(tx, [...new Set(gone.map((one) => one.contact_id))])
}

/** Deletes noted events that no live run needs any more; resolves with how many. */
async function forgetKept(
  { store: { read, write }, rest }: { store: Store; rest?: () => Promise<void> },
  signal: AbortSignal,
): Promise<number> {
  let gone = 0
  for (let after = 0; !signal.aborted; ) {
    const rows = await keptAfter(read, after)
    const last = rows.at(-1)
    if (last === undefined) break
    const ids = rows.map((row) => row.event_id)
    const needed = await neededAmong(read, ids)
    const free = ids.filter((id) => !needed.has(id))
    if (free.length > 0) {
      await write(async (tx) => {
        // A run that has begun since asks only for its own event and newer ones.
        await forgetEvents(tx, free)
        await tx
          .deleteFrom('automation_kept')
          .where('event_id', 'in', idsIn(free, 'integer'))
          .execute()
      })
    }
    gone += free.length
    after = last.event_id
    await rest?.()
  }
  return gone
}

/** In slices by id, so that no transaction is long and an interruption loses nothing. */
const keptAfter = (read: Read, id: number) =>
  read
    .selectFrom('automation_kept')
    .select('event_id')
    .where('event_id', '>', id)
    .orderBy('event_id')
    .limit(rowsAtOnce)
    .execute()

/**
 * An event is needed as long as a live run of its contact began at that event or before it: a wait may still look back
 * to it (`since`).
 */
async function neededAmong(read: Read, ids: readonly number[]): Promise<Set<number>> {
  const rows = await read
    .selectFrom('automation_events')
    .select('id')
    .where('id', 'in', idsIn(ids, 'integer'))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('automation_live as live')
          .select('live.id')
          .whereRef('live.contact_id', '=', 'automation_events.contact_id')
          .whereRef('live.trigger_event', '<=', 'automation_events.id'),
      ),
    )
    .execute()
  return new Set(rows.map(({ id }) => id))
}

// Runs in a transaction, each with its whole history.
const runsAWrite = 200

/**
 * Deletes runs that ended longer ago than their account keeps its log; what an automation counts stays. Resolves with
 * how many were deleted.
 */
export async function forgetRuns(
  { store, rest }: { store: Store; rest?: () => Promise<void> },
  retentions: Retentions,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<number> {
  let gone = 0
  for (const [accountId, keepMs] of await retentions()) {
    const automations = await store.read
      .selectFrom('automations')
      .select('id')
      .where('account_id', '=', accountId)
      .execute()
    // Ids rise with the beginning of runs: what began later cannot have ended earlier.
    const before = firstUuidAt(now - keepMs)
    for (const { id } of automations) {
      for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
        const rows = await endedRuns(store.read, { automationId: id, after, before }).execute()
        after = rows.length < runsAWrite ? undefined : rows.at(-1)?.id
        const old = rows.filter((run) => run.ended_at < now - keepMs).map((run) => run.id)
        // A page of runs that took long may have none that ended long ago, while the next page has some.
        if (old.length === 0) continue
        await store.write((tx) =>
          tx.deleteFrom('automation_runs').where('id', 'in', idsIn(old, 'text')).execute(),
        )
        gone += old.length
        await rest?.()
      }
    }
  }
  return gone
}

/** Oldest first: ids are UUIDs of version 7, whose order is that of time (RFC 9562 §5.7). */
const endedRuns = (
  read: Read,
  { automationId, after, before }: { automationId: string; after: string; before: string },
) =>
  read
    .selectFrom('automation_runs')
    .select(['id', 'ended_at'])
    .where('automation_id', '=', automationId)
    .where('id', '>', after)
    .where('id', '<', before)
    .orderBy('id')
    .limit(runsAWrite)
