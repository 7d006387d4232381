import type { Retentions } from '../events/index.js'
import { deleteUpTo } from '../sandbox/index.js'
import { firstSerialAt, type Store } from '../store/index.js'

/**
 * Deletes messages of test inboxes that are older than the account's mails are kept; resolves with how many.
 */
export async function forgetTestMails(
  { read, write }: Pick<Store, 'read' | 'write'>,
  retentions: Retentions,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<number> {
  const kept = await retentions()
  const oldest = await read
    .selectFrom('sandbox_messages')
    .select(({ fn }) => ['account_id as accountId', fn.min('id').as('id')])
    .where('account_id', 'is not', null)
    .groupBy('account_id')
    .execute()
  let gone = 0
  for (const { accountId, id } of oldest) {
    const keptMs = accountId === null ? undefined : kept.get(accountId)
    if (accountId === null || keptMs === undefined || signal.aborted) continue
    // A message's number has the time in which it came.
    const last = firstSerialAt(now - keptMs) - 1
    if (id <= last) gone += await deleteUpTo({ read, write, accountId }, last, signal)
  }
  return gone
}
