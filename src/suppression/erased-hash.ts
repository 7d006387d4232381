import { createHmac } from 'node:crypto'
import { addressKey } from '../mime/index.js'
import { idsOf, prepared, type Read, type Tx } from '../store/index.js'

/** The account's key; undefined where nobody was erased. Asked by every send: one search by a primary key. */
export async function erasureKey(read: Read, accountId: string): Promise<string | undefined> {
  const [row] = await keyOf(read, { accountId })
  return row?.key
}

const keyOf = prepared<{ accountId: string }, { key: string }>((db, { accountId }) =>
  db.selectFrom('erasure_keys').select('key').where('account_id', '=', accountId),
)

/** The whole address in lower case as a hash, which says nothing about it without the key. */
export const hashWith = (key: string, email: string): string =>
  createHmac('sha256', key).update(addressKey(email)).digest('hex')

/** Which of these hashes are an account's erased addresses. */
export async function hashesAmong(read: Read, accountId: string, hashes: readonly string[]) {
  const rows = await hashesOf(read, { accountId, hashes: JSON.stringify(hashes) })
  return new Set(rows.map(({ hash }) => hash))
}

/** `hashes`: a JSON array. */
const hashesOf = prepared<{ accountId: string; hashes: string }, { hash: string }>(
  (db, { accountId, hashes }) =>
    db
      .selectFrom('erasures')
      .select('hash')
      .where('account_id', '=', accountId)
      .where('hash', 'in', idsOf(hashes, 'text')),
)

/** Somebody has asked for mail again. */
export async function forgetErased(tx: Tx, accountId: string, email: string): Promise<void> {
  const key = await erasureKey(tx, accountId)
  if (key === undefined) return
  await tx
    .deleteFrom('erasures')
    .where('account_id', '=', accountId)
    .where('hash', '=', hashWith(key, email))
    .execute()
}
