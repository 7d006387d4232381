import { sql } from 'kysely'
import type { Read } from '../store/index.js'
import type { StreamKey } from './claim.js'
import { never } from './hold.js'

export interface StreamDue extends StreamKey {
  dueAt: number
}

const beforeAll: StreamKey = { lane: '', class: 0, accountId: '' }

/**
 * The next `limit` streams after `after` in their order, each with when it falls due: two index steps
 * a stream, however many rows each has. Those with nothing but held rows fall due never.
 */
export async function streamsAfter(
  db: Read,
  after: StreamKey = beforeAll,
  limit: number,
): Promise<StreamDue[]> {
  const following = (lane: unknown, queueClass: unknown, accountId: unknown) => sql`
    select id from queue where (lane, class, account_id) > (${lane}, ${queueClass}, ${accountId})
    order by lane, class, account_id limit 1`
  const { rows } = await sql<StreamDue>`
    with recursive streams(lane, class, account, n) as (
      select lane, class, account_id, 1 from queue
      where id = (${following(after.lane, after.class, after.accountId)})
      union all
      select q.lane, q.class, q.account_id, n + 1 from streams, queue as q
      where n < ${limit} and q.id = (
        ${following(sql.ref('streams.lane'), sql.ref('streams.class'), sql.ref('streams.account'))}))
    select lane, class, account as "accountId", (
      select min(due_at) from queue
      where queue.lane = streams.lane and queue.class = streams.class
        and queue.account_id = streams.account) as "dueAt"
    from streams`.execute(db)
  return rows.map((row) => ({ ...row, dueAt: Math.min(row.dueAt, never) }))
}
