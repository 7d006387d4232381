import { addressKey } from '../mime/index.js'
import { type Read, textCursorOf, textInCursor } from '../store/index.js'
import { type FormEntry, toEntry } from './entry.js'

// How many entries are read for a page: most of an account's may be confirmed.
const perLook = 60

/**
 * People who were asked for a confirmation and have not given it, by address: a page of entries, and where the next one
 * begins. A page may be short, where most of the entries that it read were confirmed.
 */
export async function waitingEntries(
  read: Read,
  accountId: string,
  { cursor, now }: { cursor: string | undefined; now: number },
): Promise<{ page: FormEntry[]; nextCursor: string | null }> {
  const scope = `waiting ${accountId}`
  const after = cursor === undefined ? '' : textInCursor(cursor, scope)
  const rows = await read
    .selectFrom('form_entries')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('address', '>', after)
    .orderBy('address')
    .limit(perLook)
    .execute()
  const last = rows.at(-1)
  // More entries of the last address may follow: the next page has them.
  const isCut = rows.length === perLook && rows[0]?.address !== last?.address
  const whole = isCut ? rows.filter(({ address }) => address !== last?.address) : rows
  const page = whole
    .filter(({ state, expires_at }) => state === 'waiting' && expires_at > now)
    .map(toEntry)
  const end = whole.at(-1)
  const hasMore = rows.length === perLook && end !== undefined
  return { page, nextCursor: hasMore ? textCursorOf(addressKey(end.email), scope) : null }
}
