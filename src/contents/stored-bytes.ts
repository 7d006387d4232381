import { sql } from 'kysely'
import type { Read, StoredBytesRow, Tx } from '../store/index.js'

/** What is counted apart from each other. */
export type StoredKind = Exclude<keyof StoredBytesRow, 'account_id'>

/** Counts bytes that an account stores, or no longer stores, in the write of the change. */
export async function addStoredBytes(
  tx: Tx,
  accountId: string,
  kind: StoredKind,
  bytes: number,
): Promise<void> {
  if (bytes === 0) return
  const none = { contents: 0, templates: 0, campaigns: 0 }
  await tx
    .insertInto('stored_bytes')
    .values({ account_id: accountId, ...none, [kind]: bytes })
    .onConflict((conflict) =>
      conflict
        .column('account_id')
        .doUpdateSet({ [kind]: sql`${sql.ref(`stored_bytes.${kind}`)} + ${bytes}` }),
    )
    .execute()
}

/** All bytes of an account, by the primary key. */
export async function storedBytesOf(read: Read, accountId: string): Promise<number> {
  const row = await read
    .selectFrom('stored_bytes')
    .select(['contents', 'templates', 'campaigns'])
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row === undefined ? 0 : row.contents + row.templates + row.campaigns
}
