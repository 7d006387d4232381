import { markChanged } from '../changes/index.js'
import { addressKey } from '../mime/index.js'
import { idsOf, prepared, preparedInsertAll, type Tx } from '../store/index.js'
import { suppress, suppressReturned } from '../suppression/index.js'
import {
  type Contact,
  type ContactEffect,
  type ContactNews,
  contactsOfIds,
  findContact,
  type NewContact,
  toContact,
  updateContact,
} from './contact.js'
import type { RowContact } from './csv-row.js'
import { cleanName, mergedMetadata, nameKeys } from './fields.js'
import { addToCount, joinList } from './list.js'
import { countNoMail, type NoMailCounts, noneWithoutMail } from './no-mail.js'
import { shelfAfter } from './shelf.js'
import { addToTotal, contactTotal } from './total.js'

/** A row of a file, with the line on which it begins. */
export interface ImportedRow extends RowContact {
  /** The line of the file. */
  line: number
  /** The row's cells, kept where a row may be shown again: it is refused, or something is noted of it. */
  cells?: string
}

/** What happens to the fields of a known contact: the row's values replace them, fill only gaps, or change nothing. */
export type KnownPolicy = 'overwrite' | 'fill' | 'leave'

/** Rows that are written in one transaction, and their list. */
export interface MemberBatch {
  accountId: string
  listId: string
  importId: number
  /** The file's name. */
  file: string
  ceiling: number | null
  /** In the order of the file. */
  rows: readonly ImportedRow[]
  /** Rows of which only the leaving is kept. */
  leavers: readonly ImportedRow[]
  newId: () => string
  now: number
  follow?: ContactEffect | undefined
  /** Holds also for people who are on the list already; undefined: `overwrite`, and those are passed over. */
  known?: KnownPolicy | undefined
}

/** The result of a batch's rows. */
export interface BatchCounts {
  imported: number
  /** How many were on the list already, by an earlier row or before. */
  skipped: number
  /** The lines whose metadata do not fit beside what is known. */
  invalid: number[]
  /** How many rows say that somebody left. */
  suppressed: number
  /** How many of the people whom it has put on the list get no mail. */
  noMail: NoMailCounts
  /** The lines whose phone numbers cannot be read, and are kept as a field. */
  unreadPhones: number[]
  /** The ceiling was reached before the last row. */
  full: boolean
}

/**
 * Puts a batch on a list, in two statements when the account knows none of its people, as is so for most files. Known
 * people who are not on this list are added one by one.
 */
