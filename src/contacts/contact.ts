import { markChanged } from '../changes/index.js'
import { recordConsent } from '../consent/index.js'
import { ApiError } from '../errors/index.js'
import { addressKey, parseMailbox } from '../mime/index.js'
import {
  type ContactRow,
  idsIn,
  prepared,
  type Read,
  storedObject,
  type Tx,
  unindexed,
} from '../store/index.js'
import { suppressReturned } from '../suppression/index.js'
import { cleanName, maxMetadataBytes, mergedMetadata, nameKeys } from './fields.js'
import { type ContactDeps, joinList, requireList } from './list.js'
import { shelfAfter } from './shelf.js'
import { addToTotal, contactTotal, refuseBeyond } from './total.js'

/** A person to whom an account writes. */
export interface Contact {
  id: string
  /** As it was added. */
  email: string
  firstName: string | null
  lastName: string | null
  /** E.164. */
  phone: string | null
  metadata: Record<string, unknown>
  /** When they left all marketing mail of the account. */
  unsubscribedAt: number | null
  createdAt: number
}

/** A contact to add, or changes of one. */
export interface NewContact {
  email: string
  firstName?: string | undefined
  lastName?: string | undefined
  /** E.164 (`toE164`). */
  phone?: string | undefined
  /** Merged over the known metadata, key by key. */
  metadata?: Record<string, unknown> | undefined
}

/** Where and by whom somebody is added, and what else is written. */
interface AddOptions {
  /** Puts the contact on this list, which must be the account's. */
  listId?: string | undefined
  /** How many contacts the account may hold (`contactCeiling`); none by default. */
  ceiling?: number | null
  /** Throws when the account may not take people whom it does not know. */
  checkNew?: () => void
  /**
   * For the consent record: a request of the API (the default), a page, an operator's command, a form, or the person.
   */
  by?: 'api' | 'dashboard' | 'command' | 'form' | 'recipient'
  /** How they agreed, for the consent record. */
  note?: string | undefined
  /** Written in the same transaction. */
  alongside?: (tx: Tx, added: AddedContact) => Promise<void>
  follow?: ContactEffect | undefined
}

/**
 * What else happens when people become contacts, join a list or confirm a form, in the same transaction: it awaits only
 * queries on `tx`.
 */
export type ContactEffect = (
  tx: Tx,
  accountId: string,
  news: readonly ContactNews[],
) => Promise<void>

/** Somebody who has become a contact, joined a list or confirmed a form. */
export interface ContactNews {
  contact: Contact
  /** The account did not know the address before. */
  added: boolean
  /** The list that they joined, if any. */
  listId: string | undefined
  /** The form that they confirmed, if any. */
  form?: { id: string; name: string }
}

/** The result of an addition. */
export interface AddedContact {
  contact: Contact
  /** The account did not know the address before. */
  added: boolean
  /** The contact was not on the list before. */
  joined: boolean
}

/** Adds a contact, on a list or on none; a known contact gets the given fields. */
export async function addContact(
  { store, clock }: ContactDeps,
  accountId: string,
  given: NewContact,
  options: AddOptions = {},
): Promise<AddedContact> {
  const id = store.ids.uuid()
  return await store.write(
    (tx) => addContactIn(tx, { id, now: clock.now() }, accountId, given, options),
    accountId,
  )
}

/** A 400: the given address is none. */
export const noEmail = () =>
  new ApiError('validation_error', 'email is not an email address', {
    slips: [{ field: 'email', says: 'Write an address such as ann@example.org' }],
  })

/** Adds a contact within another write; `id` becomes the contact's if the account does not know the address. */
export async function addContactIn(
  tx: Tx,
  { id, now }: { id: string; now: number },
  accountId: string,
  given: NewContact,
  { listId, ceiling = null, checkNew, by = 'api', note, alongside, follow }: AddOptions = {},
): Promise<AddedContact> {
  const mailbox = parseMailbox(given.email)
  if (mailbox === undefined) throw noEmail()
  const { address: email } = mailbox
  if (listId !== undefined) await requireList(tx, accountId, listId)
  const known = await findContact(tx, accountId, email)
  if (known === undefined) {
    checkNew?.()
    await refuseBeyond(tx, accountId, ceiling)
    await tx
      .insertInto('contacts')
      .values({
        id,
        account_id: accountId,
        shelf: shelfAfter(await contactTotal(tx, accountId)),
        ...emptyRow(email, now),
        ...changesOf(given, nobody),
      })
      .execute()
    await addToTotal(tx, accountId, 1)
    await suppressReturned(tx, accountId, [email], now)
  } else {
    await updateContact(tx, accountId, known, given, now)
  }
  const joined = listId !== undefined && (await joinList(tx, listId, known?.id ?? id, now))
  if (known === undefined || joined) await markChanged(tx, accountId, [known?.id ?? id])
  // Also for somebody known and on the list: how they agreed is news.
  if (known === undefined || joined || note) {
    const detail = { by, ...(listId === undefined ? {} : { listId }), ...(note && { note }) }
    await recordConsent(tx, accountId, email, { at: now, kind: 'added', detail })
  }
  const contact = await findContact(tx, accountId, email)
  if (contact === undefined) throw new Error('A contact is gone in the write that added it')
  const done = { contact, added: known === undefined, joined }
  if (done.added || joined) {
    const news = { contact, added: done.added, listId: joined ? listId : undefined }
    await follow?.(tx, accountId, [news])
  }
  await alongside?.(tx, done)
  return done
}

