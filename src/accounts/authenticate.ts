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
 * Looks a key up in the database, once for the requests that come in one turn of the event loop: under load
 * those are many of few keys, and a deleted one still fails on the next request.
 */
function makeFindKey({ store }: Pick<AccountDeps, 'store'>) {
  const found = new Map<string, Promise<Principal | undefined>>()
  const find = async (key: string) => {
    const [row] = await liveKey(store.read, { hash: hashKey(key) })
    return row && { accountId: row.account_id, keyId: row.id, ...limitsOf(row) }
  }
  return (key: string): Promise<Principal | undefined> => {
    const known = found.get(key)
    if (known !== undefined) return known
    if (found.size === 0) setImmediate(() => found.clear())
    const looked = find(key)
    found.set(key, looked)
    return looked
  }
}

/**
 * Throws `invalid_api_key` for what is no key (any more), with a message that does not tell which keys exist, and
 * `forbidden` for one that is used outside its networks.
 */
export function makeCheckKey({ store, clock }: AccountDeps): CheckKey {
  const findKey = makeFindKey({ store })
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
    const principal = looksLikeKey(key) ? await findKey(key) : undefined
    const now = clock.now()
    if (principal === undefined || (principal.expiresAt !== null && principal.expiresAt <= now)) {
      throw new ApiError('invalid_api_key', 'Unauthorized')
    }
    if (principal.networks !== null) refuseElsewhere(principal, address())
    noteUse(principal.keyId, now)
    return principal
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
