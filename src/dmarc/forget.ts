import { dayMs } from '../clock/index.js'
import type { Store } from '../store/index.js'
import { keptDays } from './sources.js'

const keptNameDays = 60

/** Deletes what was reported too long ago, a domain's day at a time; resolves with how many rows. */
export async function forgetDmarc(
  { store }: { store: Store },
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<number> {
  const today = Math.floor(now / dayMs)
  let gone = 0
  for (const table of ['dmarc_sources', 'dmarc_reports', 'tls_reports_received'] as const) {
    while (!signal.aborted) {
      const oldest = await store.read
        .selectFrom(table as 'dmarc_reports')
        .select(['domain_id', 'day'])
        .where('day', '<', today - keptDays)
        .orderBy('day')
        .limit(1)
        .executeTakeFirst()
      if (oldest === undefined) break
      const { numDeletedRows } = await store.write((tx) =>
        tx
          .deleteFrom(table as 'dmarc_reports')
          .where('domain_id', '=', oldest.domain_id)
          .where('day', '=', oldest.day)
          .executeTakeFirstOrThrow(),
      )
      gone += Number(numDeletedRows)
    }
  }
  const { numDeletedRows } = await store.write((tx) =>
    tx
      .deleteFrom('dmarc_hosts')
      .where('day', '<', today - keptNameDays)
      .executeTakeFirstOrThrow(),
  )
  return gone + Number(numDeletedRows)
}
