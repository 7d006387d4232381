import { accountFace, brandOf } from '../accounts/index.js'
import { checkAdding, contactCeiling, readBilling } from '../billing/index.js'
import { recordConsent } from '../consent/index.js'
import { addContactIn, type ContactEffect, findContact, putOnListIn } from '../contacts/index.js'
import { acceptEmail, type EmailDeps } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import { addressKey, type Mailbox } from '../mime/index.js'
import type { Tx } from '../store/index.js'
import { lift, suppressionsOf } from '../suppression/index.js'
import { listTopics, optIn, optOut } from '../topics/index.js'
import { isCarefulForm } from './careful.js'
import { confirmationMail } from './confirmation-mail.js'
import {
  type Agreed,
  countForAddress,
  dueReminders,
  type FormEntry,
  findEntry,
  forgetAddress,
  keptMs,
  remindAfterMs,
  type Typed,
  waitsMs,
} from './entry.js'
import { countFormMails } from './follow.js'
import { findForm, type SignupForm } from './form.js'
import type { HeldReason } from './limits.js'
import type { SignupTokens } from './links.js'
import { makeFormLimits, shortened } from './sent-in-limits.js'
import type { FormTallies } from './tallies.js'

export interface FormDeskDeps extends EmailDeps {
  publicUrl: string
  tokens: SignupTokens
  tallies: FormTallies
  /** What follows when somebody joins a list. */
  follow: ContactEffect
  /** Called once that is on disk. */
  followed: () => void
}

/** What was sent in, once it is known to be complete. */
export interface SentForm {
  mailbox: Mailbox
  typed: Typed
  page: string
  /** The address in the network; undefined where nobody has told it. */
  network: string | undefined
}

export type FormDesk = ReturnType<typeof makeFormDesk>

/** Takes in what forms send, and what their mails confirm. Whatever comes of it, who sent it in is told the same. */
export function makeFormDesk(deps: FormDeskDeps) {
  const limits = makeFormLimits(deps.clock)
  return {
    /** Undefined: the mail is on disk. Else why there is none, which only the figures tell. */
    async submit(form: SignupForm, given: SentForm): Promise<HeldReason | undefined> {
      deps.tallies.sentIn(form.id)
      const reason = await submitted(deps, limits, form, given)
      if (reason !== undefined) deps.tallies.held(form.id, reason)
      return reason
    },
    /** Undefined: the entry has gone. Throws where the account may take nobody now: the entry stays. */
    confirm: (entryId: string) => confirm(deps, entryId),
    remind: (stop: AbortSignal) => remind(deps, stop),
  }
}

async function submitted(
  deps: FormDeskDeps,
  limits: ReturnType<typeof makeFormLimits>,
  form: SignupForm,
  given: SentForm,
): Promise<HeldReason | undefined> {
  const { store, clock } = deps
  const now = clock.now()
  if (form.stoppedAt !== null) return 'stopped'
  const asked = {
    formId: form.id,
    isCareful: isCarefulForm(form, now),
    network: given.network,
    domain: given.mailbox.domain,
  }
  const held = limits.ofSender(asked)
  if (held !== undefined) return held
  const { address: email } = given.mailbox
  const entry = newEntry(deps, form, given)
  if (!form.settings.doubleOptIn && (await isStranger(deps, form, email))) {
    const full = limits.ofForm(asked)
    if (full !== undefined) return full
    try {
      await enter(deps, form, entry)
      return undefined
    } catch (error) {
      return reasonOf(deps, error)
    }
  }
  const hash = deps.tokens.hashOf(form.accountId, addressKey(email))
  if (!(await store.write((tx) => countForAddress(tx, form.accountId, hash, now)))) return 'address'
  const full = limits.ofForm(asked)
  if (full !== undefined) return full
  try {
    await ask(deps, form, entry)
    return undefined
  } catch (error) {
    return reasonOf(deps, error)
  }
}

