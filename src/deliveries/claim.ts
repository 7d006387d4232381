import { sql, type UpdateResult } from 'kysely'
import { stoppedBy } from '../billing/index.js'
import {
  cell,
  idsOf,
  isRemote,
  type LastCause,
  prepared,
  type QueueClass,
  queueClass,
  type Read,
  rowsOf,
  type Tx,
  unindexed,
} from '../store/index.js'
import { never } from './hold.js'
import { firstLeaseOf, leaseMs, leaseOf } from './lease.js'

/*
 * The queue's hot SQL. A lease moves `due_at` to its own end, so what is in flight leaves the range
 * that the next claim reads: each claim costs its own rows, whatever else waits.
 *
 *   waiting (lease null, due_at = when) ──claim──▶ leased (lease = `leaseOf`, due_at = lease end)
 *      ▲──────────────── settle: deferred ─────────────┤
 *      ▲──────────────── releaseLeases (restart) ──────┤
 *      ▲──────────────── unclaim: not tried ───────────┤
 *                                                      └── settle: ended ──▶ `deliveries`
 */
export interface Claimed {
  id: number
  emailId: string
  accountId: string
  recipient: string
  lane: string
  class: QueueClass
  attempts: number
  /** When it was due, before it was claimed. */
  dueAt: number
  expiresAt: number
  lastReply: string | null
  lastCause: LastCause | null
  /** JSON of the addresses that come last, as those before put the mail off. */
  putOffBy: string | null
  /** The source address that it was put off from, and leaves from again while that may send. */
  source: string | null
}

/** What waits for one destination in one class from one account: who takes turns with others. */
export interface StreamKey {
  lane: string
  class: QueueClass
  accountId: string
}

export interface Claim {
  taken: Claimed[]
  /** Set when it took all that was due: when the stream's next delivery falls due, if there is any. */
  exhausted?: { nextDueAt: number | undefined }
}

// An operator who lets an account send again need not tell anybody: its mail is looked at this often.
const stoppedMs = 30_000

/** Who claims: the appliance's number, and `leaseOf` its thread. */
export interface Claimant {
  node: number
  lease: number
}

/**
 * Takes up to `limit` due deliveries of each stream, the longest due first, and leases them to
 * the claimant. Mail of an account that was stopped waits. By row: what another one takes meanwhile is not taken.
 */
export async function claim(
  tx: Tx,
  wants: readonly (StreamKey & { limit: number })[],
  { now, ...claimant }: Claimant & { now: number },
): Promise<Claim[]> {
  const { node } = claimant
  const stops = new Map<string, { why: string | undefined }>()
  const claims: Claim[] = []
  const small: [number, string, QueueClass, string, number][] = []
  const isAllTogether = wants.length > 1 && isRemote(tx)
  for (const [place, { limit, ...stream }] of wants.entries()) {
    const { lane, class: of, accountId } = stream
    const key = `${of} ${accountId}`
    const stop = stops.get(key) ?? { why: await stopOf(tx, stream) }
    stops.set(key, stop)
    const isStopped = stop.why !== undefined
    claims.push({ taken: [], ...(isStopped && { exhausted: { nextDueAt: now + stoppedMs } }) })
    if (isStopped) continue
    if (isAllTogether || limit <= mostTogether) small.push([place, lane, of, accountId, limit])
    else claims[place] = takenOf(await firstOf(tx, { limit, node, ...stream }), { limit, now })
  }
  const together =
    small.length === 0 ? [] : await firstOfEach(tx, { wants: JSON.stringify(small), now, node })
  const found = new Map(small.map(([place]) => [place, [] as Claimed[]]))
  for (const { place, ...row } of together) found.get(place)?.push(row)
  for (const [place, , , , limit] of small) {
    claims[place] = takenOf(found.get(place) ?? [], { limit, now })
  }
  const taken = claims.flatMap((one) => one.taken)
  if (taken.length === 0) return claims
  const leased = await leaseTo(tx, taken, { now, ...claimant })
  if (leased.size === taken.length) return claims
  return claims.map((one) => ({ ...one, taken: one.taken.filter(({ id }) => leased.has(id)) }))
}

// So few rows of a stream cost less in one statement for all such streams, more in one of the stream's own; but for the
// way to a server.
const mostTogether = 4

