import { randomBytes } from 'node:crypto'
import { accountFace, brandOf, languageOf, senderOf } from '../accounts/index.js'
import {
  type AskedContact,
  type AskedId,
  findContact,
  noEmail,
  whyNotAsked,
} from '../contacts/index.js'
import { blockedAmong } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import type { Tx } from '../store/index.js'
import { askOrThrow } from './ask.js'
import { countedAddress, mayAskAddress } from './asked-addresses.js'
import { isCarefulForm } from './careful.js'
import type { FormDeskDeps } from './deps.js'
import { entriesOf, type FormEntry, insertEntry, waitsMs } from './entry.js'
import { findForm, handForm, type SignupForm, usualSettings } from './form.js'
import type { HeldReason } from './limits.js'
import type { FormLimits } from './sent-in-limits.js'

/**
 * Asks somebody whom the account itself adds. Throws what the account may not do, and a 409 where nobody is asked: the
 * account's owner is told why, as they know their contacts.
 */
export async function askByHand(
  deps: FormDeskDeps,
  limits: FormLimits,
  accountId: string,
  { given, listIds, note, starts }: AskedContact,
  alongside: (tx: Tx, asked: AskedId) => Promise<void> = async () => {},
): Promise<AskedId> {
  const { store, clock, tallies } = deps
  const mailbox = parseMailbox(given.email)
  if (mailbox === undefined) throw noEmail()
  const form = await openHandForm(deps, accountId)
  tallies.sentIn(form.id)
  const now = clock.now()
  const { address: email } = mailbox
  const known = await findContact(store.read, accountId, email)
  // Somebody who was already asked for another list must become one contact, whichever they confirm first.
  const waiting = (await entriesOf(store.read, accountId, email)).find(
    ({ state, expiresAt, typed }) => state === 'waiting' && expiresAt > now && typed.contactId,
  )
  const id = known?.id ?? waiting?.typed.contactId ?? store.ids.uuid()
  const asked = { id, email }
  const { firstName, lastName, phone, metadata = {} } = given
  const entry: FormEntry = {
    id: store.ids.uuid(),
    formId: form.id,
    accountId,
    email,
    typed: {
      ...(firstName !== undefined && { firstName }),
      ...(lastName !== undefined && { lastName }),
      ...(phone !== undefined && { phone }),
      metadata,
      offered: [],
      contactId: asked.id,
      lists: listIds.map((id) => id.toLowerCase()),
      starts,
    },
    agreed: { version: form.version, text: note, page: '', address: '' },
    state: 'waiting',
    createdAt: now,
    expiresAt: now + waitsMs,
  }
  const reason =
    (await whyNotNow(deps, limits, form, mailbox)) ??
    (await askOrThrow(deps, form, entry, {
      isReminder: false,
      alongside: async (tx, mailId) => {
        await insertEntry(tx, entry, { isReminded: form.settings.reminder, mailId })
        await alongside(tx, asked)
      },
    }))
  if (reason === undefined) return asked
  tallies.held(form.id, reason)
  throw new ApiError('conflict', sentenceOf(reason), { fields: { reason } })
}

const sentences: Readonly<Partial<Record<HeldReason, string>>> = whyNotAsked
const sentenceOf = (reason: HeldReason) => sentences[reason] ?? `They are not asked: ${reason}`

/** Checked before the mail is made, so that an address that was asked enough uses up nothing. */
async function whyNotNow(
  { store: { read }, clock, tokens }: FormDeskDeps,
  limits: FormLimits,
  form: SignupForm,
  { address }: { address: string },
): Promise<HeldReason | undefined> {
  const { id: formId, accountId } = form
  const now = clock.now()
  if (form.stoppedAt !== null) return 'stopped'
  // A confirmation may reach people who have left or were erased only where they themselves ask for it.
  const mail = { accountId, type: 'marketing' } as const
  if ((await blockedAmong(read, mail, [address])).size > 0) return 'suppressed'
  const hash = tokens.hashOf(accountId, countedAddress(address))
  if (!(await mayAskAddress(read, accountId, hash, now))) return 'address'
  return limits.ofForm({ formId, isCareful: isCarefulForm(form, now) })
}

/** The account's form for this, in its language; it is made at the first need. Throws a 422 without a sender. */
async function openHandForm(
  { store, clock }: FormDeskDeps,
  accountId: string,
): Promise<SignupForm> {
  const { read } = store
  if (senderOf(await brandOf(read, accountId)) === undefined) {
    const message = 'Name a default sender under Brand first: the mail that asks comes from it'
    throw new ApiError('validation_error', message, { status: 422, fields: { field: 'confirm' } })
  }
  const face = await accountFace(read, accountId)
  const language = languageOf(face?.language ?? null)
  const known = await handForm(read, accountId)
  if (known?.settings.language === language) return known
  const settings = JSON.stringify({ ...usualSettings, lists: [], consent: '', language })
  const id = store.ids.uuid()
  return await store.write(async (tx) => {
    // Another request may have made the form since.
    const there = await handForm(tx, accountId)
    if (there !== undefined) {
      await tx.updateTable('forms').set({ settings }).where('id', '=', there.id).execute()
      return await findForm(tx, accountId, there.id)
    }
    await tx
      .insertInto('forms')
      .values({
        id,
        account_id: accountId,
        public_id: randomBytes(12).toString('base64url'),
        name: 'Contacts that you add',
        settings,
        version: 1,
        archived_at: null,
        careful_at: null,
        stopped_at: null,
        created_at: clock.now(),
        kind: 'hand',
      })
      .execute()
    return await findForm(tx, accountId, id)
  })
}