/** Whatever an account may not do is no matter of who fills in its form. */
function reasonOf({ log }: FormDeskDeps, error: unknown): HeldReason {
  if (!(error instanceof ApiError)) throw error
  log.info({ error: error.message }, 'A form could not send its confirmation')
  return 'account'
}

/** Nobody whom the account knows or who has left it is put on a list by what anybody may have typed. */
async function isStranger({ store: { read } }: FormDeskDeps, form: SignupForm, email: string) {
  if ((await findContact(read, form.accountId, email)) !== undefined) return false
  return (await suppressionsOf(read, form.accountId, email)).length === 0
}

function newEntry({ store, clock }: FormDeskDeps, form: SignupForm, given: SentForm): FormEntry {
  const { keepAddress, consent } = form.settings
  const { network = '' } = given
  const kept = { none: '', whole: network, shortened: network === '' ? '' : shortened(network) }
  const agreed: Agreed = {
    version: form.version,
    text: consent,
    page: given.page,
    address: kept[keepAddress],
  }
  const now = clock.now()
  return {
    id: store.ids.uuid(),
    formId: form.id,
    accountId: form.accountId,
    email: given.mailbox.address,
    typed: given.typed,
    agreed,
    state: 'waiting',
    createdAt: now,
    expiresAt: now + waitsMs,
  }
}

/** Sends the mail that asks, and keeps what was sent in, in one transaction. */
async function ask(deps: FormDeskDeps, form: SignupForm, entry: FormEntry): Promise<void> {
  await mail(deps, form, entry, false, async (tx, emailId) => {
    const { settings } = form
    await tx
      .insertInto('form_entries')
      .values({
        id: entry.id,
        form_id: form.id,
        account_id: form.accountId,
        address: addressKey(entry.email),
        email: entry.email,
        fields: JSON.stringify(entry.typed),
        consent: JSON.stringify(entry.agreed),
        state: 'waiting',
        email_id: emailId,
        created_at: entry.createdAt,
        confirmed_at: null,
        expires_at: entry.expiresAt,
        remind_at: settings.reminder ? entry.createdAt + remindAfterMs : null,
      })
      .execute()
  })
}

async function mail(
  deps: FormDeskDeps,
  form: SignupForm,
  entry: FormEntry,
  isReminder: boolean,
  alongside: (tx: Tx, emailId: string) => Promise<void>,
): Promise<void> {
  const { read } = deps.store
  const face = await accountFace(read, form.accountId)
  if (face === undefined) throw new ApiError('not_found', 'There is no such account')
  const content = confirmationMail({
    settings: form.settings,
    brand: await brandOf(read, form.accountId),
    accountName: face.name,
    url: `${deps.publicUrl}/confirm/${deps.tokens.confirmation(entry.id)}`,
    isReminder,
  })
  await acceptEmail(deps, form.accountId, { ...content, to: entry.email }, async (tx, { id }) => {
    await alongside(tx, id)
    await countFormMails(tx, form.id, deps.clock.now(), { mails: 1 })
  })
}

async function confirm(deps: FormDeskDeps, entryId: string): Promise<SignupForm | undefined> {
  const { store, clock } = deps
  const entry = await findEntry(store.read, entryId, clock.now())
  if (entry === undefined) return undefined
  const form = await findForm(store.read, entry.accountId, entry.formId)
  if (entry.state === 'waiting') await enter(deps, form, entry)
  return form
}

