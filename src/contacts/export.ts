import type { Read } from '../store/index.js'
import { type Contact, contactsOf, toContact } from './contact.js'
import { listMembers } from './members.js'

const perPage = 500
const ownColumns = ['email', 'firstName', 'lastName', 'phone', 'unsubscribedAt', 'createdAt']

/**
 * An account's contacts as CSV, or those of a list; `importContacts` takes it back. Each key of the
 * metadata is a column, which is why the contacts are read twice.
 */
export async function* exportContacts(
  read: Read,
  accountId: string,
  listId?: string,
): AsyncGenerator<string> {
  const pages = () =>
    listId === undefined ? allContacts(read, accountId) : contactsOn(read, accountId, listId)
  const keys = new Set<string>()
  for await (const page of pages()) {
    for (const { metadata } of page) for (const key of Object.keys(metadata)) keys.add(key)
  }
  // A number that is none was kept as metadata: it has a column already.
  keys.delete('phone')
  yield csvLine([...ownColumns, ...columnNames(keys)])
  for await (const page of pages()) {
    yield page.map((contact) => csvLine(cellsOf(contact, keys))).join('')
  }
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

/** Names are compared in any case when they come back, so no two may be alike. */
function columnNames(keys: ReadonlySet<string>): string[] {
  const taken = new Set(ownColumns.map((name) => name.toLowerCase()))
  return [...keys].map((key) => {
    let name = key
    while (taken.has(name.toLowerCase())) name = `metadata.${name}`
    taken.add(name.toLowerCase())
    return name
  })
}

const cellsOf = (contact: Contact, keys: ReadonlySet<string>) => [
  contact.email,
  contact.firstName ?? '',
  contact.lastName ?? '',
  contact.phone ?? textOf(contact.metadata.phone),
  isoTime(contact.unsubscribedAt),
  isoTime(contact.createdAt),
  ...[...keys].map((key) => textOf(contact.metadata[key])),
]

const textOf = (value: unknown) =>
  typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value)

const isoTime = (ms: number | null) => (ms === null ? '' : new Date(ms).toISOString())

const csvLine = (cells: readonly string[]) =>
  `${cells.map((cell) => (/[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`
