import { checkAdding, contactCeiling, readBilling } from '../billing/index.js'
import { recordConsent } from '../consent/index.js'
import { addContactIn, findContact, listsOfContacts, putOnListIn } from '../contacts/index.js'
import type { Read, Tx } from '../store/index.js'
import { erasedAmong, lift, liftErasure, suppressionsOf } from '../suppression/index.js'
import { listTopics, optIn, optOut, topicsLeftBy } from '../topics/index.js'
import { countedAddress, forgetAddress } from './asked-addresses.js'
import type { FormDeskDeps } from './deps.js'
import type { FormEntry } from './entry.js'
import { listsThere, type SignupForm } from './form.js'
import { settleEntries } from './settle-entry.js'

/**
 * Whether the account does not know the address, and it has left neither the account nor a topic: nobody else is put on
 * a list by what anybody may have typed.
 */
export async function isStranger(read: Read, accountId: string, email: string): Promise<boolean> {
  if ((await findContact(read, accountId, email)) !== undefined) return false
  if ((await suppressionsOf(read, accountId, email)).length > 0) return false
  if ((await topicsLeftBy(read, accountId, email)).length > 0) return false
  return !(await erasedAmong(read, accountId, [email])).has(email)
}

/**
 * Whether somebody who has confirmed an entry gets mail by it: they are on one of its lists, and nothing keeps mail
 * from them.
 */
export async function isSignedUp(
  read: Read,
  form: SignupForm,
  { accountId, email, typed }: FormEntry,
): Promise<boolean> {
  const contact = await findContact(read, accountId, email)
  if (contact === undefined) return false
  if ((await suppressionsOf(read, accountId, email)).length > 0) return false
  const asked = typed.lists ?? form.settings.lists
  if (asked.length === 0) return true
  const lists = (await listsOfContacts(read, [contact.id])).get(contact.id) ?? []
  return lists.some(({ id }) => asked.some((one) => one.toLowerCase() === id))
}

/**
 * Puts somebody on the form's lists, with what they agreed to: a person who has confirmed by the mail, or, `asTyped`, a
 * stranger in a form that asks for no confirmation. Resolves with false where nobody was put on: the entry was
 * confirmed before, or the person is no stranger any more.
 */
export async function signUp(
  deps: FormDeskDeps,
  form: SignupForm,
  entry: FormEntry,
  how: 'confirmed' | 'asTyped',
): Promise<boolean> {
  const { store, clock, plans, follow, followed } = deps
  const { accountId, email } = entry
  const billing = await readBilling(store.read, plans, accountId)
  const id = store.ids.uuid()
  const hash = deps.tokens.hashOf(accountId, countedAddress(email))
  const isNew = await store.write(async (tx) => {
    const now = clock.now()
    const isFirst =
      how === 'confirmed'
        ? await settleEntries(tx, entry, now)
        : await isStranger(tx, accountId, email)
    if (!isFirst) return false
    // Before they become a contact again: otherwise they would be suppressed at that, and no automation would take
    // them.
    if (how === 'confirmed') {
      await liftErasure(tx, accountId, email, now)
      await lift(tx, accountId, email, { by: 'recipient', at: now, reasons: ['unsubscribe'] })
    }
    const {
      topics,
      offered,
      metadata,
      contactId,
      lists: asked,
      starts = true,
      ...fields
    } = entry.typed
    const given = { email, ...fields, ...(Object.keys(metadata).length > 0 && { metadata }) }
    // People whom an account asked itself did not come by a form: they are contacts by their own word.
    const by = form.kind === 'hand' ? 'recipient' : 'form'
    const joining = { by, ...(starts && { follow }) } as const
    const lists = await listsThere(tx, accountId, asked ?? form.settings.lists)
    const done = await addContactIn(tx, { id: contactId ?? id, now }, accountId, given, {
      listId: lists[0],
      ceiling: contactCeiling(plans, billing),
      checkNew: () => checkAdding(billing),
      ...joining,
    })
    for (const listId of lists.slice(1)) {
      const ids = [done.contact.id]
      await putOnListIn(tx, accountId, { listId, ids, now }, joining)
    }
    const kind = how === 'confirmed' ? 'confirmed' : 'signed_up'
    await recordAgreed(tx, form, entry, { kind, at: now, listIds: lists })
    if (how === 'confirmed') {
      await forgetAddress(tx, accountId, hash)
      await countConfirmed(tx, form.id)
    }
    if (topics !== undefined) await chooseTopics(tx, entry, { ticked: topics, offered, now })
    // People whom the account adds itself have filled in no form.
    if (how === 'confirmed' && starts && form.kind === 'page') {
      const { id, name } = form
      const news = { contact: done.contact, added: false, listId: undefined, form: { id, name } }
      await follow(tx, accountId, [news])
    }
    return true
  }, accountId)
  if (isNew) followed()
  return isNew
}

const recordAgreed = (
  tx: Tx,
  form: SignupForm,
  { accountId, email, agreed, createdAt }: FormEntry,
  {
    kind,
    at,
    listIds,
  }: { kind: 'confirmed' | 'signed_up'; at: number; listIds: readonly string[] },
) =>
  recordConsent(tx, accountId, email, {
    at,
    kind,
    detail: {
      // Without a confirmation nobody knows whether the recipient typed it.
      by: kind === 'confirmed' ? 'recipient' : 'form',
      formId: form.id,
      note:
        form.kind === 'hand'
          ? agreed.text
          : `Form “${form.name}”, version ${agreed.version}: ${agreed.text}`,
      version: agreed.version,
      page: agreed.page,
      address: agreed.address,
      askedAt: createdAt,
      listIds,
    },
  })

const countConfirmed = (tx: Tx, formId: string) =>
  tx
    .updateTable('forms')
    .set((eb) => ({ confirmed: eb('confirmed', '+', 1) }))
    .where('id', '=', formId)
    .execute()

/** Of the shown topics they get the ticked ones; nothing was chosen about others. */
async function chooseTopics(
  tx: Tx,
  { accountId, email: address }: FormEntry,
  { ticked, offered, now }: { ticked: readonly string[]; offered: readonly string[]; now: number },
): Promise<void> {
  for (const { id: topicId } of await listTopics(tx, accountId)) {
    if (!offered.includes(topicId)) continue
    if (ticked.includes(topicId)) await optIn(tx, accountId, { topicId, address }, now)
    else await optOut(tx, accountId, { topicId, address }, now)
  }
}