/** Those of a stream's first rows that are due; where they are too few, the row behind tells when the next is. */
function takenOf(rows: readonly Claimed[], { limit, now }: { limit: number; now: number }): Claim {
  const taken = rows.filter(({ dueAt }) => dueAt <= now)
  if (taken.length >= limit) return { taken }
  const next = rows[taken.length]?.dueAt ?? never
  // What is taken now falls due again when its lease ends.
  const dueAt = taken.length > 0 ? Math.min(next, now + leaseMs) : next
  return { taken, exhausted: { nextDueAt: dueAt < never ? dueAt : undefined } }
}

/**
 * The first rows of some streams in the order in which they fall due, down to the first that is not due: a search
 * a row. `wants`: a JSON array of place, lane, class, account and limit.
 */
const firstOfEach = prepared<
  { wants: string; now: number; node: number },
  Claimed & { place: number }
>((db, { wants, now, node }) => ({
  compile: () =>
    sql<Claimed & { place: number }>`
        with recursive first(place, lane, class, account, most, n, id) as (
          select ${cell(0, 'integer')}, ${cell(1, 'text')}, ${cell(2, 'integer')}, ${cell(3, 'text')},
            ${cell(4, 'integer')}, 1, (
            select id from queue where node = ${node} and lane = ${cell(1, 'text')}
              and class = ${cell(2, 'integer')} and account_id = ${cell(3, 'text')}
            order by due_at, id limit 1)
          from ${rowsOf(wants)}
          union all
          select place, first.lane, first.class, account, most, n + 1, (
            select id from queue where node = ${node} and lane = first.lane and class = first.class
              and account_id = first.account and (due_at, id) > (before.due_at, before.id)
            order by due_at, id limit 1)
          from first inner join queue as before on before.id = first.id
          where n < most and before.due_at <= ${now})
        select place, queue.id, email_id as "emailId", account_id as "accountId", recipient,
          queue.lane, queue.class, attempts, due_at as "dueAt", expires_at as "expiresAt",
          last_reply as "lastReply", last_cause as "lastCause", put_off_by as "putOffBy", queue.source
        from first inner join queue on queue.id = first.id order by place, n`.compile(db),
}))

/** Why mail of the stream may not leave, in words; undefined when it may. */
export async function stopOf(read: Read, stream: Pick<StreamKey, 'class' | 'accountId'>) {
  const type = stream.class === queueClass.transactional ? 'transactional' : 'marketing'
  return await stoppedBy(read, stream.accountId, type)
}

/** The ids of those that are leased to the claimant now: not what somebody else has taken since they were looked for. */
async function leaseTo(
  tx: Tx,
  due: readonly Claimed[],
  { now, ...claimant }: Claimant & { now: number },
): Promise<ReadonlySet<number>> {
  const ids = JSON.stringify(due.map(({ id }) => id))
  const rows = await leaseRows(tx, { ids, now, until: now + leaseMs, ...claimant })
  const leased = new Set(rows.map(({ id }) => id))
  if (leased.size !== due.length) await refuseLeftDue(tx, due, { leased, now, node: claimant.node })
  const taken = due.filter(({ id }) => leased.has(id))
  const emailIds = JSON.stringify([...new Set(taken.map(({ emailId }) => emailId))])
  await markSending(tx, { emailIds })
  return leased
}

/** Whatever keeps a row from being leased, its mail would be sent again and again. */
async function refuseLeftDue(
  tx: Tx,
  due: readonly Claimed[],
  { leased, now, node }: { leased: ReadonlySet<number>; now: number; node: number },
): Promise<void> {
  const ids = JSON.stringify(due.flatMap(({ id }) => (leased.has(id) ? [] : [id])))
  const { length } = await dueAmong(tx, { ids, now, node })
  if (length > 0) throw new Error(`${length} of ${due.length} deliveries did not take their lease`)
}

const dueAmong = prepared<{ ids: string; now: number; node: number }, { id: number }>(
  (db, { ids, now, node }) =>
    db
      .selectFrom('queue')
      .select('id')
      .where('id', 'in', idsOf(ids, 'integer'))
      .where(unindexed<number>('node'), '=', node)
      .where('due_at', '<=', now),
)

