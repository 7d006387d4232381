import { figureCounts } from './figure-counts.js'
import { integer, type RowOf, table, text } from './table.js'

/*
 * What happened to each campaign, counted from the logs and kept when those are deleted.
 */

/** By time: hours at first, days later on. */
const broadcastHours = table(
  'broadcast_hours',
  {
    broadcast_id: text(),
    /** When the hour, or the day, UTC, begins. */
    at: integer(),
    ...figureCounts,
  },
  { primaryKey: ['broadcast_id', 'at'], isClustered: true },
)

export interface BroadcastHourRow extends RowOf<typeof broadcastHours> {}

/** By mailbox provider; `*` for all beyond the bound. */
const broadcastProviders = table(
  'broadcast_providers',
  {
    broadcast_id: text(),
    provider: text(),
    ...figureCounts,
  },
  { primaryKey: ['broadcast_id', 'provider'], isClustered: true },
)

export interface BroadcastProviderRow extends RowOf<typeof broadcastProviders> {}

/** By link, as in the mail but without addresses; `*` for all beyond the bound. */
const broadcastLinks = table(
  'broadcast_links',
  {
    broadcast_id: text(),
    number: integer(),
    url: text(),
    /** Clicks by people. */
    clicked: integer(),
    /** Contacts who clicked it. */
    people: integer(),
    clicked_machine: integer(),
  },
  { primaryKey: ['broadcast_id', 'number'], unique: [['broadcast_id', 'url']] },
)

export interface BroadcastLinkRow extends RowOf<typeof broadcastLinks> {}

/** Who clicked which link, people only. */
const broadcastLinkPeople = table(
  'broadcast_link_people',
  {
    broadcast_id: text(),
    /** The link's number. */
    link: integer(),
    contact_id: text().references('contacts', 'cascade'),
    at: integer(),
  },
  {
    primaryKey: ['broadcast_id', 'link', 'contact_id'],
    isClustered: true,
    indexes: { broadcast_link_people_contact: ['contact_id'] },
  },
)

/** Why mail did not arrive: the class, and the server's words without addresses and ids. */
const broadcastBounces = table(
  'broadcast_bounces',
  {
    broadcast_id: text(),
    number: integer(),
    kind: text<'bounced' | 'failed' | 'suppressed'>(),
    class: text(),
    /** Empty for all beyond the bound. */
    words: text(),
    count: integer(),
  },
  { primaryKey: ['broadcast_id', 'number'], unique: [['broadcast_id', 'kind', 'class', 'words']] },
)

export interface BroadcastBounceRow extends RowOf<typeof broadcastBounces> {}

/** What contacts did with a campaign, and whom it did not reach. Others have no row. */
const broadcastPeople = table(
  'broadcast_people',
  {
    contact_id: text().references('contacts', 'cascade'),
    broadcast_id: text(),
    email_id: text(),
    /** When each was first seen; only people's opens and clicks. */
    opened_at: integer().orNull(),
    clicked_at: integer().orNull(),
    left_at: integer().orNull(),
    complained_at: integer().orNull(),
    /** When it was known that the mail does not arrive, and the number of the reason. */
    unreached_at: integer().orNull(),
    bounce: integer().orNull(),
    /** When a server has taken the mail; noted where `broadcasts.mailed_through` says so. */
    taken_at: integer().orNull(),
    /** The reason that they chose when they left by it; `words`: they chose none, and wrote something. */
    why_left: text().orNull(),
    /** Their mailbox provider, as the figures by provider name it; null: noted by an older release. */
    provider: text().orNull(),
  },
  {
    // By contact first, because queries by campaign ask for people of one kind, which have indexes.
    primaryKey: ['contact_id', 'broadcast_id'],
    isClustered: true,
    indexes: {
      broadcast_people_opened: {
        on: ['broadcast_id', 'contact_id'],
        where: (row) => row('opened_at', 'is not', null),
      },
      broadcast_people_clicked: {
        on: ['broadcast_id', 'contact_id'],
        where: (row) => row('clicked_at', 'is not', null),
      },
      broadcast_people_left: {
        on: ['broadcast_id', 'contact_id'],
        where: (row) => row('left_at', 'is not', null),
      },
      broadcast_people_complained: {
        on: ['broadcast_id', 'contact_id'],
        where: (row) => row('complained_at', 'is not', null),
      },
      broadcast_people_unreached: {
        on: ['broadcast_id', 'contact_id'],
        where: (row) => row('unreached_at', 'is not', null),
      },
    },
  },
)

export interface BroadcastPersonRow extends RowOf<typeof broadcastPeople> {}

/** How many of those who left by it gave which reason themselves. */
const broadcastWhyLeft = table(
  'broadcast_why_left',
  {
    broadcast_id: text(),
    /** One of `leaveReasons`; `words`: they chose none and wrote something. */
    reason: text(),
    said: integer(),
  },
  { primaryKey: ['broadcast_id', 'reason'], isClustered: true },
)

export const campaignFiguresTables = [
  broadcastHours,
  broadcastProviders,
  broadcastLinks,
  broadcastLinkPeople,
  broadcastBounces,
  broadcastPeople,
  broadcastWhyLeft,
] as const
