import { createHash } from 'node:crypto'
import { type Clock, dayNumber, type Repeating, repeat } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { addressKey, parseMailbox } from '../mime/index.js'
import { holds } from '../nodes/index.js'
import {
  cell,
  firstUuidAt,
  prepared,
  preparedInsertAll,
  type Read,
  readExtras,
  rowsOf,
  type Store,
  storedTexts,
  type Tx,
  uuidTime,
  wholeExtras,
} from '../store/index.js'

/*
 * Mails by recipient, and by a Message-ID that a program made. Filled in after the acceptance: an entry beside each
 * mail would cost it a page of its own (25 µs a mail, Nov 2026), while many at once share pages. Entries are ordered by
 * day, so that those of one time are together; a search looks into each day. Mails newer than `through` are not in it
 * yet.
 */
const lagMs = 60_000
const lateMs = 30_000
// The pause while there is nothing to enter; far shorter than a mail waits anyway.
const everyMs = 5_000
// Clients wait meanwhile, and 500 took 18 ms: while an old log was entered, p90 of the API was 18 ms instead of
// 10.
const mailsAWrite = 100
// It rests this many times as long as it worked, however many mails are to be entered, e.g. after an update.
const restFactor = 2

/** The fields by which a mail is entered. */
export interface IndexedMail {
  id: string
  account_id: string
  to_list: string
  extras: string | null
  message_id: string
}

/** Enters mails for as long as it runs; for a thread that nobody waits for. */
export function startRecipientIndex(deps: { store: Store; clock: Clock; log: Log }): Repeating {
  const { clock, log } = deps
  return repeat(clock, async () => {
    if (!holds(deps.store.node, 'figures')) return everyMs
    const began = clock.now()
    const entered = await enterNext(deps).catch((error: unknown) => {
      log.error({ cause: messageOf(error) }, 'Mails could not be entered by their recipients')
      return 0
    })
    return entered < mailsAWrite ? everyMs : restFactor * (clock.now() - began)
  })
}

/** Enters the next mails; resolves with how many. Safe to repeat: all of it is one transaction. */
export async function enterNext({ store, clock }: { store: Store; clock: Clock }): Promise<number> {
  const from = await readThrough(store.read)
  const mails = await store.read
    .selectFrom('emails')
    .select(['id', 'account_id', 'to_list', 'extras', 'message_id'])
    .where('id', '>', from)
    .where('id', '<', firstUuidAt(clock.now() - lagMs))
    .orderBy('id')
    .limit(mailsAWrite)
    .execute()
  const last = mails.at(-1)
  if (last === undefined) return 0
  await store.write(async (tx) => {
    await enter(tx, mails)
    await tx.updateTable('recipient_index').set({ through: last.id }).execute()
  })
  return mails.length
}

/**
 * Enters mails that are committed long after their ids were made, when other mails of that time may already
 * have been entered. Called in the transaction that writes them.
 */
export async function enterIfLate(
  tx: Tx,
  clock: Clock,
  mails: readonly { row: IndexedMail & { created_at: number } }[],
): Promise<void> {
  // An id is never older than its acceptance. But if the clock was ahead earlier, the id may be below those already
  // entered.
  const latest = clock.now() - lateMs
  const through = await readThrough(tx)
  const late = mails.filter(({ row }) => row.created_at < latest || row.id <= through)
  if (late.length === 0) return
  await enter(
    tx,
    late.map(({ row }) => row),
  )
}

/** Whether no mail waits to be entered, the newest ones included. */
export async function allEntered(read: Read): Promise<boolean> {
  const from = await readThrough(read)
  const query = read.selectFrom('emails').select('id').where('id', '>', from).limit(1)
  return (await query.executeTakeFirst()) === undefined
}

/** The id up to which all mails are entered. */
export async function readThrough(read: Read): Promise<string> {
  const [row] = await throughOf(read, {})
  return row?.through ?? ''
}

/** Read in each write that accepts mail. */
const throughOf = prepared<object, { through: string }>((db) =>
  db.selectFrom('recipient_index').select('through'),
)

