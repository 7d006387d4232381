import { type Clock, dayMs } from '../clock/index.js'
import { type IdempotencyKeyRow, prepared, type Read, type Store, type Tx } from '../store/index.js'

/** How long an `Idempotency-Key` is one's own. */
export const keyLifetimeMs = dayMs

/** What was answered under a key within its time. */
export async function findAnswer(read: Read, accountId: string, key: string, now: number) {
  const [found] = await answerUnder(read, { accountId, key, since: now - keyLifetimeMs })
  return found
}

type Answer = Pick<IdempotencyKeyRow, 'fingerprint' | 'status' | 'response'>

/** By account and key (interface.md: scoped to the account), and not older than 24 hours. */
const answerUnder = prepared<{ accountId: string; key: string; since: number }, Answer>(
  (db, { accountId, key, since }) =>
    db
      .selectFrom('idempotency_keys')
      .select(['fingerprint', 'status', 'response'])
      .where('account_id', '=', accountId)
      .where('key', '=', key)
      .where('created_at', '>', since),
)

/**
 * Keeps an answer under its key, in the write of what it tells of. Resolves with false where somebody has the key:
 * the table's own key decides, whoever asked at the same time in another thread, process or node.
 */
export async function keepAnswer(tx: Tx, row: IdempotencyKeyRow): Promise<boolean> {
  const { account_id: _, key: __, ...kept } = row
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('idempotency_keys')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'key'])
        .doUpdateSet(kept)
        .where('idempotency_keys.created_at', '<=', row.created_at - keyLifetimeMs),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows !== 0n
}

const rowsAWrite = 500

/** Deletes the keys whose time is over, in small bits, until there are no more or `signal` stops it. */
export async function forgetExpired(
  { store, clock }: { store: Store; clock: Clock },
  signal: AbortSignal,
): Promise<void> {
  for (let deleted = rowsAWrite; deleted === rowsAWrite && !signal.aborted; ) {
    deleted = await store.write(async (tx) => {
      const expired = await tx
        .selectFrom('idempotency_keys')
        .select(['account_id', 'key'])
        .where('created_at', '<=', clock.now() - keyLifetimeMs)
        .limit(rowsAWrite)
        .execute()
      for (const { account_id, key } of expired) {
        await tx
          .deleteFrom('idempotency_keys')
          .where('account_id', '=', account_id)
          .where('key', '=', key)
          .execute()
      }
      return expired.length
    })
  }
}
