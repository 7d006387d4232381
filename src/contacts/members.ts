import { isoTime } from '../clock/index.js'
import { addressKey } from '../mime/index.js'
import { cursorOf, idInCursor, type Read } from '../store/index.js'
import { csvLine, type SuppressionReason } from '../suppression/index.js'
import { type Contact, contactsLedTo, contactsOf, contactsOfIds, toContact } from './contact.js'
import { requireList } from './list.js'
import { type MailStanding, standingsOf } from './no-mail.js'

/** A contact on a list, and whether they may be mailed. */
export interface Member extends Contact, MailStanding {}

/** A page of a list. */
export interface MemberPage {
  members: Member[]
  /** Where the next page begins; null at the end. */
  nextCursor: string | null
}

/** Which page, or which contact. */
interface MemberOptions {
  limit: number
  cursor?: string | undefined
  /** Only this address, in any case. */
  email?: string | undefined
}

/** A page of a list's contacts, newest first: by their ids, which rise with time (UUIDv7). */
export async function listMembers(
  read: Read,
  accountId: string,
  listId: string,
  { limit, cursor, email }: MemberOptions,
): Promise<MemberPage> {
  const list = await requireList(read, accountId, listId)
  const wanted = email === undefined ? contactsLedTo : contactsOf
  let query = wanted(read, accountId)
    .innerJoin('list_members', 'list_members.contact_id', 'contacts.id')
    .where('list_members.list_id', '=', list.id)
    .orderBy('list_members.contact_id', 'desc')
    .limit(limit + 1)
  const scope = `contacts ${list.id}`
  if (cursor !== undefined) {
    query = query.where('list_members.contact_id', '<', idInCursor(cursor, scope))
  }
  if (email !== undefined) query = query.where('contacts.address', '=', addressKey(email.trim()))
  const contacts = (await query.execute()).map(toContact)
  const page = contacts.slice(0, limit)
  const last = page.at(-1)
  return {
    members: (await withReasons(read, accountId, page)).members,
    nextCursor: contacts.length > limit && last !== undefined ? cursorOf(last.id, scope) : null,
  }
}

/** The same contacts with the reasons why they are not mailed: the strongest of each, or all. */
export async function withReasons(read: Read, accountId: string, contacts: readonly Contact[]) {
  const addresses = contacts.map(({ email }) => email)
  const known = await standingsOf(read, accountId, addresses)
  const reasonsFor = ({ email }: Contact): ReadonlySet<SuppressionReason> => known.reasonsFor(email)
  const members = contacts.map(
    (contact): Member => ({ ...contact, ...known.standingOf(contact.email) }),
  )
  return { members, reasonsFor }
}

/** Contacts by their ids, newest first, with why they are not mailed; deleted ones are left out. */
export async function membersAmong(
  read: Read,
  accountId: string,
  ids: readonly string[],
): Promise<Member[]> {
  const rows = await contactsOfIds(read, accountId, ids).orderBy('contacts.id', 'desc').execute()
  return (await withReasons(read, accountId, rows.map(toContact))).members
}

// How many contacts an export reads at once.
const perPage = 500
const columns = [
  'email',
  'firstName',
  'lastName',
  'phone',
  'unsubscribedAt',
  'createdAt',
  'metadata',
]

/**
 * An account's contacts, or those of a list, as CSV. `importContacts` reads it back, the metadata with its types, since
 * it is one column of JSON.
 */
export async function* exportContacts(
  read: Read,
  accountId: string,
  listId?: string,
): AsyncGenerator<string> {
  const pages =
    listId === undefined ? allContacts(read, accountId) : contactsOn(read, accountId, listId)
  yield contactsHead()
  for await (const page of pages) yield contactsCsv(page)
}

/** The first line of such a file. */
export const contactsHead = (): string => csvLine(columns)

/** Contacts as lines of such a file. */
export const contactsCsv = (contacts: readonly Contact[]): string =>
  contacts.map((contact) => csvLine(cellsOf(contact))).join('')

/** All contacts of an account, by address. */
async function* allContacts(read: Read, accountId: string): AsyncGenerator<Contact[]> {
  for (let after = ''; ; ) {
    const rows = await contactsOf(read, accountId)
      .where('contacts.address', '>', after)
      .orderBy('contacts.address')
      .limit(perPage)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.address
    yield rows.map(toContact)
  }
}

/** The contacts of a list, page by page. */
async function* contactsOn(
  read: Read,
  accountId: string,
  listId: string,
): AsyncGenerator<Contact[]> {
  let cursor: string | undefined
  do {
    const page = await listMembers(read, accountId, listId, { limit: perPage, cursor })
    yield page.members
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}

/** A contact as a line of the export. */
const cellsOf = (contact: Contact) => [
  contact.email,
  contact.firstName ?? '',
  contact.lastName ?? '',
  contact.phone ?? '',
  isoTime(contact.unsubscribedAt) ?? '',
  isoTime(contact.createdAt),
  Object.keys(contact.metadata).length === 0 ? '' : JSON.stringify(contact.metadata),
]