/**
 * Mails that are entered for the address (or Message-ID), newest first, with ids from `since` to below `until`; now and
 * then one of another address, as the index keeps a hash.
 */
export async function enteredFor(
  read: Read,
  recipient: { accountId: string; address: string },
  { since, until, limit }: { since: string; until: string; limit: number },
): Promise<string[]> {
  const oldest = await read
    .selectFrom('recipient_entries')
    .select('day')
    .orderBy('day')
    .limit(1)
    .executeTakeFirst()
  if (oldest === undefined) return []
  // Entries from before 2026-11-22 are found only by the address as it was written.
  const written = new Set([addressKey(recipient.address), recipient.address])
  const keys = [...written].map((address) => keyOf(recipient.accountId, address))
  const found: string[] = []
  const firstDay = Math.max(oldest.day, dayOf(since))
  for (let day = dayOf(until); day >= firstDay; day--) {
    const page = { day, since, until, limit: limit - found.length }
    const each = await Promise.all(keys.map((key) => entriesOn(read, { ...page, key })))
    const ids = each.flat().map((row) => row.email_id)
    found.push(...ids.sort((a, b) => (a < b ? 1 : -1)).slice(0, page.limit))
    if (found.length >= limit) break
  }
  return found
}

/** By day and a hash of account and address: the index is small, and reveals no addresses. */
const entriesOn = prepared<
  { day: number; key: number; since: string; until: string; limit: number },
  { email_id: string }
>((db, { day, key, since, until, limit }) =>
  db
    .selectFrom('recipient_entries')
    .select('email_id')
    .where('day', '=', day)
    .where('key', '=', key)
    .where('email_id', '>=', since)
    .where('email_id', '<', until)
    .orderBy('email_id', 'desc')
    .limit(limit),
)

/**
 * The addresses that the account never mailed, as far as its log goes: no mail entered for them has left. `before`:
 * the state at that time. Costs a search an address and day that the log has.
 */
export async function neverMailed(
  tx: Tx,
  accountId: string,
  addresses: Iterable<string>,
  before?: number,
): Promise<Set<string>> {
  const open = new Map<number, string[]>()
  for (const address of addresses) {
    const key = keyOf(accountId, addressKey(address))
    open.set(key, [...(open.get(key) ?? []), address])
  }
  const until = before === undefined ? lastUuid : firstUuidAt(before)
  const { first, last } = await daysEntered(tx)
  for (let day = last; day >= first && open.size > 0; day--) {
    const keys = [...open.keys()].map((key) => [key])
    const mailed = await mailedOn(tx, { day, until, json: JSON.stringify(keys) })
    for (const { key } of mailed) open.delete(key)
  }
  return new Set([...open.values()].flat())
}

/** The days of the oldest and the newest entry; `last` is before `first` if there are none. */
export async function daysEntered(read: Read): Promise<{ first: number; last: number }> {
  const [row] = await firstAndLastDay(read, {})
  return { first: row?.first ?? 0, last: row?.last ?? -1 }
}

/**
 * Two queries: for a single min or max SQLite reads only the end of an index, but for both it reads all of
 * it.
 */
const firstAndLastDay = prepared<object, { first: number | null; last: number | null }>((db) =>
  db.selectNoFrom((eb) => [
    eb
      .selectFrom('recipient_entries')
      .select(({ fn }) => fn.min<number | null>('day').as('day'))
      .as('first'),
    eb
      .selectFrom('recipient_entries')
      .select(({ fn }) => fn.max<number | null>('day').as('day'))
      .as('last'),
  ]),
)

// No id is greater.
const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The keys that have an entry of that day whose mail has left. */
const mailedOn = prepared<{ day: number; until: string; json: string }, { key: number }>(
  (db, { day, until, json }) =>
    db
      .selectFrom(db.selectFrom(rowsOf(json)).select(cell(0, 'integer').as('key')).as('asked'))
      .select('asked.key')
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('recipient_entries')
            .innerJoin('emails', 'emails.id', 'recipient_entries.email_id')
            .select('recipient_entries.key')
            .where('recipient_entries.day', '=', day)
            .whereRef('recipient_entries.key', '=', 'asked.key')
            .where('recipient_entries.email_id', '<', until)
            .where('emails.sent_at', 'is not', null),
        ),
      ),
)

