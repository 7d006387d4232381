import type pg from 'pg'
import type { NumberedLog } from '../running.js'

/** What queries run on: a separate connection, or one of several. */
export type Queries = Pick<pg.Client, 'query'>

const sequences: Record<NumberedLog, string> = {
  events: 'events_id_seq',
  consent: 'consent_id_seq',
  emails: 'emails_number_seq',
  webhook_jobs: 'webhook_jobs_id_seq',
  segment_changes: 'segment_changes_id_seq',
}

const lastNumbers = `select ${Object.entries(sequences)
  .map(
    ([log, sequence]) =>
      `(select case when is_called then last_value else 0 end from ${sequence}) as ${log}`,
  )
  .join(', ')}`

// Only sessions of this role; those of another role would be hidden. `pg_snapshot_xmin` is not enough: a transaction
// that began after the last one that ended is in no snapshot.
const numbersUnderWay =
  'select backend_xid::text as number from pg_stat_activity where backend_xid is not null and datname = current_database()'

/**
 * How far the logs are whole. A sequence gives its numbers before the commit, so 9 may become visible after 10. But a
 * number that was given before a moment belongs to a transaction that had begun by then, because the writer has the
 * server number its transactions when they begin. When all of those have ended, the log is complete up to the last
 * number of that moment, however long a commit waits for a standby.
 */
export function watchLogs(
  queries: Queries,
): () => Promise<Record<'whole' | 'last', Record<NumberedLog, number>>> {
  let whole: Record<NumberedLog, number> = {
    events: 0,
    consent: 0,
    emails: 0,
    webhook_jobs: 0,
    segment_changes: 0,
  }
  let asked: { last: Record<NumberedLog, number>; underWay: readonly string[] } | undefined
  return async () => {
    // In this order: a number that is given between the two queries is not in `last`.
    const last = (await queries.query<Record<NumberedLog, number>>(lastNumbers)).rows[0]
    const { rows } = await queries.query<{ number: string }>(numbersUnderWay)
    if (last === undefined) return { whole, last: whole }
    const underWay = rows.map(({ number }) => number)
    if (underWay.length === 0) whole = last
    else if (asked?.underWay.some((number) => underWay.includes(number))) return { whole, last }
    else whole = asked?.last ?? whole
    asked = { last, underWay }
    return { whole, last }
  }
}
