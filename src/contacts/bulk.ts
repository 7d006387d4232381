import { sql } from 'kysely'
import { markChanged } from '../changes/index.js'
import { addressKey } from '../mime/index.js'
import { cell, idsOf, prepared, rowsOf, type Tx } from '../store/index.js'
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
import { addToTotal, contactTotal } from './total.js'

/** A row of a file, with the line on which it begins. */
export interface ImportedRow extends RowContact {
  /** The line of the file. */
  line: number
  /** Kept where a row that is refused is shown again. */
  cells?: string
}

/**
 * What becomes of the fields of somebody whom the account knows already: the row's take their place, or only fill gaps,
 * or nothing.
 */
export type KnownPolicy = 'overwrite' | 'fill' | 'leave'

/** Rows that are written in one transaction, and where to. */
export interface MemberBatch {
  accountId: string
  listId: string
  importId: number
  /** The file's name. */
  file: string
  ceiling: number | null
  /** In the order of the file. */
  rows: readonly ImportedRow[]
  /** Of which only is kept that they left. */
  leavers: readonly ImportedRow[]
  newId: () => string
  now: number
  follow?: ContactEffect | undefined
  /** Also of who is on the list already; undefined: `overwrite`, and who is on it is passed over. */
  known?: KnownPolicy | undefined
}

/** What became of the rows of a batch. */
export interface BatchCounts {
  imported: number
  /** Were on the list already, by an earlier row or before. */
  skipped: number
  /** Lines that cannot take their metadata beside what is known. */
  invalid: number[]
  /** Say that somebody left. */
  suppressed: number
  /** Of those whom it has put on the list. */
  noMail: NoMailCounts
  /** The ceiling was met before the last of them. */
  full: boolean
}

/**
 * Puts a batch on a list, in two statements when nobody on it is known, which is how most files are.
 * Who is known already, but not on this list, goes one by one.
 */
