import { cell, idsOf, prepared, rowsOf, type Tx } from '../store/index.js'
import { addressKey, findContact, type NewContact, updateContact } from './contact.js'
import { cleanName, mergedMetadata } from './fields.js'
import { addToCount, joinList } from './list.js'
import { addToTotal, contactTotal } from './total.js'

export interface ImportedRow extends NewContact {
  /** Of the file. */
  line: number
}

export interface Batch {
  accountId: string
  listId: string
  importId: number
  ceiling: number | null
  /** In the order of the file. */
  contacts: readonly ImportedRow[]
  newId: () => string
  now: number
}

export interface BatchCounts {
  imported: number
  /** Were on the list already, by an earlier row or before. */
  skipped: number
  /** Cannot take their metadata beside what is known. */
  invalid: number
  /** The ceiling was met before the last of them. */
  full: boolean
}

/**
 * Puts a batch on a list, in three statements however many they are; who is known already, but not
 * on this list, is rare and goes one by one.
 */
export async function addBatch(tx: Tx, batch: Batch): Promise<BatchCounts> {
  const { accountId, listId, importId, ceiling, contacts, newId, now } = batch
  const keys = JSON.stringify(contacts.map(({ email }) => addressKey(email)))
  const rows = await knownAmong(tx, { accountId, listId, keys })
  const known = new Map(rows.map(({ address, listed }) => [address, listed !== null]))
  const room = ceiling === null ? Infinity : ceiling - (await contactTotal(tx, accountId))
  const counts: BatchCounts = { imported: 0, skipped: 0, invalid: 0, full: false }
  const seen = new Set<string>()
  const fresh: unknown[][] = []
  for (const contact of contacts) {
    const address = addressKey(contact.email)
    const listed = known.get(address)
    if (listed || seen.has(address)) {
      counts.skipped++
    } else if (listed === undefined) {
      if (fresh.length >= room) {
        counts.full = true
        break
      }
      seen.add(address)
      fresh.push([newId(), address, ...cellsOf(contact)])
    } else if (await joinKnown(tx, batch, contact)) {
      seen.add(address)
      counts.imported++
    } else {
      counts.invalid++
    }
  }
  if (fresh.length > 0) {
    const inserted = { json: JSON.stringify(fresh), accountId, listId, importId, now }
    await insertContacts(tx, inserted)
    await insertMembers(tx, inserted)
    await addToTotal(tx, accountId, fresh.length)
    await addToCount(tx, listId, fresh.length)
    counts.imported += fresh.length
  }
  return counts
}

async function joinKnown(
  tx: Tx,
  { accountId, listId, importId, now }: Batch,
  given: ImportedRow,
): Promise<boolean> {
  const known = await findContact(tx, accountId, given.email)
  if (known === undefined) throw new Error('A contact is gone in the write that found it')
  if (mergedMetadata(known.metadata, given.metadata ?? {}) === undefined) return false
  await updateContact(tx, known, given)
  return joinList(tx, listId, known.id, now, { import_id: importId, line: given.line })
}

/** A new contact as `insertContacts` takes it. */
const cellsOf = ({ email, firstName, lastName, phone, metadata, line }: ImportedRow) => [
  email,
  cleanName(firstName ?? ''),
  cleanName(lastName ?? ''),
  phone ?? null,
  metadata === undefined ? null : JSON.stringify(metadata),
  line,
]

const knownAmong = prepared<
  { accountId: string; listId: string; keys: string },
  { address: string; listed: string | null }
>((db, { accountId, listId, keys }) =>
  db
    .selectFrom('contacts')
    .leftJoin('list_members', (join) =>
      join
        .on('list_members.list_id', '=', listId)
        .onRef('list_members.contact_id', '=', 'contacts.id'),
    )
    .select(['address', 'list_members.list_id as listed'])
    .where('account_id', '=', accountId)
    .where('address', 'in', idsOf(keys)),
)

interface FreshRows {
  /** Of arrays: id, address and the cells. */
  json: string
  accountId: string
  listId: string
  importId: number
  now: number
}

const insertContacts = prepared<FreshRows, unknown>((db, { json, accountId, now }) =>
  db
    .insertInto('contacts')
    .columns([
      'id',
      'address',
      'email',
      'first_name',
      'last_name',
      'phone',
      'metadata',
      'account_id',
      'created_at',
    ])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .select([
          cell<string>(0).as('id'),
          cell<string>(1).as('address'),
          cell<string>(2).as('email'),
          cell<string | null>(3).as('first_name'),
          cell<string | null>(4).as('last_name'),
          cell<string | null>(5).as('phone'),
          cell<string | null>(6).as('metadata'),
          eb.val(accountId).as('account_id'),
          eb.val(now).as('created_at'),
        ]),
    ),
)

const insertMembers = prepared<FreshRows, unknown>((db, { json, listId, importId, now }) =>
  db
    .insertInto('list_members')
    .columns(['list_id', 'contact_id', 'added_at', 'import_id', 'line'])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .select([
          eb.val(listId).as('list_id'),
          cell<string>(0).as('contact_id'),
          eb.val(now).as('added_at'),
          eb.val(importId).as('import_id'),
          cell<number>(7).as('line'),
        ]),
    ),
)