export async function addBatch(tx: Tx, batch: MemberBatch): Promise<BatchCounts> {
  const { accountId, listId, importId, newId, now } = batch
  const total = await contactTotal(tx, accountId)
  const { rows, full } = await belowCeiling(tx, batch, total)
  const suppressed = await recordLeft(tx, batch, [...rows, ...batch.leavers])
  const counts: BatchCounts = {
    imported: 0,
    skipped: 0,
    invalid: [],
    suppressed,
    noMail: noneWithoutMail(),
    unreadPhones: [],
    full,
  }
  const byAddress = new Map<string, { id: string; row: ImportedRow }>()
  for (const row of rows) {
    const address = addressKey(row.email)
    const twin = byAddress.get(address)
    if (twin === undefined) byAddress.set(address, { id: newId(), row })
    else {
      counts.skipped++
      twin.row = twinOf(twin.row, row, batch.known)
    }
  }
  // In the order of the addresses' index, whose pages are then found one after another.
  const shelf = shelfAfter(total)
  const people = [...byAddress].sort(([a], [b]) => (a < b ? -1 : 1))
  const inserted = await insertContacts(
    tx,
    people.map(([address, { id, row }]) => contactRow(id, address, row, { accountId, shelf, now })),
  )
  const fresh = new Set(inserted.map(({ id }) => id))
  const newcomers = [...byAddress].flatMap(([address, { id }]) => (fresh.has(id) ? [address] : []))
  await suppressReturned(tx, accountId, newcomers, now)
  const others: string[] = []
  const members = [...byAddress].flatMap(([address, { id, row }]) => {
    if (!fresh.has(id)) others.push(address)
    return fresh.has(id) ? [memberRow(id, row, batch)] : []
  })
  await insertMembers(tx, members)
  await addToTotal(tx, accountId, members.length)
  await addToCount(tx, listId, members.length, now)
  counts.imported += members.length
  const joined = new Set(fresh)
  /** Whose fields are written. */
  const kept = new Set(newcomers)
  const joinedAddresses = [...newcomers]
  for (const { id, address, listed, broughtBy } of await knownAmong(tx, batch, others)) {
    const row = byAddress.get(address)?.row
    if (row === undefined || (listed !== null && batch.known === undefined)) counts.skipped++
    else if (await joinKnown(tx, batch, row, broughtBy === importId)) {
      if (batch.known !== 'leave') kept.add(address)
      if (listed !== null) {
        counts.skipped++
        continue
      }
      counts.imported++
      joined.add(id)
      joinedAddresses.push(address)
    } else counts.invalid.push(row.line)
  }
  counts.unreadPhones = rows
    .filter(({ unreadPhone, email }) => unreadPhone !== undefined && kept.has(addressKey(email)))
    .map(({ line }) => line)
  counts.noMail = await countNoMail(tx, accountId, joinedAddresses)
  await markChanged(tx, accountId, [...joined])
  if (batch.follow !== undefined && joined.size > 0) {
    await batch.follow(tx, accountId, await newsOf(tx, batch, joined, fresh))
  }
  return counts
}

/**
 * Records the people who left, by the rows' word. This comes before they join, since joining may start something that
 * mails them.
 */
async function recordLeft(tx: Tx, batch: MemberBatch, rows: readonly ImportedRow[]) {
  let suppressed = 0
  for (const { email, left = [], line } of rows) {
    if (left.length > 0) suppressed++
    for (const { reason, at = batch.now, note } of left) {
      const detail = `${note.slice(0, maxNoteLength)} (${batch.file}, line ${line})`
      await suppress(tx, batch.accountId, { email, reason, detail }, Math.min(at, batch.now))
    }
  }
  return suppressed
}

// How many characters of a file's cell the record keeps.
const maxNoteLength = 200

/** The people who have joined the list, for what follows from that. */
async function newsOf(
  tx: Tx,
  { accountId, listId }: MemberBatch,
  joined: ReadonlySet<string>,
  fresh: ReadonlySet<string>,
): Promise<ContactNews[]> {
  const rows = await contactsOfIds(tx, accountId, [...joined])
    // The order of the file, as ids rise.
    .orderBy('contacts.id')
    .execute()
  return rows.map((row) => ({ contact: toContact(row), added: fresh.has(row.id), listId }))
}

/** The rows before the first one that would exceed the ceiling. */
async function belowCeiling(tx: Tx, batch: MemberBatch, total: number) {
  const { ceiling, rows } = batch
  const free = ceiling === null ? rows.length : ceiling - total
  const room = Math.max(0, free)
  if (rows.length <= room) return { rows, full: false }
  const addresses = rows.map(({ email }) => addressKey(email))
  const places = new Set((await knownAmong(tx, batch, addresses)).map(({ address }) => address))
  const known = places.size
  const end = addresses.findIndex((address) => places.add(address).size - known > room)
  return end === -1 ? { rows, full: false } : { rows: rows.slice(0, end), full: true }
}

/**
 * Puts a known contact on the list, if they are not on it, with what the row says of them; false where their metadata
 * would become too large. `isOwn`: this import itself has brought them, by an earlier row.
 */
