import type { Read } from '../store/index.js'
import { type Contact, contactsOf, toContact } from './contact.js'
import { listMembers } from './members.js'

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
 * An account's contacts as CSV, or those of a list; `importContacts` takes it back, the metadata with
 * its types, since it is one column of JSON.
 */
export async function* exportContacts(
  read: Read,
  accountId: string,
  listId?: string,
): AsyncGenerator<string> {
  const pages =
    listId === undefined ? allContacts(read, accountId) : contactsOn(read, accountId, listId)
  yield csvLine(columns)
  for await (const page of pages) yield page.map((contact) => csvLine(cellsOf(contact))).join('')
}

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

const cellsOf = (contact: Contact) => [
  contact.email,
  contact.firstName ?? '',
  contact.lastName ?? '',
  contact.phone ?? '',
  isoTime(contact.unsubscribedAt),
  isoTime(contact.createdAt),
  Object.keys(contact.metadata).length === 0 ? '' : jsonText(contact.metadata),
]

// An import takes U+FFFD for a sign that the file is no UTF-8.
const jsonText = (value: unknown) => JSON.stringify(value).replaceAll('\uFFFD', '\\ufffd')

const isoTime = (ms: number | null) => (ms === null ? '' : new Date(ms).toISOString())

const csvLine = (cells: readonly string[]) =>
  `${cells.map((cell) => (/[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`
