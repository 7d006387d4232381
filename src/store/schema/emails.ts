import { integer, type RowOf, table, text } from './table.js'

export type EmailStatus =
  | 'queued'
  | 'scheduled'
  | 'sending'
  | 'sent'
  | 'delivered'
  | 'bounced'
  | 'failed'
  | 'cancelled'
  | 'suppressed'

/** The log: a row for each accepted mail, kept long after the mail has left. */
const emails = table(
  'emails',
  {
    id: text().primaryKey(),
    account_id: text(),
    domain_id: text(),
    body_id: integer().orNull(),
    /** As given: `a@b` or `Name <a@b>`. */
    from_header: text(),
    /** JSON array of the recipients as given, duplicates left out. */
    to_list: text(),
    reply_to: text().orNull(),
    subject: text(),
    type: text<'transactional' | 'marketing'>(),
    /** Only of marketing mail. */
    topic_id: text().orNull(),
    metadata: text().orNull(),
    status: text<EmailStatus>(),
    message_id: text(),
    provider: text<'primary' | 'failover'>(),
    /** Deliveries by their state, so that the mail's status follows without counting rows. */
    waiting: integer(),
    delivered: integer(),
    /** Deliveries that a smart host has taken; a later report may move each to another counter. */
    relayed: integer().default(0),
    bounced: integer(),
    failed: integer(),
    opens: integer().default(0),
    clicks: integer().default(0),
    opened_at: integer().orNull(),
    clicked_at: integer().orNull(),
    scheduled_at: integer().orNull(),
    sent_at: integer().orNull(),
    created_at: integer(),
    /** The campaign that it belongs to: then it has one recipient, and shares the campaign's body. */
    broadcast_id: text().orNull().unchanging(),
    /** The step of an automation that sent it: then it has one recipient, and a row in `email_merges`. */
    automation_step_id: integer().orNull().unchanging(),
    /** The slug of the template that it was made from. */
    template: text().orNull(),
    /** JSON of `MailExtras`; null for most mails. Those of a campaign are in `broadcasts`. */
    extras: text().orNull(),
    /** The key of the campaign's version that it has; null for all others. */
    variant: text().orNull().unchanging(),
  },
  {
    isNumbered: true,
    indexes: {
      emails_scheduled: { on: ['scheduled_at'], where: (row) => row('status', '=', 'scheduled') },
      emails_broadcast: {
        on: ['broadcast_id', 'id'],
        where: (row) => row('broadcast_id', 'is not', null),
      },
      emails_account: ['account_id', 'id'],
      emails_template: {
        on: ['account_id', 'template', 'id'],
        where: (row) => row('template', 'is not', null),
      },
      // A mail that goes well is in no index by its status, because the status changes with every mail.
      emails_rare: {
        on: ['account_id', 'status', 'id'],
        where: (row) => row('status', 'in', ['bounced', 'failed', 'cancelled', 'suppressed']),
      },
      emails_automation: {
        on: ['automation_step_id', 'id'],
        where: (row) => row('automation_step_id', 'is not', null),
      },
      emails_scheduled_account: {
        on: ['account_id', 'id', 'scheduled_at'],
        where: (row) => row('status', '=', 'scheduled'),
      },
    },
  },
)

export interface EmailRow extends RowOf<typeof emails> {}

/** A tag of a mail, for searches by it. */
const emailTags = table(
  'email_tags',
  {
    account_id: text(),
    name: text(),
    value: text(),
    email_id: text(),
  },
  { primaryKey: ['account_id', 'name', 'value', 'email_id'], isClustered: true },
)

/** A recipient of a mail, for searches by them. */
const recipientEntries = table(
  'recipient_entries',
  {
    /** The day in the mail's id, since 1970, UTC. */
    day: integer(),
    /** A hash of account and address. */
    key: integer(),
    email_id: text(),
  },
  { primaryKey: ['day', 'key', 'email_id'], isClustered: true },
)

/** One row. */
const recipientIndex = table(
  'recipient_index',
  {
    /** The mail up to which all mails are entered; empty at first. */
    through: text(),
  },
  { seed: [{ through: '' }] },
)

/** A request that has succeeded, and its answer; kept for 24 hours. */
const idempotencyKeys = table(
  'idempotency_keys',
  {
    account_id: text(),
    key: text(),
    /** SHA-256 of path and body, in base64. */
    fingerprint: text(),
    /** The status of the answer: 200 or 201. */
    status: integer(),
    /** JSON. */
    response: text(),
    created_at: integer(),
  },
  { primaryKey: ['account_id', 'key'], indexes: { idempotency_keys_created: ['created_at'] } },
)

export interface IdempotencyKeyRow extends RowOf<typeof idempotencyKeys> {}

export const emailsTables = [
  emails,
  emailTags,
  recipientEntries,
  recipientIndex,
  idempotencyKeys,
] as const
