import { sql } from 'kysely'
import { stoppedBy } from '../billing/index.js'
import {
  cell,
  isRemote,
  type LastCause,
  prepared,
  type QueueClass,
  queueClass,
  type Read,
  rowsOf,
} from '../store/index.js'
import { never } from './hold.js'
import { leaseMs } from './lease.js'

/** A row of the queue, as the attempt needs it. */
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
  /** JSON of the addresses that are tried last, as they have put the mail off. */
  putOffBy: string | null
  /** The source address from which it was put off; it leaves from there again while that may send. */
  source: string | null
}

/** What waits for one destination in one class from one account: streams take turns with each other. */
export interface StreamKey {
  lane: string
  class: QueueClass
  accountId: string
}

/** How many deliveries of a stream, and from where it is searched (`ClaimFrom`). */
export interface WantedRows extends StreamKey {
  limit: number
  from?: number | undefined
}

/** What is due of a stream. */
export interface Claim {
  taken: Claimed[]
  /** Set when it took all that was due: when the stream's next delivery falls due, if there is one. */
  exhausted?: { nextDueAt: number | undefined }
}

// An operator who lets an account send again need not tell anybody: its mail is looked at this often.
const stoppedMs = 30_000

// So few rows of a stream cost less in one statement for all such streams; more rows cost less in a statement of the
// stream's own, unless the database is on a server, to which each statement is a round trip.
const mostTogether = 4

/** Up to `limit` due deliveries of each stream, the longest due first; none for a stopped account. */
export async function findDue(
  read: Read,
  wants: readonly WantedRows[],
  at: { now: number; node: number },
): Promise<Claim[]> {
  const stops = new Map<string, boolean>()
  for (const stream of wants) {
    const key = `${stream.class} ${stream.accountId}`
    if (!stops.has(key)) stops.set(key, (await stopOf(read, stream)) !== undefined)
  }
  const claims: Claim[] = []
  const open: [number, WantedRows][] = []
  for (const [place, want] of wants.entries()) {
    const isStopped = stops.get(`${want.class} ${want.accountId}`) === true
    claims.push({ taken: [], ...(isStopped && { exhausted: { nextDueAt: at.now + stoppedMs } }) })
    if (!isStopped) open.push([place, want])
  }
  await lookAt(read, open, claims, at)
  // Too few are behind that place, and whatever stands before it is due as well.
  const short = open.filter(([place, { from }]) => from !== undefined && claims[place]?.exhausted)
  await lookAt(
    read,
    short.map(([place, { from, ...want }]) => [place, want]),
    claims,
    at,
  )
  return claims
}

/** Puts what it finds into `claims`, each claim at its place. */
async function lookAt(
  read: Read,
  wants: readonly [number, WantedRows][],
  claims: Claim[],
  { now, node }: { now: number; node: number },
): Promise<void> {
  const isAllTogether = wants.length > 1 && isRemote(read)
  const small = wants.filter(([, { limit }]) => isAllTogether || limit <= mostTogether)
  for (const [place, { limit, from = 0, ...stream }] of wants) {
    if (isAllTogether || limit <= mostTogether) continue
    claims[place] = takenOf(await firstOf(read, { limit, from, node, ...stream }), { limit, now })
  }
  if (small.length === 0) return
  const asked = small.map(([place, { lane, class: of, accountId, limit, from = 0 }]) => {
    const row: AskedRow = [place, lane, of, accountId, limit, from]
    return row
  })
  const rows = await firstOfEach(read, { wants: JSON.stringify(asked), now, node })
  const found = new Map(small.map(([place]) => [place, [] as Claimed[]]))
  for (const { place, ...row } of rows) found.get(place)?.push(row)
  for (const [place, { limit }] of small) {
    claims[place] = takenOf(found.get(place) ?? [], { limit, now })
  }
}

/** The due ones of a stream's first rows; where they are too few, the row behind them tells when the next is due. */
function takenOf(rows: readonly Claimed[], { limit, now }: { limit: number; now: number }): Claim {
  const taken = rows.filter(({ dueAt }) => dueAt <= now)
  if (taken.length >= limit) return { taken }
  const next = rows[taken.length]?.dueAt ?? never
  // Rows that are taken now fall due again when their lease ends.
  const dueAt = taken.length > 0 ? Math.min(next, now + leaseMs) : next
  return { taken, exhausted: { nextDueAt: dueAt < never ? dueAt : undefined } }
}

/** Place, lane, class, account, limit, and the time from which to search. */
type AskedRow = [number, string, QueueClass, string, number, number]

/**
 * The first rows of some streams in the order in which they fall due, down to the first that is not due: one search a
 * row. `wants`: JSON of `AskedRow`s.
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
              and due_at >= ${cell(5, 'integer')}
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

const firstOf = prepared<StreamKey & { limit: number; from: number; node: number }, Claimed>(
  (db, values) =>
    db
      .selectFrom('queue')
      .select(['id', 'email_id as emailId', 'account_id as accountId', 'recipient', 'lane'])
      .select(['class', 'attempts', 'due_at as dueAt', 'expires_at as expiresAt'])
      .select(['last_reply as lastReply', 'last_cause as lastCause', 'put_off_by as putOffBy'])
      .select('source')
      .where('node', '=', values.node)
      .where('lane', '=', values.lane)
      .where('class', '=', values.class)
      .where('account_id', '=', values.accountId)
      .where('due_at', '>=', values.from)
      .orderBy('due_at')
      .limit(values.limit),
)

/** Why mail of the stream may not leave, in words; undefined when it may. */
export async function stopOf(read: Read, stream: Pick<StreamKey, 'class' | 'accountId'>) {
  const type = stream.class === queueClass.transactional ? 'transactional' : 'marketing'
  return await stoppedBy(read, stream.accountId, type)
}

/** The delivery that a claim of the stream would take first. */
export async function firstDue(
  db: Read,
  { now, ...stream }: StreamKey & { now: number; node: number },
): Promise<Claimed[]> {
  const rows = await firstOf(db, { ...stream, limit: 1, from: 0 })
  return rows.filter(({ dueAt }) => dueAt <= now)
}

/** When the stream's next delivery falls due; undefined when all that wait are held back. */
export async function nextDue(
  db: Read,
  stream: StreamKey & { node: number },
): Promise<number | undefined> {
  const [first] = await firstOf(db, { ...stream, limit: 1, from: 0 })
  const dueAt = first?.dueAt ?? never
  return dueAt < never ? dueAt : undefined
}
