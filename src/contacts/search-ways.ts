import { addressKey } from '../mime/index.js'
import { idsIn, type Read } from '../store/index.js'
import type { SuppressionReason } from '../suppression/index.js'
import { type Contact, contactsLedTo, contactsOf, toContact } from './contact.js'
import { nameKey, nameKeys } from './fields.js'
import { type ContactSearch, reasonOf } from './filters.js'
import { phoneBeginnings } from './phone.js'
import { type ShelvedColumn, shelvesOf } from './shelf.js'

/** How far a way of finding contacts is: the key of its order, and the id for contacts with the same key. */
export interface FoundPlace {
  key: string
  id: string
  /** For ways that go from shelf to shelf. */
  shelf?: number | undefined
}

/** A contact, with its place in its way; undefined where the address there is no contact's. */
export interface FoundContact {
  contact: Contact | undefined
  after: FoundPlace
}

/** Contacts in the order of an index, and which contacts these are. */
export interface ContactWay {
  rows(after: FoundPlace | undefined, limit: number): Promise<FoundContact[]>
  fits(contact: Contact): boolean
}

export interface Whose {
  read: Read
  accountId: string
}

/** The ways that together find the wanted contacts, one after another; each searches one index. */
export function waysOf(whose: Whose, wanted: ContactSearch, defaultCountry: string): ContactWay[] {
  const { email, q = '', listId, segmentId, state, newest } = wanted
  if (email !== undefined) return [byAddress(whose, addressKey(email.trim()), true)]
  const beginning = q.trim()
  if (beginning === '') {
    if (segmentId !== undefined) return [bySegment(whose, segmentId)]
    if (listId !== undefined) return [byList(whose, listId)]
    if (newest) return [byAge(whose)]
    if (state !== undefined && state !== 'mailable') return [byReason(whose, reasonOf[state])]
    return [byAddress(whose, '', false)]
  }
  return [
    byAddress(whose, addressKey(beginning), false),
    // No name contains an @, unless somebody made a name of an address.
    ...(beginning.includes('@')
      ? []
      : [byName(whose, 'name_key', beginning), byName(whose, 'last_name_key', beginning)]),
    ...phoneBeginnings(beginning, defaultCountry).map((one) => byPhone(whose, one)),
  ]
}

/**
 * Every text with this beginning is below it: no text contains this code point, which is no character (Unicode §23.7).
 */
const endOf = (beginning: string) => `${beginning}\u{10FFFF}`

const byAddress = (
  { read, accountId }: Whose,
  beginning: string,
  isWhole: boolean,
): ContactWay => ({
  fits: ({ email }) => addressKey(email).startsWith(beginning),
  rows: async (after, limit) => {
    const rows = await contactsOf(read, accountId)
      .$if(isWhole, (query) => query.where('contacts.address', '=', beginning))
      // Only one lower bound: with two, SQLite seeks by the first, and at every page reads everything between them.
      .$if(!isWhole && beginning !== '' && after === undefined, (query) =>
        query.where('contacts.address', '>=', beginning),
      )
      .$if(!isWhole && beginning !== '', (query) =>
        query.where('contacts.address', '<', endOf(beginning)),
      )
      .$if(after !== undefined, (query) => query.where('contacts.address', '>', after?.key ?? ''))
      .orderBy('contacts.address')
      .limit(limit)
      .execute()
    return rows.map((row) => ({ contact: toContact(row), after: { key: row.address, id: '' } }))
  },
})

/** Contacts whose name, or last name, begins with this. */
function byName(whose: Whose, column: 'name_key' | 'last_name_key', beginning: string): ContactWay {
  const key = nameKey(beginning)
  return inOrderOf(whose, column, key, ({ firstName, lastName }) =>
    (nameKeys(firstName, lastName)[column] ?? '').startsWith(key),
  )
}

const byPhone = (whose: Whose, beginning: string): ContactWay =>
  inOrderOf(whose, 'phone', beginning, ({ phone }) => phone?.startsWith(beginning) === true)

