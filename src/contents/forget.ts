import { sql } from 'kysely'
import type { Store, Tx } from '../store/index.js'
import { addStoredBytes } from './stored-bytes.js'

/** Gives uses back, an id for each, in the write that deletes what used the contents. */
export const releaseContents = (tx: Tx, ids: readonly number[]): Promise<void> =>
  countUses(tx, ids, -1)

/** Adds a use to contents, an id for each, in the write of what uses them too. */
export const reuseContents = (tx: Tx, ids: readonly number[]): Promise<void> =>
  countUses(tx, ids, 1)

async function countUses(tx: Tx, ids: readonly number[], more: 1 | -1): Promise<void> {
  for (const id of ids) {
    await tx
      .updateTable('contents')
      .set((eb) => ({ uses: eb('uses', '+', more) }))
      .where('id', '=', id)
      .execute()
  }
}

// In the words of the index `contents_unused`: SQLite does not see that a bound 0 is its condition.
const isUnused = sql<boolean>`uses = 0`

// About a mebibyte of pieces.
const piecesAWrite = 18

/**
 * Deletes what nothing uses any more, the oldest first; `rest` is waited for after each write. A large content takes
 * several writes: its hash is deleted first, so that no new mail takes the rest for the whole.
 */
export async function deleteUnused(
  { store }: { store: Store },
  signal: AbortSignal,
  rest: () => Promise<void> = async () => {},
): Promise<number> {
  let gone = 0
  for (let left = true; left && !signal.aborted; await rest()) {
    left = await store.write(async (tx) => {
      const unused = await tx
        .selectFrom('contents')
        .select(['id', 'account_id', 'size_bytes'])
        .where(isUnused)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      if (unused === undefined) return false
      if (await deletePieces(tx, unused.id)) {
        await tx.deleteFrom('contents').where('id', '=', unused.id).execute()
        await addStoredBytes(tx, unused.account_id, 'contents', -unused.size_bytes)
        gone++
      }
      return true
    })
  }
  return gone
}

/** Deletes some of its pieces; answers whether those were all. */
async function deletePieces(tx: Tx, id: number): Promise<boolean> {
  const pieces = await tx
    .selectFrom('content_pieces')
    .select('number')
    .where('content_id', '=', id)
    .orderBy('number')
    .limit(piecesAWrite + 1)
    .execute()
  const last = pieces[piecesAWrite - 1] ?? pieces.at(-1)
  if (last !== undefined) {
    await tx
      .deleteFrom('content_pieces')
      .where('content_id', '=', id)
      .where('number', '<=', last.number)
      .execute()
  }
  if (pieces.length <= piecesAWrite) return true
  // No real SHA-256 has this length.
  const sha256 = Buffer.from(`deleted ${id}`)
  await tx.updateTable('contents').set({ sha256 }).where('id', '=', id).execute()
  return false
}
