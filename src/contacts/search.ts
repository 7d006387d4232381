import { ApiError } from '../errors/index.js'
import { addressKey } from '../mime/index.js'
import { idsIn, type Read, textCursorOf, textInCursor } from '../store/index.js'
import type { SuppressionReason } from '../suppression/index.js'
import { type Contact, contactsOf, toContact } from './contact.js'
import { nameKey, nameKeys } from './fields.js'
import { requireList } from './list.js'
import { type Member, type MemberPage, withReasons } from './members.js'
import { phoneBeginnings } from './phone.js'

/** Whether marketing mail goes to somebody, or the reason for which it does not. */
export const contactStates = [
  'mailable',
  'unsubscribed',
  'bounced',
  'complained',
  'suppressed',
] as const
export type ContactState = (typeof contactStates)[number]

/** The suppression that each state but `mailable` is. */
const reasonOf: Readonly<Record<Exclude<ContactState, 'mailable'>, SuppressionReason>> = {
  unsubscribed: 'unsubscribe',
  bounced: 'bounce',
  complained: 'complaint',
  suppressed: 'manual',
}

/** Whom to look for; all that is given has to fit. */
export interface ContactSearch {
  /** Exactly this address, in any case. */
  email?: string | undefined
  /** How the address, the name, the last name or the phone number begins. */
  q?: string | undefined
  listId?: string | undefined
  state?: ContactState | undefined
}

interface SearchOptions {
  limit: number
  cursor?: string | undefined
  /** Of phone numbers without an international prefix; ISO 3166. */
  defaultCountry: string
}

// What a page reads at most, so that it takes some milliseconds whatever there is.
const mostLooked = 1_000
const perLook = 250

/**
 * A page of an account's contacts: by address; those of a list, where no beginning is asked for, newest first. A page may
 * have fewer than `limit`, or none, and a next one all the same: it ends where so many were looked at that do not fit.
 */
export async function findContacts(
  read: Read,
  accountId: string,
  search: ContactSearch,
  { limit, cursor, defaultCountry }: SearchOptions,
): Promise<MemberPage> {
  const listId =
    search.listId === undefined ? undefined : (await requireList(read, accountId, search.listId)).id
  if (search.email !== undefined && search.q?.trim()) {
    throw new ApiError('validation_error', 'Give either email or q')
  }
  const wanted = { ...search, listId }
  const scope = `all contacts ${accountId} ${JSON.stringify([search.email, search.q, listId, search.state])}`
  const ways = waysOf({ read, accountId }, wanted, defaultCountry)
  const begin = cursor === undefined ? { way: 0, after: undefined } : placeIn(cursor, scope)
  const isPicky = listId !== undefined || search.state !== undefined || ways.length > 1
  const atOnce = isPicky ? perLook : limit + 1
  const found: (Begin & { member: Member })[] = []
  let looked = 0
  for (let { way, after } = begin; way < ways.length; ) {
    const rows = (await ways[way]?.rows(after, atOnce)) ?? []
    // Who has come by an earlier way does not come again.
    const fresh = rows.filter(
      ({ contact }) =>
        contact !== undefined && !ways.slice(0, way).some(({ fits }) => fits(contact)),
    )
    for (const one of await fitting({ read, accountId }, fresh, wanted)) {
      found.push({ ...one, way })
    }
    looked += rows.length
    const last = rows.at(-1)
    const isOver = rows.length < atOnce
    if (found.length > limit) return endingAt(found.slice(0, limit), found[limit - 1], scope)
    if (!isOver && looked >= mostLooked) return endingAt(found, { way, after: last?.after }, scope)
    if (isOver) [way, after] = [way + 1, undefined]
    else after = last?.after
  }
  return endingAt(found, undefined, scope)
}

/** A page, and where the next one begins, if there is one. */
const endingAt = (
  found: readonly { member: Member }[],
  next: Begin | undefined,
  scope: string,
): MemberPage => ({
  members: found.map(({ member }) => member),
  nextCursor:
    next === undefined
      ? null
      : textCursorOf(JSON.stringify([next.way, next.after?.key, next.after?.id]), scope),
})

/** What `endingAt` has written; the cursor's tag says that nobody else has. */
function placeIn(cursor: string, scope: string): Begin {
  const [way, key, id] = JSON.parse(textInCursor(cursor, scope)) as [number, string, string]
  return { way, after: { key, id } }
}

