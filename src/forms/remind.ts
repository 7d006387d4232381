import { type ConsentKind, consentHistory } from '../consent/index.js'
import { findContact, listsOfContacts } from '../contacts/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Read, Tx } from '../store/index.js'
import { askByMail } from './ask.js'
import { isCarefulForm } from './careful.js'
import type { FormDeskDeps } from './deps.js'
import { dueReminders, type FormEntry, settleReminder } from './entry.js'
import { findForm, listsThere, type SignupForm } from './form.js'
import type { FormLimits } from './sent-in-limits.js'

/** Asks once more who has not confirmed. It is a courtesy: whatever stands in its way now ends it for good. */
export async function remindEntries(
  deps: FormDeskDeps,
  limits: FormLimits,
  stop: AbortSignal,
): Promise<void> {
  const { store, clock } = deps
  for (const entry of await dueReminders(store.read, clock.now())) {
    if (stop.aborted) return
    const form = await findForm(store.read, entry.accountId, entry.formId)
    const settle = (tx: Tx, mailId?: string) => settleReminder(tx, entry, mailId)
    const isAsked =
      mayRemind(form, entry, limits, clock.now()) &&
      (await isStillWanted(store.read, form, entry)) &&
      (await askByMail(deps, form, entry, { isReminder: true, alongside: settle })) === undefined
    if (!isAsked) await store.write((tx) => settle(tx))
  }
}

/** Takes from what the form may send: a reminder is a mail like the first. */
function mayRemind(form: SignupForm, entry: FormEntry, limits: FormLimits, now: number): boolean {
  if (form.stoppedAt !== null || form.archivedAt !== null || entry.expiresAt <= now) return false
  const isCareful = isCarefulForm(form, now)
  const domain = parseMailbox(entry.email)?.domain
  if (isCareful || domain === undefined) return false
  if (limits.ofDomain({ formId: form.id, domain }) !== undefined) return false
  return limits.ofForm({ formId: form.id, isCareful }) === undefined
}

const leavings: ReadonlySet<string> = new Set<ConsentKind>([
  'unsubscribed',
  'left_topic',
  'bounced',
  'complained',
  'suppressed',
])

/** Not by who has left since they were asked, nor by who is on all the lists by another way. */
async function isStillWanted(read: Read, form: SignupForm, entry: FormEntry): Promise<boolean> {
  const { accountId, email, createdAt } = entry
  const since = (await consentHistory(read, accountId, email)).filter(({ at }) => at >= createdAt)
  if (since.some(({ kind }) => leavings.has(kind))) return false
  // Each entry by hand has lists of its own, which are looked at below.
  const isOfForm = entry.typed.lists === undefined
  if (
    isOfForm &&
    since.some(({ kind, detail }) => kind === 'confirmed' && detail.formId === form.id)
  ) {
    return false
  }
  const contact = await findContact(read, accountId, email)
  if (contact === undefined) return true
  const lists = (await listsOfContacts(read, [contact.id])).get(contact.id) ?? []
  const on = new Set(lists.map(({ id }) => id))
  return (await listsThere(read, accountId, entry.typed.lists ?? form.settings.lists)).some(
    (id) => !on.has(id),
  )
}
