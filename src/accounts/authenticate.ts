import { keepNewest } from '../bounded/index.js'
import { ApiError } from '../errors/index.js'
import { type ApiKeyRow, prepared } from '../store/index.js'
import type { AccountDeps } from './account.js'
import { hashKey, looksLikeKey } from './key.js'
import { type KeyLimits, limitsOf, refuseElsewhere } from './limits.js'

/** Who a request comes from, and what its key may do. */
export interface Principal extends KeyLimits {
  accountId: string
  keyId: string
}

// How old a key's `last used` may be: often enough for a person, seldom enough to cost nothing.
const usedEveryMs = 60_000
const maxRemembered = 10_000

type KeyRow = Pick<ApiKeyRow, 'id' | 'account_id' | 'scope' | 'domains' | 'networks' | 'expires_at'>

const liveKey = prepared<{ hash: Buffer }, KeyRow>((db, { hash }) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'account_id', 'scope', 'domains', 'networks', 'expires_at'])
    .where('hash', '=', hash)
    .where('deleted_at', 'is', null),
)

/** Whose key it is. `address` is called only where a key is limited to networks. */
export type CheckKey = (key: string, address: () => string) => Promise<Principal>

/**
 * Looks a key up in the database each time, so that a deleted one fails on the next request. Throws
 * `invalid_api_key` for what is no key (any more), with a message that does not tell which keys exist,
 * and `forbidden` for one that is used outside its networks.
 */
export function makeCheckKey({ store, clock }: AccountDeps): CheckKey {
  const noted = new Map<string, number>()

  const noteUse = (keyId: string, now: number) => {
    if (now - (noted.get(keyId) ?? 0) < usedEveryMs) return
    keepNewest(noted, keyId, now, maxRemembered)
    store
      .write((tx) =>
        tx.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', keyId).execute(),
      )
      // Only a convenience for the operator: it must not fail a request, and is written next time.
      .catch(() => noted.delete(keyId))
  }

  return async (key, address) => {
    const row = looksLikeKey(key)
      ? (await liveKey(store.read, { hash: hashKey(key) }))[0]
      : undefined
    const now = clock.now()
    if (row === undefined || (row.expires_at !== null && row.expires_at <= now)) {
      throw new ApiError('invalid_api_key', 'Unauthorized')
    }
    const limits = limitsOf(row)
    if (limits.networks !== null) refuseElsewhere(limits, address())
    noteUse(row.id, now)
    return { accountId: row.account_id, keyId: row.id, ...limits }
  }
}

/**
 * The same for `Authorization: Bearer ph_…`; throws `missing_api_key` without the header and
 * `invalid_api_key` for all else that is no key.
 */
export function makeAuthenticate(deps: AccountDeps) {
  const checkKey = makeCheckKey(deps)
  return async (
    authorization: string | undefined,
    address: () => string = () => '',
  ): Promise<Principal> => {
    if (authorization === undefined) throw new ApiError('missing_api_key', 'Unauthorized')
    return await checkKey(/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '', address)
  }
}
