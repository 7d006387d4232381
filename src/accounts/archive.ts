import { randomBytes } from 'node:crypto'
import type { Read, Tx } from '../store/index.js'

/** The path, on the public listener, of the account's public archive of past campaigns; null: there is none yet. */
export async function archivePathOf(read: Read, accountId: string): Promise<string | null> {
  const row = await read
    .selectFrom('archives')
    .select('public_id')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row === undefined ? null : archivePath(row.public_id)
}

export const archivePath = (publicId: string) => `/a/${publicId}`

/**
 * Gives an account the address of its archive, if it has none. The address never changes: people have it in their
 * feeds.
 */
export async function openArchive(tx: Tx, accountId: string): Promise<void> {
  await tx
    .insertInto('archives')
    .values({ account_id: accountId, public_id: randomBytes(12).toString('base64url') })
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .execute()
}

/** The account whose archive has this address. */
export async function accountOfArchive(read: Read, publicId: string): Promise<string | undefined> {
  const row = await read
    .selectFrom('archives')
    .select('account_id')
    .where('public_id', '=', publicId)
    .executeTakeFirst()
  return row?.account_id
}
