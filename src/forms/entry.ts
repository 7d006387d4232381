import { dayMs } from '../clock/index.js'
import { addressKey } from '../mime/index.js'
import { type FormEntryRow, type Read, type Store, storedObject, type Tx } from '../store/index.js'
import { forgetAddress } from './asked-addresses.js'
import { formLimits } from './limits.js'

// Unconfirmed ones go so long after they were sent in, confirmed ones after they were confirmed.
export const waitsMs = 7 * dayMs
const keptMs = 30 * dayMs
const remindAfterMs = 2 * dayMs
// An address that was asked in vain may be asked again after so long.
const forgottenMs = 365 * dayMs
// Complaints come weeks after a mail, bounces days; what comes later is the account's.
const followedMs = 90 * dayMs

/** What was typed and ticked, or given by the account itself. */
export interface Typed {
  firstName?: string
  lastName?: string
  /** E.164. */
  phone?: string
  metadata: Record<string, unknown>
  /** The topics that were ticked; undefined where none were shown, and nothing was said of any. */
  topics?: string[]
  /** Those that were shown. */
  offered: string[]
  /** The last mail that asked. */
  mailId?: string
  /** True: no mail has asked yet; it is sent when `remind_at` is due. */
  later?: boolean
  /** Of the contact that is made when they confirm. */
  contactId?: string
  /** The lists that whoever confirms is put on; undefined: those of the form. */
  lists?: string[]
  /** False: no automation starts when they confirm. */
  starts?: boolean
}

/** What was agreed to, where and when. */
export interface Agreed {
  version: number
  text: string
  /** The page that the form was on, as the browser or the caller says. */
  page: string
  /** As the form keeps it; empty for none. */
  address: string
}

/** What somebody sent in who has not confirmed it yet, or has. */
export interface FormEntry {
  id: string
  formId: string
  accountId: string
  email: string
  typed: Typed
  agreed: Agreed
  state: FormEntryRow['state']
  createdAt: number
  expiresAt: number
}

export async function findEntry(
  read: Read,
  id: string,
  now: number,
): Promise<FormEntry | undefined> {
  const row = await read
    .selectFrom('form_entries')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  return row === undefined || row.expires_at <= now ? undefined : toEntry(row)
}

export const toEntry = (row: FormEntryRow): FormEntry => ({
  id: row.id,
  formId: row.form_id,
  accountId: row.account_id,
  email: row.email,
  typed: { metadata: {}, offered: [], ...(storedObject(row.fields) as Partial<Typed>) },
  agreed: {
    version: 1,
    text: '',
    page: '',
    address: '',
    ...(storedObject(row.consent) as Partial<Agreed>),
  },
  state: row.state,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})

/** Keeps what was sent in, in the transaction of the mail that asks; without one it is asked later. */
export async function insertEntry(
  tx: Tx,
  { id, formId, accountId, email, typed, agreed, createdAt, expiresAt }: FormEntry,
  { isReminded, mailId }: { isReminded: boolean; mailId?: string },
): Promise<void> {
  await tx
    .insertInto('form_entries')
    .values({
      id,
      form_id: formId,
      account_id: accountId,
      address: addressKey(email),
      email,
      fields: JSON.stringify(
        mailId === undefined ? { ...typed, later: true } : { ...typed, mailId },
      ),
      consent: JSON.stringify(agreed),
      state: 'waiting',
      created_at: createdAt,
      confirmed_at: null,
      expires_at: expiresAt,
      remind_at:
        mailId === undefined
          ? createdAt + formLimits.laterMs
          : isReminded
            ? createdAt + remindAfterMs
            : null,
    })
    .execute()
}

/** Notes the mail that asked an entry later, and when a reminder of it is due. */
export async function settleLater(
  tx: Tx,
  { id, typed: { later: _, ...typed } }: FormEntry,
  { isReminded, mailId, now }: { isReminded: boolean; mailId: string; now: number },
): Promise<void> {
  const fields = JSON.stringify({ ...typed, mailId })
  const remind_at = isReminded ? now + remindAfterMs : null
  await tx.updateTable('form_entries').set({ fields, remind_at }).where('id', '=', id).execute()
}