/** Contacts in whom a column begins with this, in its order on each shelf. */
const inOrderOf = (
  { read, accountId }: Whose,
  column: ShelvedColumn,
  beginning: string,
  fits: (contact: Contact) => boolean,
): ContactWay => ({
  fits,
  rows: async (after, limit) => {
    const of = `contacts.${column}` as const
    const below = contactsOf(read, accountId).where(of, '<', endOf(beginning))
    const shelves = await shelvesOf(read, accountId, column)
    // The rest of the shelf on which the last page has ended.
    const rest =
      after === undefined
        ? []
        : await below
            .where('contacts.shelf', '=', after.shelf ?? 0)
            .where(({ eb, refTuple, tuple }) =>
              eb(refTuple(of, 'contacts.id'), '>', tuple(after.key, after.id)),
            )
            .orderBy(of)
            .orderBy('contacts.id')
            .limit(limit)
            .execute()
    const further = shelves.filter((shelf) => shelf > (after?.shelf ?? -1))
    const others = await below
      .where('contacts.shelf', 'in', idsIn(further, 'integer'))
      .where(of, '>=', beginning)
      .orderBy('contacts.shelf')
      .orderBy(of)
      .orderBy('contacts.id')
      .limit(limit - rest.length)
      .execute()
    return [...rest, ...others].map((row) => ({
      contact: toContact(row),
      after: { key: row[column] ?? '', id: row.id, shelf: row.shelf },
    }))
  },
})

/** All contacts, newest first: ids rise with time, whatever the clock does. */
const byAge = ({ read, accountId }: Whose): ContactWay => ({
  fits: () => true,
  rows: async (after, limit) => {
    const rows = await contactsOf(read, accountId)
      .$if(after !== undefined, (query) => query.where('contacts.id', '<', after?.id ?? ''))
      .orderBy('contacts.id', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => ({ contact: toContact(row), after: { key: '', id: row.id } }))
  },
})

/** The contacts on a list, newest first. */
const byList = ({ read, accountId }: Whose, listId: string): ContactWay => ({
  fits: () => true,
  rows: async (after, limit) => {
    const rows = await contactsLedTo(read, accountId)
      .innerJoin('list_members', 'list_members.contact_id', 'contacts.id')
      .where('list_members.list_id', '=', listId)
      .$if(after !== undefined, (query) =>
        query.where('list_members.contact_id', '<', after?.id ?? ''),
      )
      .orderBy('list_members.contact_id', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => ({ contact: toContact(row), after: { key: '', id: row.id } }))
  },
})

/** The contacts in a segment, newest first. */
const bySegment = ({ read, accountId }: Whose, segmentId: string): ContactWay => ({
  fits: () => true,
  rows: async (after, limit) => {
    const rows = await contactsLedTo(read, accountId)
      .innerJoin('segment_members', 'segment_members.contact_id', 'contacts.id')
      .where('segment_members.segment_id', '=', segmentId)
      .$if(after !== undefined, (query) =>
        query.where('segment_members.contact_id', '<', after?.id ?? ''),
      )
      .orderBy('segment_members.contact_id', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => ({ contact: toContact(row), after: { key: '', id: row.id } }))
  },
})

/** The contacts suppressed for a reason, by address. Addresses that are no contact's are read too, and passed over. */
const byReason = ({ read, accountId }: Whose, reason: SuppressionReason): ContactWay => ({
  fits: () => true,
  rows: async (after, limit) => {
    const addresses = await read
      .selectFrom('suppressions')
      .select('address')
      .where('account_id', '=', accountId)
      .where('reason', '=', reason)
      .where('address', '>', after?.key ?? '')
      .orderBy('address')
      .limit(limit)
      .execute()
    const rows = await contactsOf(read, accountId)
      .where(
        'contacts.address',
        'in',
        idsIn(
          addresses.map(({ address }) => address),
          'text',
        ),
      )
      .execute()
    const contacts = new Map(rows.map((row) => [row.address, toContact(row)]))
    return addresses.map(({ address }) => ({
      contact: contacts.get(address),
      after: { key: address, id: '' },
    }))
  },
})
