import type { EmailRow } from './emails.js'
import { figureCounts } from './figure-counts.js'
import { integer, type RowOf, table, text } from './table.js'

/**
 * An account's day, once by campaign, once by mailbox provider and once for each tag; test mail only has separate
 * rows.
 */
const figures = table(
  'figures',
  {
    account_id: text(),
    breakdown: text<'broadcast' | 'provider' | 'tag' | 'test' | 'campaign-test'>(),
    /** Days since 1970, UTC. */
    day: integer(),
    /** The sending domain; empty where the mail was already gone, `*` for all beyond the bound. */
    domain: text(),
    type: text<EmailRow['type']>(),
    /** The campaign's id (empty: none), the provider, or `name:value`; `*` for all beyond the bound. */
    key: text(),
    ...figureCounts,
  },
  { primaryKey: ['account_id', 'breakdown', 'day', 'domain', 'type', 'key'], isClustered: true },
)

export interface FigureRow extends RowOf<typeof figures> {}

/** How far the logs are counted in `figures`; one row, of id 1. */
const figureCursors = table(
  'figure_cursors',
  {
    id: integer().primaryKey(),
    event_id: integer(),
    consent_id: integer(),
    /** The number (`ids.ts`) and the id of the last mail that is counted. */
    mail_number: integer(),
    mail_id: text(),
    /** Events up to this one do not say whether they were the first of their kind. */
    untold_until: integer(),
    /**
     * For events from before engagement was counted: up to which event they are counted now, and the last one of
     * them.
     */
    engaged_id: integer().default(0),
    engaged_until: integer().default(0),
    /** The same for campaigns: of events, and of people who left. */
    campaign_event_id: integer().default(0),
    campaign_event_until: integer().default(0),
    campaign_consent_id: integer().default(0),
    campaign_consent_until: integer().default(0),
  },
  { seed: [{ id: 1, event_id: 0, consent_id: 0, mail_number: 0, mail_id: '', untold_until: 0 }] },
)

export interface FigureCursorsRow extends RowOf<typeof figureCursors> {}

/**
 * What happened to an account's mail with each contact, kept longer than the log. Only people's opens and clicks
 * count.
 */
const contactEngagement = table('contact_engagement', {
  contact_id: text().primaryKey().references('contacts', 'cascade'),
  /** Mails that a server has accepted for them. */
  sent: integer(),
  /** Mails that they opened, and in which they clicked; a mail to several people counts for the first one. */
  opened: integer(),
  clicked: integer(),
  last_sent_at: integer().orNull(),
  last_opened_at: integer().orNull(),
  last_clicked_at: integer().orNull(),
})

export interface ContactEngagementRow extends RowOf<typeof contactEngagement> {}

export const statsTables = [figures, figureCursors, contactEngagement] as const
