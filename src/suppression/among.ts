import { sql } from 'kysely'
import { idsIn, type Read } from '../store/index.js'
import { addressKey } from './suppress.js'

// A batch's recipients in one query; a campaign's page in a few, none of which holds up others.
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
  const scope = type === 'transactional' ? sql`and scope = 'all'` : sql``
  for (let start = 0; start < addresses.length; start += perQuery) {
    const some = addresses.slice(start, start + perQuery)
    const { rows } = await sql<{ address: string }>`
      select address from suppressions
      where account_id = ${accountId} and address in ${idsIn(some.map(addressKey))} ${scope}
    `.execute(read)
    if (rows.length === 0) continue
    const found = new Set(rows.map(({ address }) => address))
    for (const address of some) if (found.has(addressKey(address))) blocked.add(address)
  }
  return blocked
}
