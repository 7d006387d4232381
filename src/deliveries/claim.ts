import { sql } from 'kysely'
import { idsIn, type Read, type Tx } from '../store/index.js'

/*
 * The queue's hot SQL. A lease moves `due_at` to its own end, so what is in flight leaves the range
 * that the next claim reads: each claim costs its own rows, whatever else waits.
 *
 *   waiting (lease null, due_at = when) ──claim──▶ leased (lease = thread, due_at = lease end)
 *      ▲──────────────── settle: deferred ─────────────┤
 *      ▲──────────────── releaseLeases (restart) ──────┤
 *                                                      └── settle: ended ──▶ `deliveries`
 */
export interface Claimed {
  id: number
  emailId: string
  accountId: string
  recipient: string
  lane: string
  class: number
  attempts: number
  expiresAt: number
  lastReply: string | null
}

/**
 * Takes up to `limit` due deliveries of a lane, transactional before automation before campaign,
 * the longest due first, and leases them to `thread` until `leaseUntil`.
 */
export async function claim(
  tx: Tx,
  options: { lane: string; limit: number; now: number; thread: number; leaseUntil: number },
): Promise<Claimed[]> {
  const { lane, limit, now } = options
  // A subquery a class: a range over all of them would walk the classes' later rows.
  const due = (queueClass: number) => sql`select * from (
    select id, email_id, account_id, recipient, lane, class, attempts, expires_at, last_reply
    from queue where lane = ${lane} and class = ${sql.lit(queueClass)} and due_at <= ${now}
    order by due_at limit ${limit}) as c${sql.lit(queueClass)}`
  const { rows } = await sql<{
    id: number
    email_id: string
    account_id: string
    recipient: string
    lane: string
    class: number
    attempts: number
    expires_at: number
    last_reply: string | null
  }>`${due(0)} union all ${due(1)} union all ${due(2)} limit ${limit}`.execute(tx)
  if (rows.length === 0) return []
  await tx
    .updateTable('queue')
    .set({ lease: options.thread, due_at: options.leaseUntil })
    .where('id', 'in', idsIn(rows.map((row) => row.id)))
    .execute()
  await tx
    .updateTable('emails')
    .set({ status: 'sending' })
    .where('id', 'in', idsIn([...new Set(rows.map((row) => row.email_id))]))
    .where('status', 'in', ['queued', 'scheduled'])
    .execute()
  return rows.map((row) => ({
    id: row.id,
    emailId: row.email_id,
    accountId: row.account_id,
    recipient: row.recipient,
    lane: row.lane,
    class: row.class,
    attempts: row.attempts,
    expiresAt: row.expires_at,
    lastReply: row.last_reply,
  }))
}

/** When the lane's next delivery falls due, whichever its class; undefined when none waits. */
export async function nextDue(db: Read | Tx, lane: string): Promise<number | undefined> {
  const first = (queueClass: number) =>
    sql`select min(due_at) as due from queue where lane = ${lane} and class = ${sql.lit(queueClass)}`
  const { rows } = await sql<{ due: number | null }>`select min(due) as due from (
    ${first(0)} union all ${first(1)} union all ${first(2)}) as d`.execute(db)
  return rows[0]?.due ?? undefined
}

export interface LaneDue {
  lane: string
  dueAt: number
}

/**
 * The next `limit` lanes after `after` in their order, each with when it falls due: one index step a
 * lane, however many rows each has.
 */
export async function lanesAfter(db: Read, after: string, limit: number): Promise<LaneDue[]> {
  const { rows } = await sql<{ lane: string; due: number }>`
    with recursive lanes(lane, n) as (
      select (select min(lane) from queue where lane > ${after}), 1
      union all
      select (select min(lane) from queue where queue.lane > lanes.lane), n + 1
      from lanes where lanes.lane is not null and n < ${limit})
    select lane, (select min(due) from (
      select min(due_at) as due from queue where queue.lane = lanes.lane and class = 0 union all
      select min(due_at) from queue where queue.lane = lanes.lane and class = 1 union all
      select min(due_at) from queue where queue.lane = lanes.lane and class = 2) as d) as due
    from lanes where lane is not null`.execute(db)
  return rows.map((row) => ({ lane: row.lane, dueAt: row.due }))
}

/**
 * Makes due at once what `thread` held when it died; a restart calls it before anything else.
 * Their remote servers may have taken the mail already: these are the only possible duplicates.
 */
export async function releaseLeases(tx: Tx, thread: number, now: number): Promise<void> {
  await tx
    .updateTable('queue')
    .set({ lease: null, due_at: now })
    .where('lease', '=', thread)
    .execute()
}
