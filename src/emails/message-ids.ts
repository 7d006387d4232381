import { sql } from 'kysely'
import { addressKey } from '../mime/index.js'
import { boundCell, idsIn, preparedOver, type Read, type Tx } from '../store/index.js'
import {
  daysEntered,
  type IndexedMail,
  insertEntries,
  keyOf,
  mailOfMessageId,
  messageIdEntry,
} from './recipient-index.js'

// In a log of more days only the newest are searched.
const mostDays = 400
// Each of them is searched for in every day of the log.
const mostSearched = 5
// This many mails may share a Message-ID, if a program gives all mails the same one.
const mostFound = 100

/**
 * Enters mails by the Message-IDs that programs made, in the write that accepts them: machines answer within a second,
 * long before a mail is entered by its recipients. Mails with a Message-ID of ours cost nothing.
 */
export async function enterMessageIds(tx: Tx, mails: readonly { row: IndexedMail }[]) {
  const entries = mails.flatMap(({ row }) => {
    const entry = messageIdEntry(row)
    if (entry === undefined) return []
    const [day, key, email_id] = entry
    return { day, key, email_id }
  })
  await insertEntries(tx, entries)
}

/**
 * The account's mails that have one of these Message-IDs, by the Message-ID: by the primary key if we made it, and by
 * the index of mails if a program made it, of which the first five are searched for. Costs a search a Message-ID and
 * day of the log.
 */
export async function mailsByMessageIds(
  read: Read,
  accountId: string,
  messageIds: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const own = new Map(messageIds.flatMap((one) => pairOf(one, mailOfMessageId(one))))
  if (own.size > 0) {
    const rows = await read
      .selectFrom('emails')
      .select('id')
      .where('id', 'in', idsIn([...new Set(own.values())], 'text'))
      .where('account_id', '=', accountId)
      .execute()
    const ids = new Set(rows.map(({ id }) => id))
    for (const [messageId, id] of own) if (ids.has(id)) found.set(messageId, id)
  }
  const others = messageIds.filter((one) => !found.has(one)).slice(0, mostSearched)
  if (others.length === 0) return found
  const { first, last } = await daysEntered(read)
  const keys = others.map((one) => keyOf(accountId, addressKey(one)))
  const asked: [number, number][] = []
  for (let day = last; day >= Math.max(first, last - mostDays); day--) {
    for (const key of keys) asked.push([day, key])
  }
  if (asked.length === 0) return found
  const entries = await entered(read, asked)
  if (entries.length === 0) return found
  const ids = entries.map(({ email_id }) => email_id)
  const mails = await read
    .selectFrom('emails')
    .select(['id', 'message_id'])
    .where('id', 'in', idsIn(ids, 'text'))
    // The index holds a hash, which another account's mail may have too.
    .where('account_id', '=', accountId)
    .execute()
  // If a program used a Message-ID twice, the newest mail is meant.
  for (const { id, message_id } of mails) {
    if (others.includes(message_id) && id > (found.get(message_id) ?? '')) found.set(message_id, id)
  }
  return found
}

const pairOf = (messageId: string, id: string | undefined): [string, string][] =>
  id === undefined ? [] : [[messageId, id]]

const entered = preparedOver<{ email_id: string }>(2, (db, lines) =>
  db
    .selectFrom(lines)
    .innerJoin('recipient_entries', (join) =>
      join
        .on('recipient_entries.day', '=', boundCell(0, 'integer'))
        .on('recipient_entries.key', '=', boundCell(1, 'integer')),
    )
    .select('recipient_entries.email_id')
    .limit(sql.lit(mostFound)),
)
