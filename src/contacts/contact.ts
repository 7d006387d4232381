import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import type { ContactRow, Read, Store, Tx } from '../store/index.js'
import { suppressionsOf } from '../suppression/index.js'

export interface Contact {
  id: string
  /** As it was added. */
  email: string
  firstName: string | null
  lastName: string | null
  /** E.164. */
  phone: string | null
  metadata: Record<string, unknown>
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

/**
 * Adds a contact; one who is known already gets the fields that are given. Whoever unsubscribed
 * stays so, and an address that is suppressed for it begins unsubscribed.
 */
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
  const row = await store.write(async (tx) => {
    const suppressions = await suppressionsOf(tx, accountId, address)
    const left = suppressions.find(({ reason }) => reason === 'unsubscribe')
    return await tx
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
        unsubscribed_at: left?.createdAt ?? null,
        created_at: clock.now(),
        ...fields,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['account_id', 'address'])
          // Something has to be set for the row to be returned.
          .doUpdateSet({ address, ...fields }),
      )
      .returningAll()
      .executeTakeFirstOrThrow()
  })
  return { contact: toContact(row), added: row.id === id }
}

/** By address, in any case. */
export async function findContact(
  read: Read,
  accountId: string,
  email: string,
): Promise<Contact | undefined> {
  const row = await read
    .selectFrom('contacts')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(email))
    .executeTakeFirst()
  return row && toContact(row)
}

/** Notes on the contact, if there is one, that it unsubscribed (null: has come back). */
export async function markUnsubscribed(
  tx: Tx,
  accountId: string,
  email: string,
  at: number | null,
): Promise<void> {
  await tx
    .updateTable('contacts')
    .set({ unsubscribed_at: at })
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(email))
    // Who had unsubscribed before did so then.
    .where('unsubscribed_at', at === null ? 'is not' : 'is', null)
    .execute()
}

export const toContact = (row: ContactRow): Contact => ({
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