/** Puts off who is asked later, as the form may send no more now. */
export async function putOff(tx: Tx, { id }: FormEntry, until: number): Promise<void> {
  await tx.updateTable('form_entries').set({ remind_at: until }).where('id', '=', id).execute()
}

/** Notes the reminder of an entry, and that none is due any more; without a mail there was none. */
export async function settleReminder(tx: Tx, entry: FormEntry, mailId?: string): Promise<void> {
  const fields = JSON.stringify({ ...entry.typed, ...(mailId !== undefined && { mailId }) })
  await tx
    .updateTable('form_entries')
    .set({ remind_at: null, fields })
    .where('id', '=', entry.id)
    .execute()
}

/** When a server took the last mail that asked; null: none has yet. */
export async function askedAt(read: Read, { typed }: FormEntry): Promise<number | null> {
  const row = await read
    .selectFrom('deliveries')
    .select('ended_at')
    .where('email_id', '=', typed.mailId ?? '')
    .where('status', 'in', ['delivered', 'relayed'])
    .executeTakeFirst()
  return row?.ended_at ?? null
}

/**
 * Confirms an entry, and all others of its form and address with it; one by hand has lists of its own, and is confirmed
 * alone. Resolves with whether it was still waiting.
 */
export async function settleEntries(tx: Tx, entry: FormEntry, now: number): Promise<boolean> {
  const waiting = await tx
    .selectFrom('form_entries')
    .select(['id', 'form_id', 'state'])
    .where('account_id', '=', entry.accountId)
    .where('address', '=', addressKey(entry.email))
    .execute()
  const settled = waiting.filter(
    ({ id, form_id, state }) =>
      form_id === entry.formId &&
      state === 'waiting' &&
      (entry.typed.lists === undefined || id === entry.id),
  )
  if (!settled.some(({ id }) => id === entry.id)) return false
  const confirmed = { state: 'confirmed', confirmed_at: now, remind_at: null } as const
  for (const { id } of settled) {
    await tx
      .updateTable('form_entries')
      .set({ ...confirmed, expires_at: now + keptMs })
      .where('id', '=', id)
      .execute()
  }
  return true
}

/** What an address has sent in, confirmed or not, in all forms of an account. */
export async function entriesOf(
  read: Read,
  accountId: string,
  email: string,
): Promise<FormEntry[]> {
  const rows = await read
    .selectFrom('form_entries')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(email))
    .execute()
  return rows.map(toEntry)
}

/** Takes that away: its links lead nowhere from then on. */
export async function eraseEntries(tx: Tx, accountId: string, email: string): Promise<void> {
  await tx
    .deleteFrom('form_entries')
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(email))
    .execute()
}

const perSlice = 200

/** Those that are to be asked once more, some at a time. */
export async function dueReminders(read: Read, now: number): Promise<FormEntry[]> {
  const rows = await read
    .selectFrom('form_entries')
    .selectAll()
    .where('remind_at', 'is not', null)
    .where('remind_at', '<=', now)
    .orderBy('remind_at')
    .limit(perSlice)
    .execute()
  return rows.map(toEntry)
}

/** Takes away what has expired, a slice at a time. */
export async function forgetEntries(
  { store }: { store: Store },
  now: number,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const gone = await store.write(async (tx) => {
      const entries = await tx
        .selectFrom('form_entries')
        .select('id')
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(perSlice)
        .execute()
      for (const { id } of entries)
        await tx.deleteFrom('form_entries').where('id', '=', id).execute()
      const addresses = await tx
        .selectFrom('form_addresses')
        .select(['account_id', 'address_hash'])
        .where('last_at', '<', now - forgottenMs)
        .limit(perSlice)
        .execute()
      for (const one of addresses) await forgetAddress(tx, one.account_id, one.address_hash)
      const mails = await tx
        .selectFrom('form_mails')
        .select('email_id')
        .where('sent_at', '<', now - followedMs)
        .limit(perSlice)
        .execute()
      for (const { email_id } of mails)
        await tx.deleteFrom('form_mails').where('email_id', '=', email_id).execute()
      return Math.max(entries.length, addresses.length, mails.length)
    })
    if (gone < perSlice) return
  }
}
