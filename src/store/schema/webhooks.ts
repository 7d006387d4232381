import { blob, integer, type RowOf, table, text } from './table.js'

/**
 * Why no answer came, or why it was set aside; `error` says it in words. In order: the URL leads where nothing may be
 * sent; its certificate is not accepted; nothing listens there; the connection was closed; the host is not reached.
 */
export type WebhookCause =
  | 'timeout'
  | 'forbidden'
  | 'certificate'
  | 'refused'
  | 'closed'
  | 'no-host'
  | 'unreachable'
  | 'disabled'
  | 'restored'

/** Where an account wants to get its events. */
const webhookEndpoints = table(
  'webhook_endpoints',
  {
    id: text().primaryKey(),
    account_id: text(),
    url: text(),
    /** JSON array of the events, such as `email.delivered`. */
    events: text(),
    /** Sealed with the appliance key, like the old secret, which also signs until `old_secret_until`. */
    secret: blob(),
    old_secret: blob().orNull(),
    old_secret_until: integer().orNull(),
    enabled: integer(),
    /** Events in a row that were dropped after their last attempt. */
    failures: integer(),
    /** When the first of these was dropped; null where there are none. */
    failing_since: integer().orNull(),
    /** The bytes of the bodies that are set aside (`dropped`); then how many events found no room there. */
    aside_bytes: integer().default(0),
    events_not_kept: integer().default(0),
    disabled_at: integer().orNull(),
    disabled_because: text().orNull(),
    disabled_by: text<'account' | 'operator' | 'failures'>().orNull(),
    /** 0 while the operator is still to be told that it was disabled. */
    announced: integer(),
    created_at: integer(),
    /** Its log is being deleted, and nobody sees the endpoint any more. */
    deleted_at: integer().orNull(),
  },
  {
    indexes: {
      webhook_endpoints_account: ['account_id'],
      webhook_endpoints_unannounced: { on: ['id'], where: (row) => row('announced', '=', 0) },
    },
  },
)

export interface WebhookEndpointRow extends RowOf<typeof webhookEndpoints> {}

/** The hot table: a row for each endpoint and event that is still to arrive. */
const webhookJobs = table(
  'webhook_jobs',
  {
    /**
     * Rises in the order in which things happened, and is never given twice: the courier reads on from the last one.
     */
    id: integer().numberedKey('rising'),
    endpoint_id: text(),
    account_id: text(),
    email_id: text(),
    event: text(),
    /** The bytes that are sent, the same at every attempt. */
    body: text(),
    attempts: integer(),
    due_at: integer(),
    created_at: integer(),
    /** The HTTP status of the last attempt; null before it. */
    status: integer().orNull(),
    response: text().orNull(),
    error: text().orNull(),
    cause: text<WebhookCause>().orNull(),
    tried_at: integer().orNull(),
  },
  {
    indexes: {
      webhook_jobs_endpoint: ['endpoint_id', 'id'],
      webhook_jobs_tried: { on: ['endpoint_id', 'id'], where: (row) => row('attempts', '>', 0) },
    },
  },
)

export interface WebhookJobRow extends RowOf<typeof webhookJobs> {}

/** The log: a row for each endpoint and event, under the number of its job. */
const webhookDeliveries = table(
  'webhook_deliveries',
  {
    id: integer().primaryKey(),
    endpoint_id: text(),
    account_id: text(),
    email_id: text(),
    event: text(),
    body: text(),
    /** `dropped`: the endpoint was disabled before it got there. */
    outcome: text<'delivered' | 'failed' | 'dropped'>(),
    attempts: integer(),
    /** The HTTP status of the last answer; `response` is the beginning of its body. */
    status: integer().orNull(),
    response: text().orNull(),
    error: text().orNull(),
    cause: text<WebhookCause>().orNull(),
    created_at: integer(),
    ended_at: integer(),
  },
  {
    indexes: {
      webhook_deliveries_endpoint: ['endpoint_id', 'id'],
      webhook_deliveries_aside: {
        on: ['endpoint_id', 'error', 'created_at', 'cause'],
        where: (row) => row('outcome', '=', 'dropped'),
      },
      webhook_deliveries_not_arrived: {
        on: ['endpoint_id', 'id'],
        where: (row) => row('outcome', '<>', 'delivered'),
      },
    },
  },
)

export interface WebhookDeliveryRow extends RowOf<typeof webhookDeliveries> {}

export const webhooksTables = [webhookEndpoints, webhookJobs, webhookDeliveries] as const
