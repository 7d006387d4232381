import { dayNumber } from '../clock/index.js'
import type { Store } from '../store/index.js'

// Reports are about yesterday; earlier days are kept for people who look into a report.
const keptDays = 8
// How many domains of a day one transaction deletes; other writes wait for it.
const domainsAtOnce = 200
const tables = ['tls_sessions', 'tls_reports', 'tls_report_posts'] as const

/** Deletes what was counted and sent over a week ago, in slices; resolves with how many rows. */
export async function forgetTlsReports(
  { store }: { store: Store },
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<number> {
  const until = dayNumber(now) - keptDays
  let gone = 0
  for (const table of tables) {
    while (!signal.aborted) {
      const rows = await store.read
        .selectFrom(table as 'tls_reports')
        .select(['day', 'domain'])
        .distinct()
        .where('day', '<', until)
        .orderBy('day')
        .limit(domainsAtOnce)
        .execute()
      const [first] = rows
      if (first === undefined) break
      const domains = rows.filter(({ day }) => day === first.day).map(({ domain }) => domain)
      const { numDeletedRows } = await store.write((tx) =>
        tx
          .deleteFrom(table as 'tls_reports')
          .where('day', '=', first.day)
          .where('domain', 'in', domains)
          .executeTakeFirstOrThrow(),
      )
      gone += Number(numDeletedRows)
    }
  }
  return gone
}
