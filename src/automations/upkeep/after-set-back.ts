import { type Clock, pause } from '../../clock/index.js'
import { never } from '../../deliveries/index.js'
import { idsIn, type Store, type Tx } from '../../store/index.js'

const rowsPerLook = 500
// The main thread looks: each slice takes it a millisecond or two.
const restMs = 20

/**
 * To be called after the clock was set back, so that no run waits until the clock is where it was. A delay that was
 * begun while the clock was ahead begins anew, a wait for an event keeps its length, and runs that are blocked or put
 * off are looked at. Starts over lists go on. Resolves with how many runs and starts it changed.
 */
export async function runsAfterSetBack(
  { store, clock }: { store: Pick<Store, 'read' | 'write'>; clock: Clock },
  signal: AbortSignal,
): Promise<number> {
  let changed = await store.write((tx) => backfillsDue(tx, clock.now()))
  for (let after = ''; !signal.aborted; ) {
    const now = clock.now()
    const rows = await store.read
      .selectFrom('automation_live')
      .select(['id', 'due_at'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(rowsPerLook)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.id
    const ahead = rows.filter(({ due_at: at }) => at > now && at < never).map(({ id }) => id)
    if (ahead.length > 0) changed += await store.write((tx) => dueAgain(tx, ahead, now))
    await pause(clock, restMs, signal)
  }
  return changed
}

async function backfillsDue(tx: Tx, now: number): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('automation_backfills')
    .set({ next_at: now })
    .where('ended_at', 'is', null)
    .where('next_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Looked at again inside the write: the engine may have moved them on. */
async function dueAgain(tx: Tx, ids: readonly string[], now: number): Promise<number> {
  const waits = await tx
    .updateTable('automation_live')
    .set((eb) => ({
      due_at: eb('due_at', '-', eb.parens(eb('entered_at', '-', now))),
      entered_at: now,
      seq: eb('seq', '+', 1),
    }))
    .where('id', 'in', idsIn(ids, 'text'))
    .where('held_at', 'is', null)
    .where('wait_event', 'is not', null)
    .where('entered_at', '>', now)
    .executeTakeFirstOrThrow()
  const others = await tx
    .updateTable('automation_live')
    .set((eb) => ({ due_at: now, entered_at: null, seq: eb('seq', '+', 1) }))
    .where('id', 'in', idsIn(ids, 'text'))
    .where('held_at', 'is', null)
    .where('wait_event', 'is', null)
    .where((eb) => eb.or([eb('entered_at', 'is', null), eb('entered_at', '>', now)]))
    .where('due_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(waits.numUpdatedRows + others.numUpdatedRows)
}
