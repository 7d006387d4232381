import { type ConsentKind, consentHistory } from '../consent/index.js'
import { findContact, listsOfContacts } from '../contacts/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Read, Tx } from '../store/index.js'
import { askByMail } from './ask.js'
import { isCarefulForm } from './careful.js'
import type { FormDeskDeps } from './deps.js'
import type { FormEntry } from './entry.js'
import { dueReminders } from './entry-chores.js'
import { findForm, listsThere, type SignupForm } from './form.js'
import { formLimits } from './limits.js'
import type { FormLimits } from './sent-in-limits.js'
import { putOff, settleLater, settleReminder } from './settle-entry.js'

/**
 * Asks people once more who have not confirmed, and asks those for the first time who had to wait. It is a courtesy:
 * whatever prevents it now ends it for good.
 */
export async function remindEntries(
  deps: FormDeskDeps,
  limits: FormLimits,
  stop: AbortSignal,
): Promise<void> {
  const { store, clock } = deps
  for (const entry of await dueReminders(store.read, clock.now())) {
    if (stop.aborted) return
    const form = await findForm(store.read, entry.accountId, entry.formId)
    if (entry.typed.later) {
      await askLater(deps, limits, form, entry)
      continue
    }
    const settle = (tx: Tx, mailId?: string) => settleReminder(tx, entry, mailId)
    const isAsked =
      mayRemind(form, entry, limits, clock.now()) &&
      (await isStillWanted(store.read, form, entry)) &&
      (await askByMail(deps, form, entry, { isReminder: true, alongside: settle })) === undefined
    if (!isAsked) await store.write((tx) => settle(tx))
  }
}

/**
 * The first mail to somebody who had to wait. Where the form may send none now, as it has stopped or is careful, they
 * wait on: they get it once it goes on, unless the entry is older than seven days and deleted by then.
 */
async function askLater(
  deps: FormDeskDeps,
  limits: FormLimits,
  form: SignupForm,
  entry: FormEntry,
): Promise<void> {
  const { store, clock } = deps
  const now = clock.now()
  if (form.archivedAt !== null || !(await isStillWanted(store.read, form, entry))) {
    await store.write((tx) => settleReminder(tx, entry))
    return
  }
  const { reminder: isReminded } = form.settings
  const held = mayAsk(form, entry, limits, now)
    ? await askByMail(deps, form, entry, {
        isReminder: false,
        alongside: (tx, mailId) => settleLater(tx, entry, { isReminded, mailId, now }),
      })
    : 'form'
  if (held === undefined) return
  await store.write((tx) =>
    // If another mail has asked them meanwhile, that one is enough.
    held === 'address' ? settleReminder(tx, entry) : putOff(tx, entry, now + formLimits.laterMs),
  )
}

/** A reminder is a courtesy, which a careful form does without. */
const mayRemind = (form: SignupForm, entry: FormEntry, limits: FormLimits, now: number): boolean =>
  !isCarefulForm(form, now) && mayAsk(form, entry, limits, now)

/** Counts against what the form may send: a mail of this kind is one like any other. */
function mayAsk(form: SignupForm, entry: FormEntry, limits: FormLimits, now: number): boolean {
  if (form.stoppedAt !== null || form.archivedAt !== null || entry.expiresAt <= now) return false
  const isCareful = isCarefulForm(form, now)
  const domain = parseMailbox(entry.email)?.domain
  if (domain === undefined || (isCareful && !limits.mayLaterCareful(form.id))) return false
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

/** Not wanted by people who have left since they were asked, nor by those who are already on all the lists. */
async function isStillWanted(read: Read, form: SignupForm, entry: FormEntry): Promise<boolean> {
  const { accountId, email, createdAt } = entry
  const since = (await consentHistory(read, accountId, email)).filter(({ at }) => at >= createdAt)
  if (since.some(({ kind }) => leavings.has(kind))) return false
  // Each entry by hand has lists of its own, which are checked below.
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
