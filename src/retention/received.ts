import type { Retentions } from '../events/index.js'
import { removeReceived } from '../receiving/index.js'
import { firstUuidAt, type Store } from '../store/index.js'

// Each has texts and files, so a write takes some milliseconds.
const mailsAWrite = 50

/** Deletes received mail that is older than its account keeps the log of mails; resolves with the number. */
export async function forgetReceived(
  { read, write }: Pick<Store, 'read' | 'write'>,
  retentions: Retentions,
  {
    now,
    signal,
    rest = async () => {},
  }: { now: number; signal: AbortSignal; rest?: () => Promise<void> },
): Promise<number> {
  let gone = 0
  for (const [accountId, keepMs] of await retentions()) {
    // The first digits of an id are the time at which the mail came.
    const until = firstUuidAt(now - keepMs)
    for (let found = mailsAWrite; found === mailsAWrite && !signal.aborted; await rest()) {
      const rows = await read
        .selectFrom('received')
        .select('id')
        .where('account_id', '=', accountId)
        .where('id', '<', until)
        .orderBy('id')
        .limit(mailsAWrite)
        .execute()
      found = rows.length
      if (found === 0) break
      const ids = rows.map(({ id }) => id)
      gone += await write((tx) => removeReceived(tx, ids))
    }
  }
  return gone
}
