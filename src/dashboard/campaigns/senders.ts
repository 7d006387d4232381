import { brandOf, senderOf } from '../../accounts/index.js'
import { parseMailbox } from '../../mime/index.js'
import type { Read } from '../../store/index.js'

// Of the last campaigns so many are looked at.
const mostBefore = 50
const mostSenders = 20

/** The senders that are offered: the last used first, then the brand's and one of each domain. */
export async function sendersOf(
  read: Read,
  { id, name }: { id: string; name: string },
  domains: readonly string[],
): Promise<string[]> {
  const brand = senderOf(await brandOf(read, id))
  const used = await usedSenders(read, id, mostBefore)
  const isOurs = (from: string) => domains.includes(parseMailbox(from)?.domain ?? '')
  const usual = domains.map((domain) => `${name} <news@${domain}>`)
  return [...new Set([...used, brand ?? '', ...usual].filter(isOurs))].slice(0, mostSenders)
}

/** From whom something new is: the sender of the campaign before, else the first that is offered; empty: there is none. */
export async function usualSender(
  read: Read,
  accountId: string,
  offered: readonly string[],
): Promise<string> {
  const [last] = await usedSenders(read, accountId, 1)
  return last ?? offered[0] ?? ''
}

/** Those of the last campaigns, the newest first. */
async function usedSenders(read: Read, accountId: string, most: number): Promise<string[]> {
  const before = await read
    .selectFrom('broadcasts')
    .select('from_header')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  return before.map(({ from_header }) => from_header)
}