/**
 * Gives a contact the given fields, and leaves the others; resolves with the contact then. `at`: when somebody changed
 * it; undefined for what an import says of its own people, whom undoing it removes.
 */
export async function updateContact(
  tx: Tx,
  accountId: string,
  known: Contact,
  given: Omit<NewContact, 'email'>,
  at: number | undefined,
): Promise<Contact> {
  const changes = changesOf(given, known)
  if (Object.keys(changes).length === 0) return known
  await writeColumns(tx, known.id, { ...changes, ...(at !== undefined && { changed_at: at }) })
  await markChanged(tx, accountId, [known.id])
  return changedBy(known, changes)
}

type ContactColumns = Partial<Omit<ContactRow, 'id' | 'account_id'>>

const changedBy = (
  known: Contact,
  {
    first_name: firstName = known.firstName,
    last_name: lastName = known.lastName,
    phone = known.phone,
    metadata,
  }: ContactColumns,
): Contact => ({
  ...known,
  firstName,
  lastName,
  phone,
  metadata: metadata === undefined ? known.metadata : storedObject(metadata),
})

/** Writes only these columns of a contact: writing indexed columns costs more. */
async function writeColumns(tx: Tx, id: string, columns: ContactColumns): Promise<void> {
  const names = Object.keys(columns) as (keyof ContactColumns)[]
  const key = names.join()
  const write = writers.get(key) ?? writerOf(names)
  writers.set(key, write)
  await write(tx, { ...columns, id })
}

type ColumnWriter = ReturnType<typeof writerOf>

/** One prepared statement for each set of columns; there are few sets. */
const writers = new Map<string, ColumnWriter>()

const writerOf = (names: readonly (keyof ContactColumns)[]) =>
  prepared<ContactColumns & { id: string }, unknown>((db, values) =>
    db
      .updateTable('contacts')
      .set(Object.fromEntries(names.map((name) => [name, values[name]])))
      .where('id', '=', values.id),
  )

/** Finds a contact by address, in any case. */
export async function findContact(
  read: Read,
  accountId: string,
  email: string,
): Promise<Contact | undefined> {
  const row = await contactsOf(read, accountId)
    .where('contacts.address', '=', addressKey(email))
    .executeTakeFirst()
  return row && toContact(row)
}

/** An account's contacts. Only the suppression says whether one has unsubscribed. */
export const contactsOf = (read: Read, accountId: string) =>
  withUnsubscribes(read).where('contacts.account_id', '=', accountId)

/**
 * An account's contacts to which another table leads, in that table's order: an index of the account would tempt
 * SQLite.
 */
export const contactsLedTo = (read: Read, accountId: string) =>
  withUnsubscribes(read).where(unindexed<string>('contacts.account_id'), '=', accountId)

/** Contacts found only by their ids: with the account, SQLite would read all of its contacts. */
export const contactsOfIds = (read: Read, accountId: string, ids: readonly string[]) =>
  withUnsubscribes(read)
    .where('contacts.id', 'in', idsIn(ids, 'text'))
    .where(unindexed<string>('contacts.account_id'), '=', accountId)

const withUnsubscribes = (read: Read) =>
  read
    .selectFrom('contacts')
    .leftJoin('suppressions', (join) =>
      join
        .onRef('suppressions.account_id', '=', 'contacts.account_id')
        .onRef('suppressions.address', '=', 'contacts.address')
        .on('suppressions.reason', '=', 'unsubscribe'),
    )
    .selectAll('contacts')
    .select('suppressions.created_at as unsubscribed_at')

/** A row as the other folders see it. */
export const toContact = (row: ContactRow & { unsubscribed_at: number | null }): Contact => ({
  id: row.id,
  email: row.email,
  firstName: row.first_name,
  lastName: row.last_name,
  phone: row.phone,
  metadata: storedObject(row.metadata),
  unsubscribedAt: row.unsubscribed_at,
  createdAt: row.created_at,
})
/** A contact of whom nothing but the address is known. */
const emptyRow = (email: string, now: number) => ({
  address: addressKey(email),
  email,
  first_name: null,
  last_name: null,
  name_key: null,
  last_name_key: null,
  phone: null,
  metadata: null,
  created_at: now,
  changed_at: null,
})

type Known = Pick<Contact, 'firstName' | 'lastName' | 'metadata'>
const nobody: Known = { firstName: null, lastName: null, metadata: {} }

/** The columns that change. Throws a 400 where the metadata would become too large. */
function changesOf(
  { firstName, lastName, phone, metadata }: Omit<NewContact, 'email'>,
  known: Known,
): ContactColumns {
  const merged = metadata && mergedMetadata(known.metadata, metadata)
  if (metadata !== undefined && merged === undefined) {
    const message = `metadata, together with what is stored already, has over ${maxMetadataBytes} bytes`
    throw new ApiError('validation_error', message)
  }
  const first = firstName === undefined ? known.firstName : cleanName(firstName)
  const last = lastName === undefined ? known.lastName : cleanName(lastName)
  const isNamed = firstName !== undefined || lastName !== undefined
  return {
    ...(isNamed && { first_name: first, last_name: last, ...nameKeys(first, last) }),
    ...(phone === undefined ? {} : { phone: phone || null }),
    ...(merged === undefined ? {} : { metadata: merged }),
  }
}
