import type { DeliveryRow, EventRow, QueueClass } from '../store/index.js'

export type EventType = EventRow['type']

export interface MailEvent {
  accountId: string
  emailId: string
  /** Null: of the mail as a whole. */
  deliveryId: number | null
  recipient: string | null
  class: QueueClass
  type: EventType
  at: number
  /** What a server answered, or our own sentence. */
  reply: string | null
  detail: EventDetail | null
  /**
   * Of an event that ends a delivery which had ended already: how it had. Effects go by it, for the
   * log may have forgotten; the log keeps it in `detail`.
   */
  before?: DeliveryRow['status']
}

/** What an event tells beyond its reply; kept as JSON. */
export interface EventDetail {
  /** Of a bounce. */
  bounceType?: 'Permanent' | 'Transient'
  /** Of a refusal: its class, and the rule of `config/bounce-rules.toml` that found it. */
  bounceClass?: string
  rule?: string
  /** It ends mail to that address: at once, or once it has been repeated long enough. */
  suppress?: 'now' | 'repeated'
  /** Of a complaint: what the feedback loop calls it (RFC 5965), e.g. `abuse`. */
  feedbackType?: string
  /** Of a complaint: what proves that a feedback loop has sent it. Without it no rate counts it. */
  evidence?: string
  /** Of an open or click: a machine asked, by what `sign`; it counts for nothing. */
  machine?: true
  sign?: string
  /** Of a click: where it led. */
  url?: string
  userAgent?: string
  /** Of an open or click: the first of its mail that no machine made. */
  first?: true
  /** Of an event that ends a delivery which had ended already: how it had. */
  before?: DeliveryRow['status']
}
