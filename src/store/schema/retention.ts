import type { QueueClass } from '../queue-class.js'
import type { DeliveryRow } from './deliveries.js'
import { integer, type RowOf, table, text } from './table.js'

/** How many mails use a body; all mails up to the one in `retention_state` are counted. */
const bodyUses = table(
  'body_uses',
  {
    body_id: integer().primaryKey(),
    uses: integer(),
    /** A hash of account and content, which finds equal bodies; null for bodies of campaigns and templates. */
    hash: text().orNull(),
  },
  {
    indexes: {
      body_uses_hash: { on: ['hash'], isUnique: true, where: (row) => row('hash', 'is not', null) },
      body_uses_none: { on: ['body_id'], where: (row) => row('uses', '<=', 0) },
    },
  },
)

/** What a late report has to know of a delivery whose mail is deleted. */
const pastDeliveries = table(
  'past_deliveries',
  {
    id: integer().primaryKey(),
    account_id: text(),
    email_id: text(),
    recipient: text(),
    class: integer<QueueClass>(),
    status: text<DeliveryRow['status']>(),
    /** From when on no report is expected any more. */
    forget_at: integer(),
  },
  { indexes: { past_deliveries_forget: ['forget_at'] } },
)

/** How far retention has come; one row, of id 1. */
const retentionState = table(
  'retention_state',
  {
    id: integer().primaryKey(),
    /** The number (`ids.ts`) and the id of the last mail whose body is counted. */
    mail_number: integer(),
    mail_id: text(),
    /** The mail up to which bodies are deleted, except those in `retention_waiting`. */
    bodies_through: text(),
    transcripts_through: text(),
    /** The newest mail whose body was deleted early, for room on the disk; empty: none was. */
    early_through: text(),
    /** The time of the last run; 0: there was none. */
    ran_at: integer(),
  },
  {
    seed: [
      {
        id: 1,
        mail_number: 0,
        mail_id: '',
        bodies_through: '',
        transcripts_through: '',
        early_through: '',
        ran_at: 0,
      },
    ],
  },
)

export interface RetentionStateRow extends RowOf<typeof retentionState> {}

/** How far a log was read for the accounts that keep its rows for this time. */
const retentionWalks = table(
  'retention_walks',
  {
    log: text(),
    keep_ms: integer(),
    /** JSON array of their ids. */
    accounts: text(),
    /** The last row that was looked at. */
    cursor: integer(),
  },
  { primaryKey: ['log', 'keep_ms'], isClustered: true },
)

/** A mail that had not ended when its body or its transcripts were to be deleted. */
const retentionWaiting = table(
  'retention_waiting',
  {
    what: text<'bodies' | 'transcripts'>(),
    email_id: text(),
  },
  { primaryKey: ['what', 'email_id'], isClustered: true },
)

export interface RetentionWaitingRow extends RowOf<typeof retentionWaiting> {}

export const retentionTables = [
  bodyUses,
  pastDeliveries,
  retentionState,
  retentionWalks,
  retentionWaiting,
] as const
