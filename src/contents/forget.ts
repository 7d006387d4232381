import { sql } from 'kysely'
import type { Store, Tx } from '../store/index.js'

/** Gives uses back, an id for each, in the write that deletes what used them. */
export async function releaseContents(tx: Tx, ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    await tx
      .updateTable('contents')
      .set((eb) => ({ uses: eb('uses', '-', 1) }))
      .where('id', '=', id)
      .execute()
  }
}

// In the words of the index `contents_unused`: SQLite does not see that a bound 0 is its condition.
const isUnused = sql<boolean>`uses = 0`

/**
 * Deletes what nothing uses any more, the oldest first. Each content goes in a write of its own: of one
 * that loses its pieces bit by bit a new mail could find the rest and take it for the whole.
 */
export async function deleteUnused(
  { store }: { store: Store },
  signal: AbortSignal,
): Promise<void> {
  for (let left = true; left && !signal.aborted; ) {
    left = await store.write(async (tx) => {
      const unused = await tx
        .selectFrom('contents')
        .select('id')
        .where(isUnused)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      if (unused === undefined) return false
      await tx.deleteFrom('content_pieces').where('content_id', '=', unused.id).execute()
      await tx.deleteFrom('contents').where('id', '=', unused.id).execute()
      return true
    })
  }
}
