import { dayMs } from '../clock/index.js'
import { addressKey } from '../mime/index.js'
import { type FormEntryRow, type Read, storedObject, type Tx } from '../store/index.js'
import { formLimits } from './limits.js'

/** How long unconfirmed entries are kept after they were sent in, or after their first mail where that came later. */
export const waitsMs = 7 * dayMs
export const remindAfterMs = 2 * dayMs

/** What was typed and ticked, or given by the account itself. */
export interface Typed {
  firstName?: string
  lastName?: string
  /** E.164. */
  phone?: string
  metadata: Record<string, unknown>
  /** The ticked topics; undefined where none were shown, so that nothing was chosen. */
  topics?: string[]
  /** The shown topics. */
  offered: string[]
  /** The last mail that asked for the confirmation. */
  mailId?: string
  /** True: no mail has asked yet; it is sent when `remind_at` is due. */
  later?: boolean
  /** The id of the contact that is made when they confirm. */
  contactId?: string
  /** The lists that confirming puts somebody on; undefined: those of the form. */
  lists?: string[]
  /** False: no automation starts when they confirm. */
  starts?: boolean
}

/** What was agreed to, where and when. */
export interface Agreed {
  version: number
  text: string
  /** The page with the form, as the browser or the caller says. */
  page: string
  /** The client's address as the form keeps it; empty for none. */
  address: string
}

/** A submission, confirmed or not. */
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

/** Keeps a submission, in the transaction of the mail that asks; without a mail it is asked later. */
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

/** What was sent in for an address, confirmed or not, in all forms of an account. */
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

/** Deletes those entries: their links lead nowhere from then on. */
export async function eraseEntries(tx: Tx, accountId: string, email: string): Promise<void> {
  await tx
    .deleteFrom('form_entries')
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(email))
    .execute()
}
