import { type Clock, utcTime } from '../clock/index.js'
import { idsIn, type Store } from '../store/index.js'
import { hold } from './hold.js'

const rowsPerWrite = 500

/** Why everything that waited in a backup of that time waits for the operator after its restore. */
export const restoredReason = (madeAt: number) =>
  `restored from a backup of ${utcTime(madeAt)}; it may have been sent since`

/**
 * At the start on a backup's copy, before anything is sent: holds everything that waits. What was due or in flight has
 * left since; the rest may have been cancelled. Resolves with how many deliveries it holds. It may be run again.
 */
export async function holdRestored(
  { store, clock }: { store: Store; clock: Clock },
  reason: string,
): Promise<number> {
  let held = 0
  for (let after = 0; ; ) {
    const rows = await store.read
      .selectFrom('queue')
      .select('id')
      .where('id', '>', after)
      .where('held_at', 'is', null)
      .orderBy('id')
      .limit(rowsPerWrite)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return held
    const ids = rows.map(({ id }) => id)
    const { changed } = await store.write(async (tx) => {
      const now = clock.now()
      // Attempts that were under way when the backup was made have ended with the earlier appliance: their due time is
      // that of the lease.
      await tx
        .updateTable('queue')
        .set({ lease: null, due_at: now })
        .where('id', 'in', idsIn(ids, 'integer'))
        .where('lease', 'is not', null)
        .execute()
      return await hold(tx, ids, { reason, by: 'restore', now })
    })
    held += changed
    after = last.id
  }
}
