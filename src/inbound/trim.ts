import { sql } from 'kysely'
import type { Clock } from '../clock/index.js'
import { forgetReported } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import { firstSerialAt, type Store } from '../store/index.js'

const everyMs = 60_000
// The total size of kept mails, so that no flood fills the disk.
const maxBytes = 512 * 1024 * 1024
// Mails a transaction: each may have 20 MiB.
const batch = 20

// Notes on reports a transaction, of a few bytes each.
const reportedBatch = 500

/**
 * Regularly deletes the operator's oldest mails (beyond the `keep` newest, or half a gibibyte), and
 * the notes on reports about deliveries older than `tokenLifeMs`, as no other report will come.
 */
export function startTrimming(
  deps: { store: Store; clock: Clock; log: Log },
  { keep, tokenLifeMs }: { keep: number; tokenLifeMs: number },
) {
  const { store, clock, log } = deps
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  let cancel = () => {}
  const plan = () => {
    cancel = clock.after(everyMs, () => {
      running = trimReported(store, clock.now() - tokenLifeMs, () => stopped)
        .then(() => trim(store, keep, () => stopped))
        .catch((error: unknown) => log.error({ error }, 'Old mail could not be deleted'))
        .then(() => {
          if (!stopped) plan()
        })
    })
  }
  plan()
  return {
    async stop() {
      stopped = true
      cancel()
      await running
    },
  }
}

/** Deletes the operator's mails beyond their number and their bytes. */
async function trim(store: Store, keep: number, isStopped: () => boolean): Promise<void> {
  const newest = await store.read
    .selectFrom((query) =>
      query
        .selectFrom('operator_mails')
        .select('id')
        .select(sql<number>`row_number() over (order by id desc)`.as('place'))
        .select(sql<number>`sum(size_bytes) over (order by id desc)`.as('bytes'))
        .as('mails'),
    )
    .select('id')
    .where(({ or, eb }) => or([eb('place', '>', keep), eb('bytes', '>', maxBytes)]))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (newest === undefined) return
  for (let deleted = batch; deleted === batch && !isStopped(); ) {
    const result = await store.write((tx) =>
      tx
        .deleteFrom('operator_mails')
        .where('id', 'in', (query) =>
          query
            .selectFrom('operator_mails')
            .select('id')
            .where('id', '<=', newest.id)
            .orderBy('id')
            .limit(batch),
        )
        .executeTakeFirstOrThrow(),
    )
    deleted = Number(result.numDeletedRows)
  }
}

/** Deletes the notes on reports about deliveries from before `until`. */
async function trimReported(store: Store, until: number, isStopped: () => boolean): Promise<void> {
  for (let deleted = reportedBatch; deleted === reportedBatch && !isStopped(); ) {
    deleted = await store.write((tx) => forgetReported(tx, firstSerialAt(until), reportedBatch))
  }
}
