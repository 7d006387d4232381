import type { Log } from '../running.js'
import type { Queries } from './driver.js'

const sequences: Record<Log, string> = {
  events: 'events_id_seq',
  consent: 'consent_id_seq',
  emails: 'emails_number_seq',
  webhook_jobs: 'webhook_jobs_id_seq',
}

const lastNumbers = `select ${Object.entries(sequences)
  .map(
    ([log, sequence]) =>
      `(select case when is_called then last_value else 0 end from ${sequence}) as ${log}`,
  )
  .join(', ')}`

const underWay =
  'select pg_snapshot_xmin(now)::text::bigint as oldest, pg_snapshot_xmax(now)::text::bigint as next from pg_current_snapshot() as now'

/**
 * How far the logs are whole. A sequence gives its numbers before the commit, so that 9 may come to light after 10. What
 * is certain: a number that was given before a moment is of a transaction that had begun by then, as the writer has the
 * server number its transactions at their begin. When all of those have ended, the log is whole up to the last number
 * of that moment, however long a commit waits for a standby.
 */
export function watchLogs(queries: Queries): () => Promise<Record<Log, number>> {
  let whole: Record<Log, number> = { events: 0, consent: 0, emails: 0, webhook_jobs: 0 }
  let asked: { last: Record<Log, number>; next: number } | undefined
  return async () => {
    // In this order: what is given between the two is not in `last`.
    const last = await queries.query<Record<Log, number>>(lastNumbers)
    const snapshot = await queries.query<{ oldest: number; next: number }>(underWay)
    const [now, { oldest, next }] = [last.rows[0], snapshot.rows[0] ?? { oldest: 0, next: 1 }]
    if (now === undefined) return whole
    if (oldest === next) whole = now
    else if (asked !== undefined && asked.next <= oldest) whole = asked.last
    else if (asked !== undefined) return whole
    asked = { last: now, next }
    return whole
  }
}
