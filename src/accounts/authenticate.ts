import { ApiError } from '../errors/index.js'
import { prepared } from '../store/index.js'
import type { AccountDeps } from './account.js'
import { hashKey, looksLikeKey } from './key.js'

/** Who a request comes from. */
export interface Principal {
  accountId: string
  keyId: string
}

// How old a key's `last used` may be: often enough for a person, seldom enough to cost nothing.
const usedEveryMs = 60_000
const maxRemembered = 10_000

const liveKey = prepared<{ hash: Buffer }, { id: string; account_id: string }>((db, { hash }) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'account_id'])
    .where('hash', '=', hash)
    .where('deleted_at', 'is', null),
)

/**
 * Checks `Authorization: Bearer ph_…` against the database on every request, so that a deleted key
 * fails on the next one. Throws `missing_api_key` without a header and `invalid_api_key` for all
 * else; the message is the same, so that a caller learns nothing about which keys exist.
 */
export function makeAuthenticate({ store, clock }: AccountDeps) {
  const noted = new Map<string, number>()

  const noteUse = (keyId: string) => {
    const now = clock.now()
    if (now - (noted.get(keyId) ?? 0) < usedEveryMs) return
    if (noted.size >= maxRemembered) noted.clear()
    noted.set(keyId, now)
    store
      .write((tx) =>
        tx.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', keyId).execute(),
      )
      // Only a convenience for the operator: it must not fail a request, and is written next time.
      .catch(() => noted.delete(keyId))
  }

  return async (authorization: string | undefined): Promise<Principal> => {
    if (authorization === undefined) throw new ApiError('missing_api_key', 'Unauthorized')
    const key = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
    const row = looksLikeKey(key)
      ? (await liveKey(store.read, { hash: hashKey(key) }))[0]
      : undefined
    if (row === undefined) throw new ApiError('invalid_api_key', 'Unauthorized')
    noteUse(row.id)
    return { accountId: row.account_id, keyId: row.id }
  }
}
