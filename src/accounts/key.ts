import { hash, randomBytes } from 'node:crypto'
import { checkAdding, type Plans, readBilling, refuseBeyondCeiling } from '../billing/index.js'
import { ApiError } from '../errors/index.js'
import type { ApiKeyRow, Read, Tx } from '../store/index.js'
import type { AccountDeps } from './account.js'
import {
  checkLimits,
  type KeyLimits,
  limitColumns,
  limitsOf,
  noLimits,
  refuseChanging,
  refuseMightier,
} from './limits.js'

/** What can be shown of a key after its creation. */
export interface ApiKey extends KeyLimits {
  id: string
  name: string
  last4: string
  createdAt: number
  lastUsedAt: number | null
}

// The prefix tells secret scanners, and people, what was leaked.
const prefix = 'ph_'

/** How a key is made; `alongside` is written in the same transaction. */
interface CreateKeyOptions {
  /** Default: none. */
  limits?: Partial<KeyLimits>
  /** Throws an `ApiError` where the account may add nothing, or no more keys. Default: this is not checked. */
  plans?: Plans | undefined
  /** The limits of the key that asks: the new key may do no more than that one. */
  by?: KeyLimits
  alongside?: (tx: Tx, made: ApiKey) => Promise<void>
}

/** Makes a key; `key` is shown here and never again. Throws a 422 for a limit that is not valid. */
export async function createKey(
  { store, clock }: AccountDeps,
  accountId: string,
  name: string,
  { limits = {}, plans, by = noLimits, alongside = async () => {} }: CreateKeyOptions = {},
): Promise<ApiKey & { key: string }> {
  const now = clock.now()
  const checked = await checkLimits(store.read, accountId, { ...noLimits, ...limits }, now)
  refuseMightier(by, checked)
  // 256 random bits need no slow hash, as a password would.
  const key = prefix + randomBytes(32).toString('base64url')
  const row = {
    id: store.ids.uuid(),
    account_id: accountId,
    name: name.trim(),
    hash: hashKey(key),
    last4: key.slice(-4),
    created_at: now,
    last_used_at: null,
    deleted_at: null,
    ...limitColumns(checked),
  }
  await store.write(async (tx) => {
    if (plans !== undefined) {
      checkAdding(await readBilling(tx, plans, accountId))
      await refuseBeyondCeiling(tx, plans, accountId, 'keys')
    }
    await tx.insertInto('api_keys').values(row).execute()
    await alongside(tx, toKey(row))
  })
  return { ...toKey(row), key }
}

/** The keys that are not deleted, the oldest first. */
export async function listKeys(read: Read, accountId: string): Promise<ApiKey[]> {
  return (await liveKeys(read, accountId).orderBy('id').execute()).map(toKey)
}

/** The newest keys first, those before the key `before`. */
export async function newestKeys(
  read: Read,
  accountId: string,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<ApiKey[]> {
  const rows = await liveKeys(read, accountId)
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toKey)
}

/** Throws a 404. */
export async function findKey(read: Read, accountId: string, keyId: string): Promise<ApiKey> {
  const row = await liveKeys(read, accountId)
    .where('id', '=', keyId.toLowerCase())
    .executeTakeFirst()
  if (row === undefined) throw new ApiError('not_found', `The account has no key ${keyId}`)
  return toKey(row)
}

/**
 * Changes a key's name and limits from the next request on; what is not given stays. Throws a 404; a 422; a 403 for a
 * limit that `by` may not give and for a key that may do more than `by`; and a 409 where the last full key would lose
 * its scope.
 */
export async function updateKey(
  { store, clock }: AccountDeps,
  accountId: string,
  keyId: string,
  { name, ...limits }: { name?: string | undefined } & Partial<KeyLimits>,
  by = noLimits,
): Promise<ApiKey> {
  const now = clock.now()
  return await store.write(async (tx) => {
    const before = await findKey(tx, accountId, keyId)
    refuseChanging(by, before)
    const wanted = { ...before, ...limits }
    if ((wanted.scope === 'test') !== (before.scope === 'test')) throw otherKind(before.scope)
    const isLimited = Object.keys(limits).length > 0
    const checked = isLimited ? await checkLimits(tx, accountId, wanted, now) : before
    if (isLimited) refuseMightier(by, checked)
    if (checked.scope !== 'full') await refuseLastFull(tx, accountId, before, now)
    const columns = limitColumns(checked)
    await tx
      .updateTable('api_keys')
      .set({ ...columns, ...(name !== undefined && { name: name.trim() }) })
      .where('id', '=', before.id)
      .execute()
    return await findKey(tx, accountId, keyId)
  })
}

/** A change between test and other scopes is refused: a program's test mail would leave, or its real mail would not. */
const otherKind = (scope: string) =>
  new ApiError(
    'validation_error',
    scope === 'test'
      ? 'A key of the scope "test" stays one; make a new key for mail that leaves'
      : 'A key whose mail leaves cannot become one of the scope "test"; make a new key for tests',
    { status: 422, fields: { field: 'scope' } },
  )

/**
 * Deactivates a key at once. Throws a 404; a 403 where the key may do more than `by`, the key that asks; and with
 * `keepFull` a 409 for the last full key, without which nobody could make another by the API.
 */
export async function deleteKey(
  { store, clock }: AccountDeps,
  accountId: string,
  keyId: string,
  { keepFull = false, by = noLimits }: { keepFull?: boolean; by?: KeyLimits } = {},
): Promise<ApiKey> {
  return await store.write(async (tx) => {
    const key = await findKey(tx, accountId, keyId)
    refuseChanging(by, key)
    if (keepFull) await refuseLastFull(tx, accountId, key, clock.now())
    await tx
      .updateTable('api_keys')
      .set({ deleted_at: clock.now() })
      .where('id', '=', key.id)
      .execute()
    return key
  })
}

/** Whether the account has another full key that does not expire. */
export async function hasOtherFullKey(
  read: Read,
  accountId: string,
  keyId: string,
  now: number,
): Promise<boolean> {
  const other = await liveKeys(read, accountId)
    .where('scope', '=', 'full')
    .where('id', '<>', keyId.toLowerCase())
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .limit(1)
    .executeTakeFirst()
  return other !== undefined
}

/** Checked inside the write: two requests could each delete one of the last two. */
async function refuseLastFull(tx: Tx, accountId: string, key: ApiKey, now: number): Promise<void> {
  if (key.scope !== 'full' || (await hasOtherFullKey(tx, accountId, key.id, now))) return
  const message = "This is the account's last key with the scope full; make another full key first"
  throw new ApiError('conflict', message)
}

/** A deleted key's row stays, as logs and the audit log name it. */
const liveKeys = (read: Read, accountId: string) =>
  read
    .selectFrom('api_keys')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)

/** A key as it may be shown. */
const toKey = (row: ApiKeyRow): ApiKey => ({
  id: row.id,
  name: row.name,
  last4: row.last4,
  ...limitsOf(row),
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
})

/** The hash by which a key is stored and found. SHA-256 is enough for 256 random bits. */
export const hashKey = (key: string) => hash('sha256', key, 'buffer')

/** Whether a text could be a key at all: anything else is refused without a look-up. */
export const looksLikeKey = (text: string) => /^ph_[A-Za-z0-9_-]{43}$/.test(text)
