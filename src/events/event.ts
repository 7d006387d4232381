import {
  aloneWith,
  type DeliveryRow,
  type EventRow,
  preparedInsertAll,
  type QueueClass,
  type Read,
  storedJson,
  type Tx,
} from '../store/index.js'

export type EventType = EventRow['type']

export interface MailEvent {
  accountId: string
  emailId: string
  /** Null: the event is about the mail as a whole. */
  deliveryId: number | null
  recipient: string | null
  class: QueueClass
  type: EventType
  at: number
  /** A server's answer, or our own sentence. */
  reply: string | null
  detail: EventDetail | null
  /**
   * For effects only, and not kept: the MX that answered last, and the automation's step that sent the
   * mail, if known.
   */
  remote?: string | null
  stepId?: number | null
  /**
   * How the delivery had ended before, if the event ends it once more. Effects use it, as the log
   * may have forgotten; the log keeps it in `detail`.
   */
  before?: DeliveryRow['status']
  /** For effects: when a server decided about the delivery that a report is about; null if unknown, or if none has. */
  answeredAt?: number | null | undefined
}

/** What an event tells beyond its reply; kept as JSON. */
export interface EventDetail {
  /** The type of a bounce. */
  bounceType?: 'Permanent' | 'Transient'
  /** The class of a refusal, and the rule of `config/bounce-rules.toml` that found it. */
  bounceClass?: string
  rule?: string
  /** The refusal ends mail to that address: at once, or after enough repeats. */
  suppress?: 'now' | 'repeated'
  /** The feedback loop's type of a complaint (RFC 5965), e.g. `abuse`. */
  feedbackType?: string
  /** The proof that a feedback loop sent a complaint. Without it no rate counts the complaint. */
  evidence?: string
  /** A machine made the open or click, as `sign` shows; it counts for nothing. */
  machine?: true
  sign?: string
  /** Where a click led. */
  url?: string
  userAgent?: string
  /** This open or click is the first of its mail that no machine made. */
  first?: true
  /** How the delivery had ended before, if the event ends it once more. */
  before?: DeliveryRow['status']
}

export type LandEvents = (tx: Tx, events: readonly MailEvent[]) => Promise<void>

/**
 * What else happens when events land, in the same transaction. It runs for every mail: prepared
 * queries on `tx`, and nothing else awaited.
 */
export type Effect = LandEvents

/** Writes events to the log, then lets each effect follow. */
export function makeLandEvents(effects: readonly Effect[]): LandEvents {
  return async (tx, events) => {
    if (events.length === 0) return
    await aloneWith(tx, new Set(events.map(({ accountId }) => accountId)))
    await insertRows(tx, events.map(toRow))
    for (const effect of effects) await effect(tx, events)
  }
}

const insertRows = preparedInsertAll('events')

const toRow = (event: MailEvent) => ({
  account_id: event.accountId,
  email_id: event.emailId,
  delivery_id: event.deliveryId,
  recipient: event.recipient,
  class: event.class,
  type: event.type,
  at: event.at,
  reply: event.reply,
  detail: detailOf(event),
})

/** Adds how the delivery had ended before, so that the figures count each recipient once. */
function detailOf({ detail, before }: MailEvent): string | null {
  if (before !== undefined) return JSON.stringify({ ...detail, before })
  return detail === null ? null : JSON.stringify(detail)
}

/** All events of an account's mail in order, or `limit` of them after the first `skip`. */
export async function readTimeline(
  read: Read,
  accountId: string,
  emailId: string,
  { skip = 0, limit }: { skip?: number; limit?: number } = {},
): Promise<MailEvent[]> {
  const rows = await read
    .selectFrom('events')
    .selectAll()
    .where('email_id', '=', emailId)
    .where('account_id', '=', accountId)
    .orderBy('id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0).offset(skip))
    .execute()
  return rows.map((row) => ({
    accountId: row.account_id,
    emailId: row.email_id,
    deliveryId: row.delivery_id,
    recipient: row.recipient,
    class: row.class,
    type: row.type,
    at: row.at,
    reply: row.reply,
    detail: (storedJson(row.detail) ?? null) as EventDetail | null,
  }))
}
