import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import type { ContactRow, Read, Store } from '../store/index.js'

export interface Contact {
  id: string
  /** As it was added. */
  email: string
  firstName: string | null
  lastName: string | null
  /** E.164. */
  phone: string | null
  metadata: Record<string, unknown>
  /** From all marketing mail of the account. */
  unsubscribedAt: number | null
  createdAt: number
}

export interface NewContact {
  email: string
  firstName?: string | undefined
  lastName?: string | undefined
  /** E.164 (`toE164`). */
  phone?: string | undefined
  metadata?: Record<string, unknown> | undefined
}

/** Adds a contact; one who is known already gets the fields that are given. */
export async function addContact(
  { store, clock }: { store: Store; clock: Clock },
  accountId: string,
  given: NewContact,
): Promise<{ contact: Contact; added: boolean }> {
  const mailbox = parseMailbox(given.email)
  if (mailbox === undefined) throw new ApiError('validation_error', 'email is no address')
  const fields = {
    ...(given.firstName === undefined ? {} : { first_name: given.firstName }),
    ...(given.lastName === undefined ? {} : { last_name: given.lastName }),
    ...(given.phone === undefined ? {} : { phone: given.phone }),
    ...(given.metadata === undefined ? {} : { metadata: JSON.stringify(given.metadata) }),
  }
  const id = store.ids.uuid()
  const address = addressKey(mailbox.address)
  return await store.write(async (tx) => {
    await tx
      .insertInto('contacts')
      .values({
        id,
        account_id: accountId,
        address,
        email: mailbox.address,
        first_name: null,
        last_name: null,
        phone: null,
        metadata: null,
        created_at: clock.now(),
        ...fields,
      })
      .onConflict((conflict) =>
        // Something has to be set, though nothing was given.
        conflict.columns(['account_id', 'address']).doUpdateSet({ address, ...fields }),
      )
      .execute()
    const contact = await findContact(tx, accountId, address)
    if (contact === undefined) throw new Error('A contact is gone in the write that added it')
    return { contact, added: contact.id === id }
  })
}

/** By address, in any case. */
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

/** An account's contacts. Whether one has unsubscribed is the suppression's to say, nothing else's. */
export const contactsOf = (read: Read, accountId: string) =>
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
    .where('contacts.account_id', '=', accountId)

export const toContact = (row: ContactRow & { unsubscribed_at: number | null }): Contact => ({
  id: row.id,
  email: row.email,
  firstName: row.first_name,
  lastName: row.last_name,
  phone: row.phone,
  metadata: row.metadata === null ? {} : JSON.parse(row.metadata),
  unsubscribedAt: row.unsubscribed_at,
  createdAt: row.created_at,
})

const addressKey = (email: string) => email.toLowerCase()
