import type { QueueClass } from '../queue-class.js'
import { integer, type RowOf, table, text } from './table.js'

/**
 * Why an attempt is to be made again: the server may have the mail all the same; the DNS says that there is no such
 * domain; a TLS policy is not met, or not known.
 */
export type LastCause = 'in-doubt' | 'no-domain' | 'tls-policy'

/**
 * What holds a delivery: an operator; its campaign is paused; it is overdue, came from a backup, met a fault of ours,
 * or belongs to a surge.
 */
export type HeldBy = 'operator' | 'campaign' | 'overdue' | 'restore' | 'fault' | 'surge'

/**
 * The hot table: a row for each delivery that still waits. It moves to `deliveries` when it ends. While a thread
 * holds it, `lease` is that thread's number beside its appliance's epoch (`leaseOf`), and `due_at` is when the lease
 * runs out, so that no claim ever reads rows that are in flight.
 */
const queue = table(
  'queue',
  {
    id: integer().primaryKey(),
    email_id: text(),
    account_id: text(),
    recipient: text(),
    /** The lane: the recipient's domain as A-label, lower case. */
    lane: text(),
    class: integer<QueueClass>(),
    due_at: integer(),
    lease: integer().orNull(),
    attempts: integer(),
    /** When it is given up (`failed`). */
    expires_at: integer(),
    last_attempt_at: integer().orNull(),
    last_reply: text().orNull(),
    /** What `last_reply` means for the next attempt, where that is more than its words. */
    last_cause: text<LastCause>().orNull(),
    last_transcript: text().orNull(),
    /** JSON of addresses, as `Claimed.putOffBy`. */
    put_off_by: text().orNull(),
    /** The source address from which it was put off; null: it may leave from any. */
    source: text().orNull(),
    /** Since when it is held; `due_at` is `never` meanwhile, and `held_due_at` has the earlier value. */
    held_at: integer().orNull(),
    held_reason: text().orNull(),
    held_by: text<HeldBy>().orNull(),
    held_due_at: integer().orNull(),
    /** The node that sends it: the one that accepted it, unless another has taken it over. */
    node: integer().ofOwnNode(),
  },
  {
    indexes: {
      queue_email: ['email_id'],
      queue_lease: { on: ['lease'], where: (row) => row('lease', 'is not', null) },
      queue_held: { on: ['held_at'], where: (row) => row('held_at', 'is not', null) },
      queue_stream: ['node', 'lane', 'class', 'account_id', 'due_at'],
      queue_expiry: ['expires_at'],
      queue_put_off: {
        on: ['account_id', 'lane', 'id'],
        where: (row) => row.or([row('attempts', '>', 0), row('held_at', 'is not', null)]),
      },
    },
  },
)

export interface QueueRow extends RowOf<typeof queue> {}

/** The log: a row for each delivery that has ended. */
const deliveries = table(
  'deliveries',
  {
    id: integer().primaryKey(),
    email_id: text(),
    recipient: text(),
    status: text<'delivered' | 'relayed' | 'bounced' | 'failed' | 'cancelled' | 'suppressed'>(),
    attempts: integer(),
    reply: text().orNull(),
    /** The MX host and address that gave the last answer. */
    remote: text().orNull(),
    /** TLS version and cipher of the last attempt. */
    tls: text().orNull(),
    transcript: text().orNull(),
    ended_at: integer(),
  },
  { indexes: { deliveries_email: ['email_id'] } },
)

export interface DeliveryRow extends RowOf<typeof deliveries> {}

/** The transcript of an attempt at that time after which another one followed. */
const deferredTranscripts = table(
  'deferred_transcripts',
  {
    delivery_id: integer(),
    at: integer(),
    transcript: text(),
  },
  { primaryKey: ['delivery_id', 'at'], isClustered: true },
)

/** What reports have said about a delivery, so that the next one changes only what is new. */
const deliveryReports = table('delivery_reports', {
  delivery_id: integer().primaryKey(),
  /** JSON array: a hash of each cause for which it was said to be delayed. */
  delays: text(),
  /**
   * -1: no report of failure yet; else what the worst report does to the address: from 0, nothing, to 2, suppressed
   * at once.
   */
  bounce: integer(),
  /** 0: none; 1: without proof; 2: proved. */
  complaint: integer<0 | 1 | 2>(),
  unsubscribed: integer<0 | 1>(),
})

export interface DeliveryReportsRow extends RowOf<typeof deliveryReports> {}

export const deliveriesTables = [queue, deliveries, deferredTranscripts, deliveryReports] as const
