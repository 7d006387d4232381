import { randomBytes } from 'node:crypto'
import type { Read, Tx } from '../store/index.js'

/** Where an account's past campaigns are shown to everybody, below the address of the public listener; null: nowhere yet. */
export async function archivePathOf(read: Read, accountId: string): Promise<string | null> {
  const row = await read
    .selectFrom('archives')
    .select('public_id')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row === undefined ? null : archivePath(row.public_id)
}

export const archivePath = (publicId: string) => `/a/${publicId}`

/** Gives an account the address of its archive, if it has none. It keeps it: people have it in their feeds. */
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
