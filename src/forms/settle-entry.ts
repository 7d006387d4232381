import { dayMs } from '../clock/index.js'
import { addressKey } from '../mime/index.js'
import type { Read, Tx } from '../store/index.js'
import { type FormEntry, remindAfterMs, waitsMs } from './entry.js'

// How long confirmed entries are kept after that.
const keptMs = 30 * dayMs

/** Notes the mail that asked an entry later, whose link is as good as any other, and when its reminder is due. */
export async function settleLater(
  tx: Tx,
  { id, typed: { later: _, ...typed } }: FormEntry,
  { isReminded, mailId, now }: { isReminded: boolean; mailId: string; now: number },
): Promise<void> {
  const fields = JSON.stringify({ ...typed, mailId })
  const remind_at = isReminded ? now + remindAfterMs : null
  const changed = { fields, remind_at, expires_at: now + waitsMs }
  await tx.updateTable('form_entries').set(changed).where('id', '=', id).execute()
}

/** Puts off an entry that is asked later, as the form may send no more now. */
export async function putOff(tx: Tx, { id }: FormEntry, until: number): Promise<void> {
  await tx.updateTable('form_entries').set({ remind_at: until }).where('id', '=', id).execute()
}

/** Notes an entry's reminder, and that no other is due; without a mail there was none. */
export async function settleReminder(tx: Tx, entry: FormEntry, mailId?: string): Promise<void> {
  const fields = JSON.stringify({ ...entry.typed, ...(mailId !== undefined && { mailId }) })
  await tx
    .updateTable('form_entries')
    .set({ remind_at: null, fields })
    .where('id', '=', entry.id)
    .execute()
}

/** When a server accepted the last mail that asked; null: none has yet. */
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
 * Confirms an entry, and with it all others of its form and address. An entry by hand has lists of its own, and is
 * confirmed alone. Resolves with whether it was still waiting.
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
