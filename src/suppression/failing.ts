import { dayMs, hourMs } from '../clock/index.js'
import type { MailEvent } from '../events/index.js'
import { addressKey } from '../mime/index.js'
import { cell, prepared, rowsOf, type SoftBounceRow, type Tx } from '../store/index.js'
import { suppress } from './suppress.js'

// decisions.md, 'bounced, Transient': 3 mails in a row, over at least 72 hours, block for 30 days.
const failures = 3
const overMs = 72 * hourMs
const blockedMs = 30 * dayMs
// After this long a failure no longer counts: the address failed once and was never mailed again.
const forgottenMs = 90 * dayMs
// How many old rows each failure deletes, so that rows are deleted as fast as they are added.
const maxForgotten = 100

/**
 * Suppresses the addresses whose mail has failed for good, and those that keep failing. This is an effect of events:
 * it is in the transaction of the failure. All delivered mails together cost one look, which finds no row for most of
 * them.
 */
export async function suppressFailing(tx: Tx, events: readonly MailEvent[]): Promise<void> {
  const hasFailed = await failedAmong(tx, events)
  for (const event of events) {
    if (event.recipient === null) continue
    const { accountId, recipient, deliveryId } = event
    if (event.type === 'delivered') {
      const address = addressKey(recipient)
      if (hasFailed(accountId, address)) await noteDelivered(tx, { accountId, address, deliveryId })
    } else if (event.detail?.suppress === 'now') {
      await suppress(tx, accountId, bounced(event, recipient), event.at)
    } else if (event.detail?.suppress === 'repeated') await noteFailure(tx, event, recipient)
  }
}

/** The record of an address whose mail bounced: which mail it was, and what its server said. */
const bounced = ({ emailId, reply }: MailEvent, email: string) => ({
  email,
  reason: 'bounce' as const,
  emailId,
  detail: reply?.slice(0, 1_000) ?? null,
})

/** Which addresses may have failed before, or in these events. */
async function failedAmong(tx: Tx, events: readonly MailEvent[]) {
  if (events.some(({ detail }) => detail?.suppress === 'repeated')) return () => true
  const pairs = events.flatMap(({ type, accountId, recipient }) =>
    type === 'delivered' && recipient !== null ? [[accountId, addressKey(recipient)]] : [],
  )
  if (pairs.length === 0) return () => false
  const rows = await failing(tx, { pairs: JSON.stringify(pairs) })
  const found = new Set(rows.map(({ account_id, address }) => `${account_id} ${address}`))
  return (accountId: string, address: string) => found.has(`${accountId} ${address}`)
}

/** The key of a row. */
type Address = Pick<SoftBounceRow, 'account_id' | 'address'>

/** Which of these pairs of account and address have failed before. */
const failing = prepared<{ pairs: string }, Address>((db, { pairs }) =>
  db
    .selectFrom(rowsOf(pairs))
    .innerJoin('soft_bounces', (join) =>
      join
        .on('soft_bounces.account_id', '=', cell(0, 'text'))
        .on('soft_bounces.address', '=', cell(1, 'text')),
    )
    .select(['soft_bounces.account_id', 'soft_bounces.address']),
)

/** Notes that a delivery succeeded: earlier failures no longer count, unless a report takes the success back. */
const noteDelivered = prepared<
  { accountId: string; address: string; deliveryId: number | null },
  unknown
>((db, { accountId, address, deliveryId }) =>
  db
    .updateTable('soft_bounces')
    .set({ delivered_id: deliveryId })
    .where('account_id', '=', accountId)
    .where('address', '=', address),
)

/**
 * Counts a failure that may pass; the third in a row, 72 hours after the first or later, suppresses
 * the address for 30 days.
 */
async function noteFailure(tx: Tx, event: MailEvent, recipient: string): Promise<void> {
  const { accountId, at, deliveryId } = event
  const key = { account_id: accountId, address: addressKey(recipient) }
  const before = await tx
    .selectFrom('soft_bounces')
    .selectAll()
    .where('account_id', '=', key.account_id)
    .where('address', '=', key.address)
    .executeTakeFirst()
  // A report may take back what the server had accepted: then it was no success.
  const succeeded = before?.delivered_id != null && before.delivered_id !== deliveryId
  const row = {
    ...key,
    failures: (succeeded ? 0 : (before?.failures ?? 0)) + 1,
    first_at: succeeded ? at : (before?.first_at ?? at),
    last_at: at,
    delivered_id: null,
  }
  await forget(tx, at, key)
  if (row.failures < failures || at - row.first_at < overMs) {
    await tx.insertInto('soft_bounces').values(row).execute()
    return
  }
  const record = { ...bounced(event, recipient), expiresAt: at + blockedMs }
  await suppress(tx, accountId, record, at)
}

/** Deletes the row that is about to be written anew or is no longer needed, and some old rows. */
async function forget(tx: Tx, now: number, key: { account_id: string; address: string }) {
  await tx
    .deleteFrom('soft_bounces')
    .where('account_id', '=', key.account_id)
    .where('address', '=', key.address)
    .execute()
  const old = await tx
    .selectFrom('soft_bounces')
    .select(['account_id', 'address'])
    .where('last_at', '<', now - forgottenMs)
    .limit(maxForgotten)
    .execute()
  for (const { account_id, address } of old) {
    await tx
      .deleteFrom('soft_bounces')
      .where('account_id', '=', account_id)
      .where('address', '=', address)
      .execute()
  }
}
