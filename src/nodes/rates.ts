import type { SharedCounts } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import { cell, rowsOf, type Store } from '../store/index.js'

// How many keys are told and received at once: others take their turn, and a key that is not received is not limited by
// other nodes' counts.
const mostTold = 2_000
const mostHeard = 20_000
const sweepEveryMs = 60_000
const busyMs = 5 * sweepEveryMs
const soonMs = 900_000

/** Tells other nodes this node's counts, and receives theirs. */
export interface RateExchange {
  /** Resolves with whether there was anything to tell or to receive. */
  run(): Promise<boolean>
}

/** Uses rows of `rates`, with one upsert and one read at a time. */
export function makeRateExchange(
  { store, clock }: { store: Pick<Store, 'read' | 'byRow' | 'node'>; clock: Clock },
  counts: SharedCounts,
): RateExchange {
  let sweptAt = clock.now()
  // If nobody has told anything for long, no row can be out of date.
  let busyAt = Number.NEGATIVE_INFINITY
  return {
    async run() {
      const now = clock.now()
      const own = store.node.number
      const untold = counts.untold(now, mostTold)
      if (untold.length > 0) {
        const json = JSON.stringify(
          untold.map(({ key, endsAt, count }) => [key, endsAt, own, count]),
        )
        await store.byRow((tx) =>
          tx
            .insertInto('rates')
            .columns(['key', 'ends_at', 'node', 'count'])
            .expression((eb) =>
              eb
                .selectFrom(rowsOf(json))
                .select([
                  cell(0, 'text').as('key'),
                  cell(1, 'integer').as('ends_at'),
                  cell(2, 'integer').as('node'),
                  cell(3, 'integer').as('count'),
                ])
                // SQLite would parse `on conflict` as the condition of a join.
                .where((w) => w.lit(true)),
            )
            .onConflict((conflict) =>
              conflict
                .columns(['key', 'ends_at', 'node'])
                .doUpdateSet((eb) => ({ count: eb.ref('excluded.count') })),
            )
            .execute(),
        )
        counts.told(untold)
        busyAt = now
      }
      const rows = await store.read
        .selectFrom('rates')
        .select(['key', 'ends_at as endsAt', 'count'])
        .where('ends_at', '>', now)
        .where('node', '!=', own)
        .limit(mostHeard)
        .execute()
      counts.learn(rows)
      if (rows.length > 0) busyAt = now
      const isOver = now - sweptAt >= sweepEveryMs || now < sweptAt
      if (isOver && now - busyAt <= busyMs) {
        sweptAt = now
        await store.byRow((tx) =>
          tx
            .deleteFrom('rates')
            .where('ends_at', '<', now - sweepEveryMs)
            .execute(),
        )
      }
      // Counts over hours may be a second late.
      return untold.length > 0 || rows.some(({ endsAt }) => endsAt - now <= soonMs)
    },
  }
}
