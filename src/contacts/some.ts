import { markChanged } from '../changes/index.js'
import { recordConsent } from '../consent/index.js'
import type { Read, Tx } from '../store/index.js'
import { type ContactEffect, contactsOfIds, toContact } from './contact.js'
import { keepOrigins } from './history.js'
import { type ContactDeps, joinList, requireList } from './list.js'
import { deleteListless, takeOff, takeOffAll } from './remove.js'

/** How many contacts one transaction changes at most. */
export const mostAtOnce = 200

/** Who did it, how the people agreed, and what follows. */
interface JoinOptions {
  by: string
  note?: string | undefined
  follow?: ContactEffect | undefined
}

/**
 * Puts some of an account's contacts on a list; resolves with how many were not on it. Ids of other accounts are passed
 * over. Throws a 404 for a list that is not the account's.
 */
export async function putOnList(
  { store, clock }: ContactDeps,
  accountId: string,
  { listId, ids }: { listId: string; ids: readonly string[] },
  options: JoinOptions,
): Promise<number> {
  return await store.write(
    async (tx) => putOnListIn(tx, accountId, { listId, ids, now: clock.now() }, options),
    accountId,
  )
}

/** `putOnList` within another write. */
export async function putOnListIn(
  tx: Tx,
  accountId: string,
  { listId: given, ids, now }: { listId: string; ids: readonly string[]; now: number },
  { by, note, follow }: JoinOptions,
): Promise<number> {
  const { id: listId } = await requireList(tx, accountId, given)
  const joined = []
  for (const row of await someOf(tx, accountId, ids)) {
    const contact = toContact(row)
    if (!(await joinList(tx, listId, contact.id, now))) continue
    const detail = { by, listId, ...(note && { note }) }
    await recordConsent(tx, accountId, contact.email, { at: now, kind: 'added', detail })
    joined.push({ contact, added: false, listId })
  }
  await markChanged(
    tx,
    accountId,
    joined.map(({ contact }) => contact.id),
  )
  if (joined.length > 0) await follow?.(tx, accountId, joined)
  return joined.length
}

/** Takes some contacts off a list; those who are then on no list are deleted. Resolves with how many were taken off. */
export async function takeOffList(
  { store, clock }: ContactDeps,
  accountId: string,
  listId: string,
  ids: readonly string[],
): Promise<number> {
  return await store.write(
    (tx) => takeOffListIn(tx, accountId, listId, ids, clock.now()),
    accountId,
  )
}

/** `takeOffList` within another write. */
export async function takeOffListIn(
  tx: Tx,
  accountId: string,
  listId: string,
  ids: readonly string[],
  now: number,
): Promise<number> {
  const list = await requireList(tx, accountId, listId)
  const known = (await someOf(tx, accountId, ids)).map(({ id }) => id)
  await keepOrigins(tx, list.id, known)
  const off = []
  for (const id of known) if (await takeOff(tx, list.id, id, now)) off.push(id)
  await deleteListless(tx, accountId, off, now)
  return off.length
}

/** Deletes some contacts, from all lists, irreversibly; resolves with how many existed. Suppression remains. */
export async function deleteContacts(
  { store, clock }: ContactDeps,
  accountId: string,
  ids: readonly string[],
): Promise<number> {
  return await store.write((tx) => deleteContactsIn(tx, accountId, ids, clock.now()), accountId)
}

/** `deleteContacts` within another write. */
export async function deleteContactsIn(
  tx: Tx,
  accountId: string,
  ids: readonly string[],
  now: number,
): Promise<number> {
  const known = (await someOf(tx, accountId, ids)).map(({ id }) => id)
  for (const id of known) await takeOffAll(tx, id, now)
  await deleteListless(tx, accountId, known, now)
  return known.length
}

/** The account's contacts among these ids, by address. */
export async function contactsAmong(read: Read, accountId: string, ids: readonly string[]) {
  const contacts = (await someOf(read, accountId, ids)).map(toContact)
  return contacts.sort((a, b) => a.email.localeCompare(b.email))
}

/** The account's contacts among these ids, as many as one transaction takes. */
export const someOf = (read: Read, accountId: string, ids: readonly string[]) =>
  contactsOfIds(read, accountId, ids.slice(0, mostAtOnce)).execute()
