import { createHash, randomBytes } from 'node:crypto'
import { checkAdding, type Plans, readBilling } from '../billing/index.js'
import { OperatorError } from '../errors/index.js'
import type { Read } from '../store/index.js'
import type { AccountDeps } from './account.js'

/** What can be shown of a key after its creation. */
export interface ApiKey {
  id: string
  name: string
  last4: string
  createdAt: number
  lastUsedAt: number | null
}

const prefix = 'ph_'

/**
 * Makes a key; `key` is seen here and never again. Throws an `ApiError` where the account may add nothing,
 * if it is held to `plans`.
 */
export async function createKey(
  { store, clock }: AccountDeps,
  accountId: string,
  name: string,
  { plans }: { plans?: Plans | undefined } = {},
): Promise<{ id: string; key: string; last4: string }> {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > 100 || /\p{Cc}/u.test(trimmed)) {
    throw new OperatorError("A key's name has 1 to 100 characters and no control characters")
  }
  const key = prefix + randomBytes(32).toString('base64url')
  const id = store.ids.uuid()
  const last4 = key.slice(-4)
  await store.write(async (tx) => {
    if (plans !== undefined) checkAdding(await readBilling(tx, plans, accountId))
    await tx
      .insertInto('api_keys')
      .values({
        id,
        account_id: accountId,
        name: trimmed,
        hash: hashKey(key),
        last4,
        created_at: clock.now(),
        last_used_at: null,
        deleted_at: null,
      })
      .execute()
  })
  return { id, key, last4 }
}

export async function listKeys(read: Read, accountId: string): Promise<ApiKey[]> {
  const rows = await read
    .selectFrom('api_keys')
    .select(['id', 'name', 'last4', 'created_at', 'last_used_at'])
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    last4: row.last4,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }))
}

/** Deactivates a key at once; throws OperatorError when the account has no such key. */
export async function deleteKey(
  { store, clock }: AccountDeps,
  accountId: string,
  keyId: string,
): Promise<void> {
  await store.write(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('api_keys')
      .set({ deleted_at: clock.now() })
      .where('id', '=', keyId.toLowerCase())
      .where('account_id', '=', accountId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) {
      throw new OperatorError(`The account has no key ${keyId}; 'posthorn key list' shows them`)
    }
  })
}

export const hashKey = (key: string) => createHash('sha256').update(key).digest()

/** Whether a text could be a key at all: anything else is refused without a look-up. */
export const looksLikeKey = (text: string) => /^ph_[A-Za-z0-9_-]{43}$/.test(text)
