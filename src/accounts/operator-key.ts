import { randomBytes } from 'node:crypto'
import { ApiError, OperatorError } from '../errors/index.js'
import { type OperatorKeyRow, prepared, type Read, rememberRows } from '../store/index.js'
import type { AccountDeps } from './account.js'
import { bearerKey, makeNoteUse } from './authenticate.js'
import { hashKey } from './key.js'
import { checkedNetworks, refuseElsewhere } from './limits.js'

/*
 * Keys of the operator's own programs. They have a table and a prefix of their own, so that no place that takes an
 * account's key accepts one of these, nor the reverse. Only a command makes them.
 */

/** What can be shown of such a key after its creation. */
export interface OperatorKey {
  id: string
  name: string
  last4: string
  /** CIDR ranges that its requests come from; null: any. */
  networks: readonly string[] | null
  /** In ms; null: never. */
  expiresAt: number | null
  createdAt: number
  lastUsedAt: number | null
}

/** Which of the operator's programs a request comes from. */
export interface OperatorPrincipal {
  keyId: string
  /** The name of its key, with the last characters. */
  name: string
}

const prefix = 'pho_'

/** Makes a key; `key` is shown here and never again. Throws an `OperatorError` for its name, a 422 for a limit. */
export async function createOperatorKey(
  { store, clock }: AccountDeps,
  given: { name: string; networks: readonly string[] | null; expiresAt: number | null },
): Promise<OperatorKey & { key: string }> {
  const name = given.name.trim()
  if (!/^\P{Cc}{1,100}$/u.test(name)) {
    throw new OperatorError('A key needs a name of 1 to 100 characters without control characters')
  }
  const networks = given.networks && checkedNetworks(given.networks)
  const key = prefix + randomBytes(32).toString('base64url')
  const row: OperatorKeyRow = {
    id: store.ids.uuid(),
    name,
    hash: hashKey(key),
    last4: key.slice(-4),
    networks: networks && JSON.stringify(networks),
    created_at: clock.now(),
    expires_at: given.expiresAt,
    last_used_at: null,
    deleted_at: null,
  }
  await store.write((tx) => tx.insertInto('operator_keys').values(row).execute())
  return { ...toOperatorKey(row), key }
}

const liveKeys = (read: Read) =>
  read.selectFrom('operator_keys').selectAll().where('deleted_at', 'is', null)

/** The keys that are not deleted, the oldest first. */
export const listOperatorKeys = async (read: Read): Promise<OperatorKey[]> =>
  (await liveKeys(read).orderBy('id').execute()).map(toOperatorKey)

/** Throws a 404. */
export async function findOperatorKey(read: Read, id: string): Promise<OperatorKey> {
  const row = await liveKeys(read).where('id', '=', id.toLowerCase()).executeTakeFirst()
  if (row === undefined) throw new ApiError('not_found', `There is no operator's key ${id}`)
  return toOperatorKey(row)
}

/** Deletes a key: requests with it fail from then on. Its row stays, as the audit log names it. Throws a 404. */
export async function deleteOperatorKey({ store, clock }: AccountDeps, id: string): Promise<void> {
  const now = clock.now()
  await store.write(async (tx) => {
    const found = await findOperatorKey(tx, id)
    await tx
      .updateTable('operator_keys')
      .set({ deleted_at: now })
      .where('id', '=', found.id)
      .execute()
  })
}

const toOperatorKey = (row: OperatorKeyRow): OperatorKey => ({
  id: row.id,
  name: row.name,
  last4: row.last4,
  networks: row.networks === null ? null : (JSON.parse(row.networks) as string[]),
  expiresAt: row.expires_at,
  createdAt: row.created_at,
  lastUsedAt: row.last_used_at,
})

/** Found by the index of hashes, as accounts' keys are. */
const liveKey = prepared<{ hash: Buffer }, OperatorKeyRow>((db, { hash }) =>
  db
    .selectFrom('operator_keys')
    .selectAll()
    .where('hash', '=', hash)
    .where('deleted_at', 'is', null),
)

/**
 * Checks the key in `Authorization: Bearer pho_…`. Throws `missing_api_key` without the header, `forbidden` for a key
 * that is used outside its networks, and `invalid_api_key` for all else, also for a good key of an account.
 */
export function makeAuthenticateOperator({ store, clock }: AccountDeps) {
  const noteUse = makeNoteUse({ store, clock }, 'operator_keys')
  const remembered = rememberRows<OperatorKey | undefined>(
    { store, clock },
    (of) => of !== undefined,
  )
  const findKey = (hash: Buffer) =>
    remembered(hash.toString('latin1'), async () => {
      const [row] = await liveKey(store.read, { hash })
      return row && toOperatorKey(row)
    })
  return async (
    authorization: string | undefined,
    address: () => string,
  ): Promise<OperatorPrincipal> => {
    const key = bearerKey(authorization)
    const found = looksLikeOperatorKey(key) ? await findKey(hashKey(key)) : undefined
    if (found === undefined || (found.expiresAt !== null && found.expiresAt <= clock.now())) {
      throw new ApiError('invalid_api_key', 'Unauthorized')
    }
    if (found.networks !== null) refuseElsewhere(found, address())
    noteUse(found.id)
    return { keyId: found.id, name: `${found.name} (…${found.last4})` }
  }
}

const looksLikeOperatorKey = (text: string) => /^pho_[A-Za-z0-9_-]{43}$/.test(text)