/** The addresses of all its recipients, whatever the field, as they are compared. */
export function recipientsIn({ to_list, extras }: Pick<IndexedMail, 'to_list' | 'extras'>) {
  const { cc, bcc } = wholeExtras(readExtras(extras))
  const given = [...(storedTexts(to_list) ?? []), ...cc, ...bcc]
  return new Set(given.map((text) => addressKey(parseMailbox(text)?.address ?? text)))
}

async function enter(tx: Tx, mails: readonly IndexedMail[]): Promise<void> {
  await insertEntries(
    tx,
    entriesOf(mails).map(([day, key, email_id]) => ({ day, key, email_id })),
  )
}

/** All of to, cc and bcc, since people search for a recipient and not for a field. */
function entriesOf(mails: readonly IndexedMail[]) {
  // A damaged mail must not keep the others waiting.
  const sound = mails.filter(({ id }) => Number.isInteger(dayOf(id)))
  const entries = sound.flatMap((mail) =>
    keysIn(mail).map(
      (address) => [dayOf(mail.id), keyOf(mail.account_id, address), mail.id] as const,
    ),
  )
  // In the order of the table, so that entries of one page are written together.
  return entries.sort(([dayA, keyA], [dayB, keyB]) => dayA - dayB || keyA - keyB)
}

/** The keys by which a mail is found. A Message-ID has angle brackets, which no address has. */
const keysIn = (mail: IndexedMail): string[] => [
  ...recipientsIn(mail),
  ...(hasOwnMessageId(mail) ? [] : [addressKey(mail.message_id)]),
]

const hasOwnMessageId = ({ id, message_id }: IndexedMail) => mailOfMessageId(message_id) === id

/**
 * The entry of a mail by the Message-ID that a program made; undefined if the Message-ID is ours.
 */
export const messageIdEntry = (mail: IndexedMail) =>
  hasOwnMessageId(mail)
    ? undefined
    : ([dayOf(mail.id), keyOf(mail.account_id, addressKey(mail.message_id)), mail.id] as const)

/** The id of a mail by a Message-ID of ours, which begins with it. */
export const mailOfMessageId = (messageId: string): string | undefined =>
  /^<([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/.exec(messageId)?.[1]

/** Removes the entries of mails, in the write that deletes them. */
export async function removeEntries(tx: Tx, mails: readonly IndexedMail[]): Promise<void> {
  const entries = entriesOf(mails)
  if (entries.length > 0) await deleteEntries(tx, { json: JSON.stringify(entries) })
}

/**
 * Makes a mail found by its present recipients, and no longer by former ones. Entering twice has no further
 * effect.
 */
export async function enterAnew(tx: Tx, before: IndexedMail, after: IndexedMail): Promise<void> {
  await removeEntries(tx, [before])
  await enter(tx, [after])
}

const deleteEntries = prepared<{ json: string }, unknown>((db, { json }) =>
  db.deleteFrom('recipient_entries').where(({ eb, refTuple, selectFrom }) =>
    eb(
      refTuple('day', 'key', 'email_id'),
      'in',
      selectFrom(rowsOf(json))
        .select([
          cell(0, 'integer').as('day'),
          cell(1, 'integer').as('key'),
          cell(2, 'text').as('email_id'),
        ])
        .$asTuple('day', 'key', 'email_id'),
    ),
  ),
)

/** Existing entries stay. */
export const insertEntries = preparedInsertAll('recipient_entries', (insert) =>
  insert.onConflict((conflict) => conflict.doNothing()),
)

const dayOf = (id: string) => dayNumber(uuidTime(id))

/** 48 bits, which a JavaScript number holds exactly. */
export const keyOf = (accountId: string, address: string) =>
  createHash('sha256').update(`${accountId} ${address}`).digest().readUIntBE(0, 6)
