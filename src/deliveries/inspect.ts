import { stoppedBy } from '../billing/index.js'
import {
  acceptedAt,
  type HeldBy,
  type LastCause,
  ofAnyNode,
  type QueueClass,
  queueClass,
  type Read,
  unindexed,
} from '../store/index.js'
import { isInFlight } from './lease.js'
import { fitting, type QueueFilter } from './select.js'

export type ClassName = keyof typeof queueClass
export const classNames = Object.keys(queueClass) as ClassName[]
export const classNameOf = (number: QueueClass) =>
  classNames.find((name) => queueClass[name] === number) ?? 'transactional'

/** A delivery that waits, as an operator sees it. Times in milliseconds. */
export interface WaitingDelivery {
  id: number
  emailId: string
  accountId: string
  recipient: string
  lane: string
  class: ClassName
  /** The number of the node that sends it. */
  node: number
  /** The campaign to which it belongs. */
  broadcastId: string | null
  acceptedAt: number
  /** When the mail was scheduled to leave. */
  scheduledAt: number | null
  attempts: number
  /** When it next falls due; while an attempt is under way, when its lease runs out. */
  dueAt: number
  lease: number | null
  expiresAt: number
  lastAttemptAt: number | null
  lastReply: string | null
  lastCause: LastCause | null
  lastTranscript: string | null
  held: { since: number; reason: string; by: HeldBy | null; dueAt: number } | null
}

/** A delivery that has ended. */
export interface EndedDelivery {
  id: number
  emailId: string
  recipient: string
  broadcastId: string | null
  acceptedAt: number
  status: 'delivered' | 'relayed' | 'bounced' | 'failed' | 'cancelled' | 'suppressed'
  attempts: number
  reply: string | null
  remote: string | null
  tls: string | null
  transcript: string | null
  endedAt: number
}

/** The oldest `limit` waiting deliveries that fit, without their transcripts. */
export async function listWaiting(
  read: Read,
  filter: QueueFilter,
  limit: number,
): Promise<WaitingDelivery[]> {
  const rows = await fitting(waitingQuery(read), filter).orderBy('queue.id').limit(limit).execute()
  return rows.map((row) => toWaiting({ ...row, last_transcript: null }))
}

/** What is known of a delivery (by its number) or of all of an email's (by its id). */
export async function findDeliveries(
  read: Read,
  which: { id: number } | { emailId: string },
): Promise<{ waiting: WaitingDelivery[]; ended: EndedDelivery[] }> {
  const waiting = await fitting(
    waitingQuery(read).select('queue.last_transcript'),
    'id' in which ? { ids: [which.id] } : which,
  )
    .orderBy('queue.id')
    .execute()
  const ended = await read
    .selectFrom('deliveries')
    .leftJoin('emails', 'emails.id', 'deliveries.email_id')
    .selectAll('deliveries')
    .select('emails.broadcast_id')
    .$if('id' in which, (q) => q.where('deliveries.id', '=', 'id' in which ? which.id : 0))
    .$if('emailId' in which, (q) =>
      q.where('deliveries.email_id', '=', 'emailId' in which ? which.emailId : ''),
    )
    .orderBy('deliveries.id')
    .execute()
  // Looked at first: deliveries that have ended since are among these too.
  const ids = new Set(ended.map(({ id }) => id))
  return {
    waiting: waiting.filter(({ id }) => !ids.has(id)).map(toWaiting),
    ended: ended.map(({ email_id, broadcast_id, ended_at, ...row }) => ({
      ...row,
      emailId: email_id,
      broadcastId: broadcast_id,
      acceptedAt: acceptedAt(row.id),
      endedAt: ended_at,
    })),
  }
}

/** What stands around a waiting delivery and may be why it waits. */
export interface DeliverySurroundings {
  /** Why its account may not send at this time. */
  accountStop: string | undefined
  /** Attempts under way to its domain. */
  laneInFlight: number
  /** Deliveries of its lane, class and account that are due before it, counted up to `mostAhead`. */
  ahead: number
}

export const mostAhead = 10_000

/**
 * What a waiting delivery waits behind: how many deliveries of its lane are under way, and how many of its lane, class
 * and account are due before it, counted up to `mostAhead`.
 */
export async function surroundingsOf(
  read: Read,
  delivery: WaitingDelivery,
  now: number,
): Promise<DeliverySurroundings> {
  const { inFlight } = await read
    .selectFrom('queue')
    .select((eb) => eb.fn.countAll<number>().as('inFlight'))
    // By the few that are leased: the lane may have a million rows.
    .where(unindexed('lane'), '=', delivery.lane)
    .where('lease', 'is not', null)
    .where(isInFlight(now))
    .executeTakeFirstOrThrow()
  const before = read
    .selectFrom('queue')
    .select('id')
    .where(ofAnyNode)
    .where('lane', '=', delivery.lane)
    .where('class', '=', queueClass[delivery.class])
    .where('account_id', '=', delivery.accountId)
    .where('due_at', '<', delivery.dueAt)
    .limit(mostAhead)
    .as('before')
  const { ahead } = await read
    .selectFrom(before)
    .select((eb) => eb.fn.countAll<number>().as('ahead'))
    .executeTakeFirstOrThrow()
  const type = delivery.class === 'transactional' ? 'transactional' : 'marketing'
  const accountStop = await stoppedBy(read, delivery.accountId, type)
  return { accountStop, laneInFlight: inFlight, ahead }
}

const waitingQuery = (read: Read) =>
  read
    .selectFrom('queue')
    .leftJoin('emails', 'emails.id', 'queue.email_id')
    .select([
      'queue.id',
      'queue.email_id',
      'queue.account_id',
      'queue.recipient',
      'queue.lane',
      'queue.class',
      'queue.node',
      'emails.scheduled_at',
      'emails.broadcast_id',
      'queue.attempts',
      'queue.due_at',
      'queue.lease',
      'queue.expires_at',
      'queue.last_attempt_at',
      'queue.last_reply',
      'queue.last_cause',
      'queue.held_at',
      'queue.held_reason',
      'queue.held_by',
      'queue.held_due_at',
    ])

type WaitingRow = Awaited<ReturnType<ReturnType<typeof waitingQuery>['execute']>>[number]

function toWaiting(row: WaitingRow & { last_transcript: string | null }): WaitingDelivery {
  return {
    id: row.id,
    emailId: row.email_id,
    accountId: row.account_id,
    recipient: row.recipient,
    lane: row.lane,
    class: classNameOf(row.class),
    node: row.node,
    broadcastId: row.broadcast_id,
    acceptedAt: acceptedAt(row.id),
    scheduledAt: row.scheduled_at,
    attempts: row.attempts,
    dueAt: row.due_at,
    lease: row.lease,
    expiresAt: row.expires_at,
    lastAttemptAt: row.last_attempt_at,
    lastReply: row.last_reply,
    lastCause: row.last_cause,
    lastTranscript: row.last_transcript,
    held:
      row.held_at === null
        ? null
        : {
            since: row.held_at,
            reason: row.held_reason ?? '',
            by: row.held_by,
            dueAt: row.held_due_at ?? row.due_at,
          },
  }
}
