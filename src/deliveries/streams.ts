import { type RawBuilder, sql } from 'kysely'
import type { Read } from '../store/index.js'
import type { StreamKey } from './due-rows.js'
import { never } from './hold.js'

export interface StreamDue extends StreamKey {
  dueAt: number
}

const beforeAll: StreamKey = { lane: '', class: 0, accountId: '' }

/**
 * The next `limit` streams of an appliance after `after` in their order, each with when it falls due: a few index steps
 * a stream, however many rows each has. Streams with only held rows never fall due.
 */
export async function streamsAfter(
  db: Read,
  node: number,
  after: StreamKey = beforeAll,
  limit: number,
): Promise<StreamDue[]> {
  const { rows } = await sql<StreamDue>`
    with recursive streams(lane, class, account, n) as (
      select lane, class, account_id, 1 from queue
      where id = ${firstBehind(node, sql`${after.lane}`, sql`${after.class}`, sql`${after.accountId}`)}
      union all
      select q.lane, q.class, q.account_id, n + 1 from streams, queue as q
      where n < ${limit}
        and q.id = ${firstBehind(node, sql`streams.lane`, sql`streams.class`, sql`streams.account`)})
    select lane, class, account as "accountId", (
      select min(due_at) from queue
      where queue.node = ${node} and queue.lane = streams.lane and queue.class = streams.class
        and queue.account_id = streams.account) as "dueAt"
    from streams`.execute(db)
  return rows.map((row) => ({ ...row, dueAt: Math.min(row.dueAt, never) }))
}

/**
 * The first row of the stream behind one. For `(lane, class, account_id) > (…)` SQLite would search by the lane alone,
 * and go through all that wait in it.
 */
const firstBehind = (node: number, lane: Value, of: Value, account: Value) => sql`coalesce(
  (select id from queue where node = ${node} and lane = ${lane} and class = ${of}
    and account_id > ${account} order by account_id limit 1),
  (select id from queue where node = ${node} and lane = ${lane} and class > ${of}
    order by class, account_id limit 1),
  (select id from queue where node = ${node} and lane > ${lane}
    order by lane, class, account_id limit 1))`

type Value = RawBuilder<unknown>
