import { type Plans, readBilling } from '../billing/index.js'
import { dayMs } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { eachApart, idsIn, type Store } from '../store/index.js'
import { asideBytes, countAside } from './settle.js'

// Rows in a transaction: mail that is being accepted waits for no more than these.
const rowsAtOnce = 500

/**
 * Deletes what went to endpoints longer ago than their account's plan keeps its log, and everything of deleted
 * endpoints. In slices, between which `signal` is checked.
 */
export async function forgetDeliveries(
  {
    store,
    plans,
    log,
    now,
    rest,
  }: { store: Store; plans: Plans; log: Log; now: number; rest?: () => Promise<void> },
  signal: AbortSignal,
): Promise<number> {
  let gone = 0
  const endpoints = await store.read
    .selectFrom('webhook_endpoints')
    .select(['id', 'account_id', 'deleted_at'])
    .execute()
  const forget = async ({ id, account_id, deleted_at }: (typeof endpoints)[number]) => {
    const { plan } = await readBilling(store.read, plans, account_id)
    const until = deleted_at === null ? now - plan.retentionDays * dayMs : now + 1
    for (let more = true; more && !signal.aborted; await rest?.()) {
      const deleted = await forgetSome(store, id, until)
      gone += deleted
      more = deleted === rowsAtOnce
    }
    if (deleted_at === null || signal.aborted) return
    // The courier has set aside what waited for it; the next round takes late jobs.
    await store.write((tx) =>
      tx
        .deleteFrom('webhook_endpoints')
        .where('id', '=', id)
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('webhook_jobs').select('id').where('endpoint_id', '=', id))),
        )
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('webhook_deliveries').select('id').where('endpoint_id', '=', id))),
        )
        .execute(),
    )
  }
  await eachApart(endpoints, forget, ({ id }, error) =>
    log.error({ error, endpoint: id }, 'Old deliveries of a webhook cannot be deleted'),
  )
  return gone
}

/** The oldest rows of an endpoint, as far as they ended before `until`; how many. */
async function forgetSome(store: Store, endpointId: string, until: number): Promise<number> {
  const rows = await store.read
    .selectFrom('webhook_deliveries')
    .select(['id', 'ended_at'])
    .where('endpoint_id', '=', endpointId)
    .orderBy('id')
    .limit(rowsAtOnce)
    .execute()
  const old = rows.filter(({ ended_at }) => ended_at < until).map(({ id }) => id)
  if (old.length === 0) return 0
  await store.write(async (tx) => {
    const gone = await tx
      .deleteFrom('webhook_deliveries')
      .where('id', 'in', idsIn(old, 'integer'))
      .returning(['outcome', 'body'])
      .execute()
    await countAside(tx, endpointId, -asideBytes(gone))
  })
  return old.length
}