export async function addBatch(tx: Tx, batch: MemberBatch): Promise<BatchCounts> {
  const { accountId, listId, importId, newId, now } = batch
  const { rows, full } = await belowCeiling(tx, batch)
  const suppressed = await recordLeft(tx, batch, [...rows, ...batch.leavers])
  const counts: BatchCounts = {
    imported: 0,
    skipped: 0,
    invalid: [],
    suppressed,
    noMail: noneWithoutMail(),
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
  const json = JSON.stringify(
    [...byAddress].map(([address, { id, row }]) => [id, address, ...cellsOf(row)]),
  )
  const inserted = await insertContacts(tx, { json, accountId, now })
  const fresh = new Set(inserted.map(({ id }) => id))
  const newcomers = [...byAddress].flatMap(([address, { id }]) => (fresh.has(id) ? [address] : []))
  await suppressReturned(tx, accountId, newcomers, now)
  const members: unknown[] = []
  const others: string[] = []
  for (const [address, { id, row }] of byAddress) {
    if (fresh.has(id)) members.push([id, row.line])
    else others.push(address)
  }
  await insertMembers(tx, { json: JSON.stringify(members), listId, importId, now })
  await addToTotal(tx, accountId, members.length)
  await addToCount(tx, listId, members.length, now)
  counts.imported += members.length
  const joined = new Set(fresh)
  const joinedAddresses = [...newcomers]
  for (const { id, address, listed, broughtBy } of await knownAmong(tx, batch, others)) {
    const row = byAddress.get(address)?.row
    if (row === undefined || (listed !== null && batch.known === undefined)) counts.skipped++
    else if (await joinKnown(tx, batch, row, broughtBy === importId)) {
      if (listed !== null) {
        counts.skipped++
        continue
      }
      counts.imported++
      joined.add(id)
      joinedAddresses.push(address)
    } else counts.invalid.push(row.line)
  }
  counts.noMail = await countNoMail(tx, accountId, joinedAddresses)
  await markChanged(tx, accountId, [...joined])
  if (batch.follow !== undefined && joined.size > 0) {
    await batch.follow(tx, accountId, await newsOf(tx, batch, joined, fresh))
  }
  return counts
}

/** Records of whom the rows say that they left; before they join, since that may start what mails them. */
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

// Characters of a file's cell that the record keeps.
const maxNoteLength = 200

/** Who has joined the list, for what follows from it. */
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

/** The rows before the first one that would pass the ceiling. */
async function belowCeiling(tx: Tx, batch: MemberBatch) {
  const { accountId, ceiling, rows } = batch
  const free = ceiling === null ? rows.length : ceiling - (await contactTotal(tx, accountId))
  const room = Math.max(0, free)
  if (rows.length <= room) return { rows, full: false }
  const addresses = rows.map(({ email }) => addressKey(email))
  const places = new Set((await knownAmong(tx, batch, addresses)).map(({ address }) => address))
  const known = places.size
  const end = addresses.findIndex((address) => places.add(address).size - known > room)
  return end === -1 ? { rows, full: false } : { rows: rows.slice(0, end), full: true }
}

/**
 * Puts a contact that the account knows on the list, if they are not, with what the row says of them; false where
 * their metadata would become too large. `isOwn`: this import has brought them, by an earlier row.
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
 * A row with what a later one of the same address says: by the policy for known people, as the earlier one stands for
 * what is known. What would become too large is left as it was.
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

/** What a row says of somebody that is not known yet. */
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

/** A new contact as `insertContacts` takes it. */
function cellsOf({ email, firstName, lastName, phone, metadata }: ImportedRow) {
  const [first, last] = [cleanName(firstName ?? ''), cleanName(lastName ?? '')]
  const { name_key, last_name_key } = nameKeys(first, last)
  const fields = metadata === undefined ? null : JSON.stringify(metadata)
  return [email, first, last, name_key, last_name_key, phone ?? null, fields]
}

/** Which of these addresses the account knows, and who of them is on the list. */
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

/** `json`: arrays of id, address and the cells. Answers with the ids of those that are new. */
const insertContacts = prepared<{ json: string; accountId: string; now: number }, { id: string }>(
  (db, { json, accountId, now }) =>
    db
      .insertInto('contacts')
      .columns([
        'id',
        'address',
        'email',
        'first_name',
        'last_name',
        'name_key',
        'last_name_key',
        'phone',
        'metadata',
        'account_id',
        'created_at',
      ])
      .expression((eb) =>
        eb
          .selectFrom(rowsOf(json))
          .select([
            cell(0, 'text').as('id'),
            cell(1, 'text').as('address'),
            cell(2, 'text').as('email'),
            cell<string | null>(3, 'text').as('first_name'),
            cell<string | null>(4, 'text').as('last_name'),
            cell<string | null>(5, 'text').as('name_key'),
            cell<string | null>(6, 'text').as('last_name_key'),
            cell<string | null>(7, 'text').as('phone'),
            cell<string | null>(8, 'text').as('metadata'),
            eb.val(accountId).as('account_id'),
            eb.val(now).as('created_at'),
          ])
          // Without it SQLite takes `on conflict` for a part of the join.
          .where(sql<boolean>`true`),
      )
      .onConflict((conflict) => conflict.columns(['account_id', 'address']).doNothing())
      .returning('id'),
)

/** `json`: arrays of contact and line. */
const insertMembers = prepared<
  { json: string; listId: string; importId: number; now: number },
  unknown
>((db, { json, listId, importId, now }) =>
  db
    .insertInto('list_members')
    .columns(['list_id', 'contact_id', 'added_at', 'import_id', 'line'])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .select([
          eb.val(listId).as('list_id'),
          cell(0, 'text').as('contact_id'),
          eb.val(now).as('added_at'),
          eb.val(importId).as('import_id'),
          cell(1, 'integer').as('line'),
        ]),
    ),
)
