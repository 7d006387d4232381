import { addressKey } from '../mime/index.js'
import { idsIn, type Read } from '../store/index.js'
import { erasedAmong } from '../suppression/index.js'
import { noMailReason, standingsOf } from './no-mail.js'

// With more suppressions by hand the look takes too long for a page: it needs a hash for each.
const mostLooked = 5_000

/**
 * The ids of the contacts who get no mail only because they were erased and added again. They are few: a file or a
 * program brought each of them back. Undefined where too many are suppressed by hand to look at all.
 */
export async function erasedContacts(read: Read, accountId: string): Promise<string[] | undefined> {
  const some = await read
    .selectFrom('erasures')
    .select('hash')
    .where('account_id', '=', accountId)
    .limit(1)
    .executeTakeFirst()
  if (some === undefined) return []
  const byHand = await read
    .selectFrom('suppressions')
    .select('address')
    .where('account_id', '=', accountId)
    .where('reason', '=', 'manual')
    .orderBy('address')
    .limit(mostLooked + 1)
    .execute()
  if (byHand.length > mostLooked) return undefined
  const addresses = byHand.map(({ address }) => address)
  const erased = [...(await erasedAmong(read, accountId, addresses))]
  if (erased.length === 0) return []
  const { standingOf } = await standingsOf(read, accountId, erased)
  const theirs = erased.filter((address) => noMailReason(standingOf(address)) === 'erased')
  const rows = await read
    .selectFrom('contacts')
    .select('id')
    .where('account_id', '=', accountId)
    .where('address', 'in', idsIn(theirs.map(addressKey), 'text'))
    .execute()
  return rows.map(({ id }) => id)
}