const leaseRows = prepared<Claimant & { ids: string; now: number; until: number }, { id: number }>(
  (db, { ids, lease, node, now, until }) =>
    db
      .updateTable('queue')
      .set({ lease, due_at: until })
      .where('id', 'in', idsOf(ids, 'integer'))
      .where(unindexed<number>('due_at'), '<=', now)
      // Another appliance may have taken them over meanwhile.
      .where(unindexed<number>('node'), '=', node)
      .returning('id'),
)

const markSending = prepared<{ emailIds: string }, UpdateResult>((db, { emailIds }) =>
  db
    .updateTable('emails')
    .set({ status: 'sending' })
    .where('id', 'in', idsOf(emailIds, 'text'))
    .where('status', 'in', ['queued', 'scheduled']),
)

const firstOf = prepared<StreamKey & { limit: number; node: number }, Claimed>((db, values) =>
  db
    .selectFrom('queue')
    .select(['id', 'email_id as emailId', 'account_id as accountId', 'recipient', 'lane', 'class'])
    .select(['attempts', 'due_at as dueAt', 'expires_at as expiresAt', 'last_reply as lastReply'])
    .select(['last_cause as lastCause', 'put_off_by as putOffBy', 'source'])
    .where('node', '=', values.node)
    .where('lane', '=', values.lane)
    .where('class', '=', values.class)
    .where('account_id', '=', values.accountId)
    .orderBy('due_at')
    .limit(values.limit),
)

/** The delivery that a claim of the stream would take first. */
export async function firstDue(
  db: Read,
  { now, ...stream }: StreamKey & { now: number; node: number },
): Promise<Claimed[]> {
  const rows = await firstOf(db, { limit: 1, ...stream })
  return rows.filter(({ dueAt }) => dueAt <= now)
}

/** Gives back what was claimed under `lease` and not tried, in one statement: it is due again at its `dueAt`. */
export async function unclaim(tx: Tx, claimed: readonly Claimed[], lease: number): Promise<void> {
  const json = JSON.stringify(claimed.map(({ id, dueAt }) => [id, dueAt]))
  await giveBack(tx, { json, lease })
}

const giveBack = prepared<{ json: string; lease: number }, UpdateResult>((db, { json, lease }) =>
  db
    .updateTable('queue')
    .from(rowsOf(json))
    .set({ lease: null, due_at: cell(1, 'integer') })
    .where('queue.id', '=', cell(0, 'integer'))
    .where('lease', '=', lease),
)

/** A claim of which nobody knows whether it was committed: the database was gone before it had answered. */
export interface LostClaim {
  streams: readonly StreamKey[]
  lease: number
  /** When it was made. */
  at: number
}

/**
 * Makes due again what such a claim has leased, as nobody has it in hand; what is still under way is waited for. Each stream
 * is a search by its own end of the leases.
 */
export async function releaseLost(
  tx: Tx,
  { streams, lease, at }: LostClaim,
  { now, node }: { now: number; node: number },
): Promise<number> {
  let released = 0
  for (const { lane, class: of, accountId } of streams) {
    const { numUpdatedRows } = await tx
      .updateTable('queue')
      .set({ lease: null, due_at: now })
      .where('node', '=', node)
      .where('lane', '=', lane)
      .where('class', '=', of)
      .where('account_id', '=', accountId)
      .where('due_at', '=', at + leaseMs)
      .where(unindexed<number>('lease'), '=', lease)
      .executeTakeFirst()
    released += Number(numUpdatedRows)
  }
  return released
}

/** When the stream's next delivery falls due; undefined when none waits but those held back. */
export async function nextDue(
  db: Read,
  stream: StreamKey & { node: number },
): Promise<number | undefined> {
  const [first] = await firstOf(db, { limit: 1, ...stream })
  const dueAt = first?.dueAt ?? never
  return dueAt < never ? dueAt : undefined
}

/**
 * Makes due at once what `thread` held when it died, and what an earlier start of this appliance did; a restart calls it
 * before anything else. Their remote servers may have taken the mail already: these are the only possible duplicates.
 */
export async function releaseLeases(
  tx: Tx,
  { thread, node, now }: { thread: number; node: { number: number; epoch: number }; now: number },
): Promise<void> {
  await tx
    .updateTable('queue')
    .set({ lease: null, due_at: now })
    .where(({ eb, or }) =>
      or([eb('lease', '=', leaseOf(node, thread)), eb('lease', '<', firstLeaseOf(node))]),
    )
    .where(unindexed<number>('node'), '=', node.number)
    .execute()
}
