import type { QueueClass } from '../queue-class.js'
import { integer, type RowOf, table, text } from './table.js'

/** What happened to a mail; rows are only ever added. */
const events = table(
  'events',
  {
    /** Rises in the order in which things happened. */
    id: integer().numberedKey(),
    account_id: text(),
    email_id: text(),
    delivery_id: integer().orNull(),
    recipient: text().orNull(),
    class: integer<QueueClass>(),
    type: text<
      | 'sent'
      | 'deferred'
      | 'delivered'
      | 'relayed'
      | 'bounced'
      | 'failed'
      | 'suppressed'
      | 'complained'
      | 'unsubscribed'
      | 'opened'
      | 'clicked'
    >(),
    at: integer(),
    reply: text().orNull(),
    /** JSON, as `events/event.ts` has it. */
    detail: text().orNull(),
  },
  { indexes: { events_email: ['email_id', 'id'] } },
)

export interface EventRow extends RowOf<typeof events> {}

export const eventsTables = [events] as const
