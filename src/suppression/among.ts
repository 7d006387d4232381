import { addressKey } from '../mime/index.js'
import { idsOf, prepared, type Read } from '../store/index.js'
import { erasedAmong } from './erased.js'
import type { SuppressionReason } from './suppress.js'

// A batch's recipients fit into one query, and a campaign's page into a few, none of which holds up others.
const perQuery = 1_000

/**
 * Which of `addresses` must not get mail of this type, spelled as they were given. One query for
 * up to 1,000 of them; `read` may be a transaction.
 */
export async function suppressedAmong(
  read: Read,
  accountId: string,
  addresses: readonly string[],
  type: 'transactional' | 'marketing',
): Promise<Set<string>> {
  const blocked = new Set<string>()
  const among = type === 'transactional' ? blockedFromAll : blockedFromMarketing
  for (let start = 0; start < addresses.length; start += perQuery) {
    const some = addresses.slice(start, start + perQuery)
    const rows = await among(read, { accountId, keys: JSON.stringify(some.map(addressKey)) })
    if (rows.length === 0) continue
    const found = new Set(rows.map(({ address }) => address))
    for (const address of some) if (found.has(addressKey(address))) blocked.add(address)
  }
  for (const address of await erasedAmong(read, accountId, addresses)) blocked.add(address)
  return blocked
}

/** Those of these addresses that get no marketing mail: every record blocks that. */
const blockedFromMarketing = prepared<{ accountId: string; keys: string }, { address: string }>(
  (db, { accountId, keys }) => suppressions(db, accountId, keys),
)

/** Those of these addresses that get no mail at all. */
const blockedFromAll = prepared<{ accountId: string; keys: string }, { address: string }>(
  (db, { accountId, keys }) => suppressions(db, accountId, keys).where('scope', '=', 'all'),
)

/**
 * The records of an account about any of these addresses; `keys` is a JSON list of them, as SQLite
 * takes a list of any length only as one value.
 */
const suppressions = (db: Read, accountId: string, keys: string) =>
  db
    .selectFrom('suppressions')
    .select('address')
    .where('account_id', '=', accountId)
    .where('address', 'in', idsOf(keys, 'text'))

/** Why any of `addresses` must not be mailed, by the address in lower case. */
export async function suppressionsAmong(
  read: Read,
  accountId: string,
  addresses: readonly string[],
): Promise<Map<string, Set<SuppressionReason>>> {
  const reasons = new Map<string, Set<SuppressionReason>>()
  for (let start = 0; start < addresses.length; start += perQuery) {
    const keys = JSON.stringify(addresses.slice(start, start + perQuery).map(addressKey))
    const rows = await reasonsAmong(read, { accountId, keys })
    for (const { address, reason } of rows) {
      reasons.set(address, (reasons.get(address) ?? new Set()).add(reason))
    }
  }
  return reasons
}

const reasonsAmong = prepared<
  { accountId: string; keys: string },
  { address: string; reason: SuppressionReason }
>((db, { accountId, keys }) => suppressions(db, accountId, keys).select('reason'))
