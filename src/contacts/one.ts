import { ApiError } from '../errors/index.js'
import { type ContactRow, idsOf, prepared, type Read, type Tx } from '../store/index.js'
import { type Contact, contactsOf, toContact, updateContact } from './contact.js'
import type { ContactDeps } from './list.js'

/** Changes of a contact; what is not given stays. An empty name or phone number removes it. */
export interface ContactUpdate {
  firstName?: string | undefined
  lastName?: string | undefined
  /** E.164 (`toE164`), or empty. */
  phone?: string | undefined
  /** Merged over the known metadata, key by key. */
  metadata?: Record<string, unknown> | undefined
  /** Keys to remove from the metadata. */
  removeMetadata?: readonly string[] | undefined
}

/** A list that a contact is on. */
export interface ListOfContact {
  id: string
  name: string
  addedAt: number
}

/** An account's contact by its id. Throws a 404. */
export async function requireContact(read: Read, accountId: string, id: string): Promise<Contact> {
  const [row] = await contactById(read, { accountId, id: id.toLowerCase() })
  if (row === undefined) throw new ApiError('not_found', 'The account has no contact with this id')
  return toContact(row)
}

const contactById = prepared<
  { accountId: string; id: string },
  ContactRow & { unsubscribed_at: number | null }
>((db, { accountId, id }) => contactsOf(db, accountId).where('contacts.id', '=', id))

/** The lists of each of these contacts, by name; the contacts must be the account's. */
export async function listsOfContacts(
  read: Read,
  ids: readonly string[],
): Promise<Map<string, ListOfContact[]>> {
  const rows = await listsAmong(read, { ids: JSON.stringify(ids) })
  const lists = new Map<string, ListOfContact[]>(ids.map((id) => [id, []]))
  for (const { contact_id, id, name, added_at: addedAt } of rows) {
    lists.get(contact_id)?.push({ id, name, addedAt })
  }
  for (const some of lists.values()) some.sort((a, b) => a.name.localeCompare(b.name))
  return lists
}

const listsAmong = prepared<
  { ids: string },
  { contact_id: string; id: string; name: string; added_at: number }
>((db, { ids }) =>
  db
    .selectFrom('list_members')
    .innerJoin('contact_lists', 'contact_lists.id', 'list_members.list_id')
    .select(['contact_id', 'contact_lists.id', 'name', 'added_at'])
    .where('contact_id', 'in', idsOf(ids, 'text'))
    .where('deleted_at', 'is', null),
)

/** Changes what is given and nothing else. Throws a 404. `alongside` is written in the same transaction. */
export async function changeContact(
  { store, clock }: ContactDeps,
  accountId: string,
  id: string,
  { metadata, removeMetadata = [], ...fields }: ContactUpdate,
  alongside: (tx: Tx, contact: Contact) => Promise<void> = async () => {},
): Promise<Contact> {
  return await store.write(async (tx) => {
    const known = await requireContact(tx, accountId, id)
    const gone = new Set(removeMetadata)
    const left = Object.entries(known.metadata).filter(([key]) => !gone.has(key))
    const isChanged = metadata !== undefined || left.length < Object.keys(known.metadata).length
    const contact = await updateContact(
      tx,
      accountId,
      { ...known, metadata: Object.fromEntries(left) },
      { ...fields, ...(isChanged && { metadata: metadata ?? {} }) },
      clock.now(),
    )
    await alongside(tx, contact)
    return contact
  }, accountId)
}