/** Puts somebody on the form's lists, with what they agreed to. */
async function enter(deps: FormDeskDeps, form: SignupForm, entry: FormEntry): Promise<void> {
  const { store, clock, plans, follow, followed } = deps
  const { accountId, email, typed, agreed } = entry
  const billing = await readBilling(store.read, plans, accountId)
  const id = store.ids.uuid()
  const hash = deps.tokens.hashOf(accountId, addressKey(email))
  await store.write(async (tx) => {
    const now = clock.now()
    if (form.settings.doubleOptIn || entry.state === 'waiting') {
      const confirmed = { state: 'confirmed', confirmed_at: now, remind_at: null } as const
      const { numUpdatedRows } = await tx
        .updateTable('form_entries')
        .set({ ...confirmed, expires_at: now + keptMs })
        .where('id', '=', entry.id)
        .where('state', '=', 'waiting')
        .executeTakeFirstOrThrow()
      // A second click came first. Without a confirmation there is no row.
      if (numUpdatedRows === 0n && form.settings.doubleOptIn) return
    }
    const { topics, metadata, ...names } = typed
    const given = { email, ...names, ...(Object.keys(metadata).length > 0 && { metadata }) }
    const lists = await listsThere(tx, form)
    const done = await addContactIn(tx, { id, now }, accountId, given, {
      listId: lists[0],
      ceiling: contactCeiling(plans, billing),
      checkNew: () => checkAdding(billing),
      by: 'form',
      follow,
    })
    for (const listId of lists.slice(1)) {
      const ids = [done.contact.id]
      await putOnListIn(tx, accountId, { listId, ids, now }, { by: 'form', follow })
    }
    await recordConsent(tx, accountId, email, {
      at: now,
      kind: 'confirmed',
      detail: {
        by: 'recipient',
        formId: form.id,
        note: `Form “${form.name}”, version ${agreed.version}: ${agreed.text}`,
        page: agreed.page,
        address: agreed.address,
        askedAt: entry.createdAt,
      },
    })
    await lift(tx, accountId, email, { by: 'recipient', at: now, reasons: ['unsubscribe'] })
    await chooseTopics(tx, form, { email, ticked: topics, now })
    await forgetAddress(tx, accountId, hash)
    await tx
      .updateTable('forms')
      .set((eb) => ({ confirmed: eb('confirmed', '+', 1) }))
      .where('id', '=', form.id)
      .execute()
  })
  followed()
}

/** Those of the form's lists that nobody has deleted since. */
async function listsThere(tx: Tx, { accountId, settings }: SignupForm): Promise<string[]> {
  const there: string[] = []
  for (const id of settings.lists) {
    const row = await tx
      .selectFrom('contact_lists')
      .select('id')
      .where('id', '=', id.toLowerCase())
      .where('account_id', '=', accountId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (row !== undefined) there.push(row.id)
  }
  return there
}

/** Of the topics that the form offers they get those that they ticked. */
async function chooseTopics(
  tx: Tx,
  { accountId, settings }: SignupForm,
  { email: address, ticked, now }: { email: string; ticked: readonly string[]; now: number },
): Promise<void> {
  const offered = settings.topics.map((id) => id.toLowerCase())
  for (const { id: topicId } of await listTopics(tx, accountId)) {
    if (!offered.includes(topicId)) continue
    if (ticked.includes(topicId)) await optIn(tx, accountId, { topicId, address }, now)
    else await optOut(tx, accountId, { topicId, address }, now)
  }
}

/** Asks once more who has not confirmed. */
async function remind(deps: FormDeskDeps, stop: AbortSignal): Promise<void> {
  const { store, clock } = deps
  const now = clock.now()
  for (const entry of await dueReminders(store.read, now)) {
    if (stop.aborted) return
    const form = await findForm(store.read, entry.accountId, entry.formId)
    const settle = (tx: Tx, emailId?: string) =>
      tx
        .updateTable('form_entries')
        .set({ remind_at: null, ...(emailId !== undefined && { email_id: emailId }) })
        .where('id', '=', entry.id)
        .execute()
    const isOff = form.stoppedAt !== null || form.archivedAt !== null || isCarefulForm(form, now)
    if (isOff || entry.expiresAt <= now) {
      await store.write((tx) => settle(tx))
      continue
    }
    try {
      await mail(deps, form, entry, true, async (tx, emailId) => void (await settle(tx, emailId)))
    } catch (error) {
      // It is a courtesy: what stops the account's mail stops it for good.
      reasonOf(deps, error)
      await store.write((tx) => settle(tx))
    }
  }
}
