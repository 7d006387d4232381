import { keepNewest } from '../bounded/index.js'
import { isRecent } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import { type ApiKeyRow, prepared, rememberRows } from '../store/index.js'
import type { AccountDeps } from './account.js'
import { hashKey, looksLikeKey } from './key.js'
import { type KeyLimits, limitsOf, refuseElsewhere } from './limits.js'

/** Who a request comes from, and what its key may do. */
export interface Principal extends KeyLimits {
  accountId: string
  keyId: string
  /** Where the request comes from; empty where that is no longer known. It is a function because asking takes time. */
  address: () => string
  /** Its scope is `test`: its mail goes to the test inbox. */
  isTest: boolean
}

/** What is remembered of a key: without the address, as each request comes from elsewhere. */
type KnownKey = Omit<Principal, 'address'>

// How old a key's `last used` may be: fresh enough for people, and rarely written.
const usedEveryMs = 60_000
// How many used keys are remembered. Beyond that the oldest are forgotten, and written once more than needed.
const maxRemembered = 10_000

/** What a request needs to know of its key. */
type KeyRow = Omit<
  ApiKeyRow,
  'name' | 'hash' | 'last4' | 'created_at' | 'last_used_at' | 'deleted_at'
>

/** Found by the index of hashes: the time that it takes tells nothing about which keys exist. */
const liveKey = prepared<{ hash: Buffer }, KeyRow>((db, { hash }) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'account_id', 'scope', 'domains', 'networks', 'expires_at'])
    .select(['per_hour', 'per_minute'])
    .where('hash', '=', hash)
    .where('deleted_at', 'is', null),
)

/** Whose key it is. `address` is called only where a key is limited to networks. */
export type CheckKey = (key: string, address: () => string) => Promise<Principal>

/**
 * A key that is deleted or changed fails on the next request, or within a second where an operator's command has done
 * it. Throws `invalid_api_key` for what is not a key (any more), with a message that does not tell which keys exist,
 * and `forbidden` for a key that is used outside its networks.
 */
export function makeCheckKey({ store, clock }: AccountDeps): CheckKey {
  const noteUse = makeNoteUse({ store, clock }, 'api_keys')
  const remembered = rememberRows<KnownKey | undefined>({ store, clock }, (of) => of !== undefined)
  // Found by its hash: the key itself is not stored.
  const findKey = (hash: Buffer) =>
    remembered(hash.toString('latin1'), async () => {
      const [row] = await liveKey(store.read, { hash })
      if (row === undefined) return undefined
      const limits = limitsOf(row)
      const isTest = limits.scope === 'test'
      return { accountId: row.account_id, keyId: row.id, isTest, ...limits }
    })

  return async (key, address) => {
    // Anything that cannot be a key costs no look-up.
    const principal = looksLikeKey(key) ? await findKey(hashKey(key)) : undefined
    const now = clock.now()
    // One answer for keys that never were, are deleted or have expired.
    if (principal === undefined || (principal.expiresAt !== null && principal.expiresAt <= now)) {
      throw new ApiError('invalid_api_key', 'Unauthorized')
    }
    if (principal.networks !== null) refuseElsewhere(principal, address())
    noteUse(principal.keyId)
    // `address` comes first: after the spread it would make a new hidden class at each request
    // (journeys/hidden-classes).
    return { address, ...principal }
  }
}

/** Writes down that a key was used, about once a minute. */
export function makeNoteUse({ store, clock }: AccountDeps, table: 'api_keys' | 'operator_keys') {
  const noted = new Map<string, number>()
  return (keyId: string): void => {
    const now = clock.now()
    if (isRecent(noted.get(keyId) ?? 0, now, usedEveryMs)) return
    keepNewest(noted, keyId, now, maxRemembered)
    store
      .write((tx) =>
        tx.updateTable(table).set({ last_used_at: now }).where('id', '=', keyId).execute(),
      )
      // Only a convenience for the operator: a failure must not fail the request, and the next use writes it again.
      .catch(() => noted.delete(keyId))
  }
}

/** The key in `Authorization: Bearer …`, empty for another scheme; throws `missing_api_key` without the header. */
export function bearerKey(authorization: string | undefined): string {
  if (authorization === undefined) throw new ApiError('missing_api_key', 'Unauthorized')
  // RFC 9110 §11.1: the scheme's name is the same in upper and lower case.
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
}

/**
 * Checks the key in `Authorization: Bearer ph_…`. Throws `missing_api_key` without the header and
 * `invalid_api_key` for anything else that is not a key.
 */
export function makeAuthenticate(deps: AccountDeps) {
  const checkKey = makeCheckKey(deps)
  return async (
    authorization: string | undefined,
    address: () => string = () => '',
  ): Promise<Principal> => await checkKey(bearerKey(authorization), address)
}
