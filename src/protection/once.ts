import { createHash } from 'node:crypto'
import type { Clock } from '../clock/index.js'
import type { MailEvent } from '../events/index.js'
import { type ProtectionAddressRow, prepared, type Store, type Tx } from '../store/index.js'
import { forgetIdle, hourOf, hoursOf } from './window.js'

/**
 * Notes an address, and tells whether it is new in this window: an address counts once
 * (decisions.md, 'Account protection'). Events without an address count each time. Takes one query.
 */
export async function isFirstInWindow(
  tx: Tx,
  { accountId, recipient, at }: MailEvent,
  kind: ProtectionAddressRow['kind'],
  windowMs: number,
): Promise<boolean> {
  if (recipient === null) return true
  // Only its hash, cut to 128 bits, so that nothing here identifies a single recipient.
  const address = createHash('sha256').update(recipient.toLowerCase()).digest('base64url')
  const hour = hourOf(at)
  const row = { account_id: accountId, kind, address: address.slice(0, 22), hour }
  return (await enter(tx, { ...row, before: hour - hoursOf(windowMs) })).length > 0
}

/** Returns a row if there was none, or only one outside of the window. */
const enter = prepared<ProtectionAddressRow & { before: number }, { hour: number }>((db, values) =>
  db
    .insertInto('protection_addresses')
    .values({
      account_id: values.account_id,
      kind: values.kind,
      address: values.address,
      hour: values.hour,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'kind', 'address'])
        .doUpdateSet({ hour: values.hour })
        .where('protection_addresses.hour', '<=', values.before),
    )
    .returning('hour'),
)

// A write then takes some milliseconds.
const mostAtOnce = 500

/** Deletes some addresses outside of the window; returns how many. */
async function forgetAddresses(
  tx: Tx,
  { now, windowMs }: { now: number; windowMs: number },
): Promise<number> {
  const old = await tx
    .selectFrom('protection_addresses')
    .select(['account_id', 'kind', 'address'])
    .where('hour', '<=', hourOf(now) - hoursOf(windowMs))
    .limit(mostAtOnce)
    .execute()
  for (const row of old) await remove(tx, row)
  return old.length
}

/** By the primary key. */
const remove = prepared<Omit<ProtectionAddressRow, 'hour'>, unknown>((db, values) =>
  db
    .deleteFrom('protection_addresses')
    .where('account_id', '=', values.account_id)
    .where('kind', '=', values.kind)
    .where('address', '=', values.address),
)

/**
 * Deletes what lies outside of the rates' window: counts of accounts that no longer mail, and addresses. Works
 * in slices and checks `signal` between them; rates do not change by it.
 */
export async function forgetOldCounts(
  { store, clock }: { store: Store; clock: Clock },
  windowMs: number,
  signal: AbortSignal,
): Promise<{ accounts: number; addresses: number }> {
  const window = { now: clock.now(), windowMs }
  const all = async (forget: typeof forgetAddresses) => {
    let forgotten = 0
    for (let some = 1; some > 0 && !signal.aborted; forgotten += some) {
      some = await store.write((tx) => forget(tx, window))
    }
    return forgotten
  }
  return { accounts: await all(forgetIdle), addresses: await all(forgetAddresses) }
}
