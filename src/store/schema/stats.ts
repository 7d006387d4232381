import type { EmailRow } from './emails.js'
import { figureCounts } from './figure-counts.js'
import { integer, type RowOf, table, text } from './table.js'

/** An account's day, once by campaign, once by mailbox provider and once a tag; of test mail in rows of their own alone. */
const figures = table(
  'figures',
  {
    account_id: text(),
    breakdown: text<'broadcast' | 'provider' | 'tag' | 'test' | 'campaign-test'>(),
    /** Days since 1970, UTC. */
    day: integer(),
    /** The sending domain; empty where the mail was gone already, `*` of the many beyond the bound. */
    domain: text(),
    type: text<EmailRow['type']>(),
    /** The campaign's id (empty: none), the provider, or `name:value`; `*` of the many beyond the bound. */
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
    /** Of events that were counted before engagement was: up to which they are counted in it, and how many there are. */
    engaged_id: integer().default(0),
    engaged_until: integer().default(0),
    /** The same of what is counted by campaign: of events, and of who left. */
    campaign_event_id: integer().default(0),
    campaign_event_until: integer().default(0),
    campaign_consent_id: integer().default(0),
    campaign_consent_until: integer().default(0),
  },
  { seed: [{ id: 1, event_id: 0, consent_id: 0, mail_number: 0, mail_id: '', untold_until: 0 }] },
)

export interface FigureCursorsRow extends RowOf<typeof figureCursors> {}

/** What became of an account's mail with each contact, kept when the log goes. Only people's opens and clicks count. */
const contactEngagement = table('contact_engagement', {
  contact_id: text().primaryKey().references('contacts', 'cascade'),
  /** Mails that a server has taken for them. */
  sent: integer(),
  /** Mails that they opened, and in which they clicked; of one to several people, who did first. */
  opened: integer(),
  clicked: integer(),
  last_sent_at: integer().orNull(),
  last_opened_at: integer().orNull(),
  last_clicked_at: integer().orNull(),
})

export interface ContactEngagementRow extends RowOf<typeof contactEngagement> {}

export const statsTables = [figures, figureCursors, contactEngagement] as const
