import { dayMs } from '../clock/index.js'
import type { Read, Store } from '../store/index.js'
import { forgetAddress } from './asked-addresses.js'
import { type FormEntry, toEntry } from './entry.js'

// How long until an address that was asked in vain may be asked again.
const forgottenMs = 365 * dayMs
// Complaints come weeks after a mail, bounces days. Later ones count for the account.
const followedMs = 90 * dayMs

const perSlice = 200

/** The entries that should be asked once more, some at a time. */
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

/** Deletes what has expired, a slice at a time. */
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