/** Those who are on the list and in the state that are asked for, with why they are not mailed. */
async function fitting(
  { read, accountId }: Whose,
  found: readonly Found[],
  { listId, state }: ContactSearch,
): Promise<{ member: Member; after: Place }[]> {
  const contacts = found.flatMap(({ contact }) => contact ?? [])
  const listed = listId && (await onList(read, listId, contacts))
  const { members, reasonsFor } = await withReasons(read, accountId, contacts)
  const isIn = (member: Member) => {
    if (listed && !listed.has(member.id)) return false
    if (state === undefined) return true
    if (state === 'mailable') return member.suppressed === null
    return reasonsFor(member).has(reasonOf[state])
  }
  const places = new Map(found.map(({ contact, after }) => [contact?.id, after]))
  return members.flatMap((member) => {
    const after = places.get(member.id)
    return after === undefined || !isIn(member) ? [] : [{ member, after }]
  })
}

/** Which of these contacts are on a list. */
async function onList(read: Read, listId: string, contacts: readonly Contact[]) {
  const ids = contacts.map(({ id }) => id)
  const rows = await read
    .selectFrom('list_members')
    .select('contact_id')
    .where('list_id', '=', listId)
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .execute()
  return new Set(rows.map(({ contact_id }) => contact_id))
}

/** Where a page begins: in which way, and after whom. */
interface Begin {
  way: number
  after: Place | undefined
}

/** Where a way of finding contacts has got to: what they are in order of, and the id for those who have the same. */
interface Place {
  key: string
  id: string
}

/** A contact, with where it stands in its way; undefined where an address there is no contact's. */
interface Found {
  contact: Contact | undefined
  after: Place
}

/** Contacts in the order of an index, and which they are. */
interface Way {
  rows(after: Place | undefined, limit: number): Promise<Found[]>
  fits(contact: Contact): boolean
}

interface Whose {
  read: Read
  accountId: string
}

/** What finds those who are looked for, one after another: each is a search of one index. */
function waysOf(whose: Whose, wanted: ContactSearch, defaultCountry: string): Way[] {
  const { email, q = '', listId, state } = wanted
  if (email !== undefined) return [byAddress(whose, addressKey(email.trim()), true)]
  const beginning = q.trim()
  if (beginning === '') {
    if (listId !== undefined) return [byList(whose, listId)]
    if (state !== undefined && state !== 'mailable') return [byReason(whose, reasonOf[state])]
    return [byAddress(whose, '', false)]
  }
  return [
    byAddress(whose, addressKey(beginning), false),
    // No name has it, but for one that somebody made of an address.
    ...(beginning.includes('@')
      ? []
      : [byName(whose, 'name_key', beginning), byName(whose, 'last_name_key', beginning)]),
    ...phoneBeginnings(beginning, defaultCountry).map((one) => byPhone(whose, one)),
  ]
}

/** Every text that begins so is below it: no text has this character, which is none (Unicode §23.7). */
const endOf = (beginning: string) => `${beginning}\u{10FFFF}`

const byAddress = ({ read, accountId }: Whose, beginning: string, isWhole: boolean): Way => ({
  fits: ({ email }) => addressKey(email).startsWith(beginning),
  rows: async (after, limit) => {
    const rows = await contactsOf(read, accountId)
      .$if(isWhole, (query) => query.where('contacts.address', '=', beginning))
      // One lower bound: of two SQLite seeks by the first, and reads all that is between them at every page.
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

/** Those whose name, or last name, begins so. */
function byName(whose: Whose, column: 'name_key' | 'last_name_key', beginning: string): Way {
  const key = nameKey(beginning)
  return inOrderOf(whose, column, key, ({ firstName, lastName }) =>
    (nameKeys(firstName, lastName)[column] ?? '').startsWith(key),
  )
}

const byPhone = (whose: Whose, beginning: string): Way =>
  inOrderOf(whose, 'phone', beginning, ({ phone }) => phone?.startsWith(beginning) === true)

/** Those of whom a column begins so, in its order. */
const inOrderOf = (
  { read, accountId }: Whose,
  column: 'name_key' | 'last_name_key' | 'phone',
  beginning: string,
  fits: (contact: Contact) => boolean,
): Way => ({
  fits,
  rows: async (after, limit) => {
    const of = `contacts.${column}` as const
    const rows = await contactsOf(read, accountId)
      .$if(after === undefined, (query) => query.where(of, '>=', beginning))
      .where(of, '<', endOf(beginning))
      .$if(after !== undefined, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple(of, 'contacts.id'), '>', tuple(after?.key ?? '', after?.id ?? '')),
        ),
      )
      .orderBy(of)
      .orderBy('contacts.id')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      contact: toContact(row),
      after: { key: row[column] ?? '', id: row.id },
    }))
  },
})

/** Who is on a list, newest first. */
const byList = ({ read, accountId }: Whose, listId: string): Way => ({
  fits: () => true,
  rows: async (after, limit) => {
    const rows = await contactsOf(read, accountId)
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

/** Who is suppressed for a reason, by address. Addresses that are no contact's are looked at too, and passed over. */
const byReason = ({ read, accountId }: Whose, reason: SuppressionReason): Way => ({
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
