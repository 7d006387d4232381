import { type ConsentKind, consentHistory } from '../consent/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Read, Tx } from '../store/index.js'
import { suppressionsOf } from '../suppression/index.js'
import { findContact, type NewContact } from './contact.js'
import { requireList } from './list.js'
import { listsOfContacts } from './one.js'

/** A person who will be on lists once they have confirmed it by mail. */
export interface AskedContact {
  given: NewContact
  /** Lists of the account; may be empty. */
  listIds: readonly string[]
  /** Who added them and how they agreed, for the consent record. */
  note: string
  /** Whether automations start when they have confirmed. */
  starts: boolean
}

/** Why no mail was sent, in words for the account's owner. */
export const whyNotAsked = {
  address: 'They were asked already: an address is asked once a day, and three times in all',
  form: 'As many as may be were asked in the last hour or day: try again later',
  careful: 'Such mails came back of late, so few are sent: try again in an hour',
  stopped:
    'Too many of such mails came back, so none is sent: see “Contacts that you add” among your forms',
  suppressed:
    'They have left, were erased or are suppressed, so they are not asked: only they can come back, by a form',
} as const

/** A person who was asked: the contact that they are, or will be. */
export interface AskedId {
  id: string
  email: string
}

/**
 * Sends the mail that asks, with `alongside` in its transaction. Throws what the account may not do, and a 409 where
 * nobody can be asked. `forms/` does it, which contacts do not know: `app/` connects the two.
 */
export type AskFirst = (
  accountId: string,
  asked: AskedContact,
  alongside?: (tx: Tx, asked: AskedId) => Promise<void>,
) => Promise<AskedId>

/** Whether any of these lists wants a confirmation from whoever is put on it. Throws a 404 for a missing list. */
export async function wantConfirmation(
  read: Read,
  accountId: string,
  listIds: readonly string[],
): Promise<boolean> {
  let isWanted = false
  for (const id of listIds) isWanted ||= (await requireList(read, accountId, id)).doubleOptIn
  return isWanted
}

/**
 * Where an address stands with some lists: `on` all of them, or `confirmed` for each of them by mail since it last
 * left.
 */
export async function standingOn(
  read: Read,
  accountId: string,
  email: string,
  listIds: readonly string[],
): Promise<'confirmed' | 'on' | 'off'> {
  const address = parseMailbox(email)?.address ?? email
  const contact = await findContact(read, accountId, address)
  if (contact === undefined) return 'off'
  const lists = (await listsOfContacts(read, [contact.id])).get(contact.id) ?? []
  const on = new Set(lists.map(({ id }) => id))
  if (!listIds.every((id) => on.has(id.toLowerCase()))) return 'off'
  if ((await suppressionsOf(read, accountId, address)).length > 0) return 'on'
  const history = await consentHistory(read, accountId, address)
  const last = history.findLastIndex(({ kind }) => leavings.has(kind))
  const confirmed = new Set(
    history
      .slice(last + 1)
      .flatMap(({ kind, detail }) => (kind === 'confirmed' ? (detail.listIds ?? []) : [])),
  )
  return listIds.every((id) => confirmed.has(id.toLowerCase())) ? 'confirmed' : 'on'
}

const leavings: ReadonlySet<string> = new Set<ConsentKind>([
  'unsubscribed',
  'complained',
  'suppressed',
])
