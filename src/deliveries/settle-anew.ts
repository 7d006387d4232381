import type { Clock } from '../clock/index.js'
import type { LandEvents } from '../events/index.js'
import { idsIn, type Store, writeApart } from '../store/index.js'
import { isTable } from '../toml/index.js'
import type { Claimed } from './due-rows.js'
import { leaseOf } from './lease.js'
import { type Settlement, settle } from './settle.js'

/*
 * A database that went back in time has mail in its queue that had left. What is known of that mail's end is written
 * once more, instead of another attempt.
 */

/** How an attempt ended, as far as that is kept: with the row of the queue it makes a settlement. */
export interface SentLately {
  id: number
  emailId: string
  kind: 'delivered' | 'relayed'
  startedAt: number
  attempts: number
  reply: string
  remote: string | null
  tls: string | null
  failover: boolean
}

/** What is worth keeping of a settlement: that the mail left. A failed delivery may be tried again. */
export function sentLately(settlement: Settlement): SentLately | undefined {
  const { id, emailId, kind, startedAt, attempts, reply, remote, tls, failover } = settlement
  if (kind !== 'delivered' && kind !== 'relayed') return undefined
  return {
    id,
    emailId,
    kind,
    startedAt,
    attempts,
    reply,
    remote,
    tls,
    failover: failover === true,
  }
}

/** Whether `sentLately` wrote it. */
export const isSentLately = (value: unknown): value is SentLately =>
  isTable(value) &&
  typeof value.id === 'number' &&
  typeof value.emailId === 'string' &&
  (value.kind === 'delivered' || value.kind === 'relayed') &&
  typeof value.startedAt === 'number' &&
  typeof value.attempts === 'number' &&
  typeof value.reply === 'string' &&
  (value.remote === null || typeof value.remote === 'string') &&
  (value.tls === null || typeof value.tls === 'string') &&
  typeof value.failover === 'boolean'

type QueueRow = Pick<Claimed, 'id' | 'accountId' | 'class' | 'recipient'>

/** The end of a delivery that the queue has again. */
export const settledAnew = (row: QueueRow, sent: SentLately): Settlement => ({
  ...sent,
  accountId: row.accountId,
  class: row.class,
  recipient: row.recipient,
  transcript: forgotten,
})

const forgotten =
  'The database has forgotten this attempt, as it went back in time; what it ended in was kept, and the session was not.'

const perWrite = 64

/**
 * Before anything is sent: writes the end of all of `sent` that the queue has. Rejects with a fault of the storage. It
 * may be run again. `faults`: those whose end cannot be written, which may be sent again.
 */
export async function settleAnew(
  { store, clock, land }: { store: Store; clock: Clock; land: LandEvents },
  sent: readonly SentLately[],
): Promise<{ settled: number; faults: number }> {
  const byId = new Map(sent.map((one) => [one.id, one]))
  const all = [...byId.values()]
  let settled = 0
  let faults = 0
  for (let from = 0; from < all.length; from += perWrite) {
    const { results, left, cause, ...outcome } = await writeApart(
      store.write,
      all.slice(from, from + perWrite),
      async (tx, some) => {
        const ids = some.map(({ id }) => id)
        const rows = await tx
          .selectFrom('queue')
          .select(['id', 'email_id as emailId', 'account_id as accountId', 'class', 'recipient'])
          .where('id', 'in', idsIn(ids, 'integer'))
          .execute()
        const again = rows.flatMap((row) => {
          const known = byId.get(row.id)
          return known?.emailId === row.emailId ? [settledAnew(row, known)] : []
        })
        if (again.length === 0) return 0
        const leased = again.map(({ id }) => id)
        const lease = leaseOf(store.node, 0)
        await tx
          .updateTable('queue')
          .set({ lease })
          .where('id', 'in', idsIn(leased, 'integer'))
          .execute()
        return await settle(tx, again, { lease, now: clock.now(), land })
      },
    )
    if (left.length > 0) throw cause
    for (const count of results) settled += count
    faults += outcome.faults.length
  }
  return { settled, faults }
}