async function joinKnown(
  tx: Tx,
  { accountId, listId, importId, now, known: policy = 'overwrite' }: MemberBatch,
  row: ImportedRow,
  isOwn: boolean,
): Promise<boolean> {
  const known = await findContact(tx, accountId, row.email)
  if (known === undefined) throw new Error('A contact is gone in the write that found it')
  const given = policy === 'fill' ? gapsOf(known, row) : row
  if (policy !== 'leave') {
    if (mergedMetadata(known.metadata, given.metadata ?? {}) === undefined) return false
    await updateContact(tx, accountId, known, given, isOwn ? undefined : now)
  }
  await joinList(tx, listId, known.id, now, { import_id: importId, line: row.line })
  return true
}

/**
 * Joins a row with a later one of the same address, by the policy for known people: the earlier row counts as what is
 * known. A value that would become too large stays as it was.
 */
function twinOf(row: ImportedRow, later: ImportedRow, policy: KnownPolicy = 'leave'): ImportedRow {
  if (policy === 'leave') return row
  const [over, under] = policy === 'overwrite' ? [later, row] : [row, later]
  const metadata = { ...under.metadata, ...over.metadata }
  const isKept = mergedMetadata({}, metadata) !== undefined
  return {
    ...row,
    firstName: over.firstName ?? under.firstName,
    lastName: over.lastName ?? under.lastName,
    phone: over.phone ?? under.phone,
    ...(isKept && Object.keys(metadata).length > 0 && { metadata }),
  }
}

/** What a row says of a person that is not known yet. */
const gapsOf = (known: Contact, row: NewContact): NewContact => ({
  email: row.email,
  firstName: known.firstName === null ? row.firstName : undefined,
  lastName: known.lastName === null ? row.lastName : undefined,
  phone: known.phone === null ? row.phone : undefined,
  metadata:
    row.metadata &&
    Object.fromEntries(
      Object.entries(row.metadata).filter(([name]) => !Object.hasOwn(known.metadata, name)),
    ),
})

function contactRow(
  id: string,
  address: string,
  { email, firstName, lastName, phone, metadata }: ImportedRow,
  { accountId, shelf, now }: Pick<MemberBatch, 'accountId' | 'now'> & { shelf: number },
) {
  const [first, last] = [cleanName(firstName ?? ''), cleanName(lastName ?? '')]
  const { name_key, last_name_key } = nameKeys(first, last)
  return {
    id,
    account_id: accountId,
    address,
    email,
    first_name: first,
    last_name: last,
    name_key,
    last_name_key,
    phone: phone ?? null,
    metadata: metadata === undefined ? null : JSON.stringify(metadata),
    created_at: now,
    shelf,
  }
}

const memberRow = (
  contactId: string,
  { line }: ImportedRow,
  { listId, importId, now }: MemberBatch,
) => ({ list_id: listId, contact_id: contactId, added_at: now, import_id: importId, line })

/** Which of these addresses the account knows, and which of them are on the list. */
const knownAmong = (tx: Tx, { accountId, listId }: MemberBatch, addresses: readonly string[]) =>
  addresses.length === 0
    ? Promise.resolve([])
    : knownRows(tx, { accountId, listId, keys: JSON.stringify(addresses) })

/** The query of `knownAmong`; `keys` is a JSON array. */
const knownRows = prepared<
  { accountId: string; listId: string; keys: string },
  { id: string; address: string; listed: string | null; broughtBy: number | null }
>((db, { accountId, listId, keys }) =>
  db
    .selectFrom('contacts')
    .leftJoin('list_members', (join) =>
      join
        .on('list_members.list_id', '=', listId)
        .onRef('list_members.contact_id', '=', 'contacts.id'),
    )
    .select(['contacts.id', 'address', 'list_members.list_id as listed', 'import_id as broughtBy'])
    .where('account_id', '=', accountId)
    .where('address', 'in', idsOf(keys, 'text')),
)

/** Answers with the ids of those that are new. */
const insertContacts = preparedInsertAll<'contacts', { id: string }>('contacts', (insert) =>
  insert
    .onConflict((conflict) => conflict.columns(['account_id', 'address']).doNothing())
    .returning('id'),
)

const insertMembers = preparedInsertAll('list_members')
