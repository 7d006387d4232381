import { integer, type RowOf, table, text } from './table.js'

/** An account's plan and everything that may stop it; one row for each account. */
const subscriptions = table(
  'subscriptions',
  {
    account_id: text().primaryKey().references('accounts'),
    /** 1 for the account that was made first, which has its own default plan. */
    first_account: integer(),
    /** Null: the default plan. */
    plan_id: text().orNull(),
    marketing_plan_id: text().orNull(),
    billing_state: text<'active' | 'past_due' | 'expired'>(),
    suspended_reason: text().orNull(),
    paused: text<'bounce' | 'complaint'>().orNull(),
    marketing_paused: text<'bounce' | 'complaint'>().orNull(),
    /** Counts the changes that decide whether mails of the account may be made. */
    revision: integer(),
    /** The revision up to which its blocked runs have been looked at again. */
    woken_revision: integer(),
    /** The surge that nobody has decided about yet: until then mail to new recipients is held. */
    surge_id: text().orNull(),
    /** An operator or owner has released a surge: until then nobody looks for another one. */
    unbraked_until: integer().orNull(),
  },
  {
    indexes: {
      subscriptions_changed: {
        on: ['account_id'],
        where: (row) => row('revision', '<>', row.ref('woken_revision')),
      },
    },
  },
)

export interface SubscriptionRow extends RowOf<typeof subscriptions> {}

/** Counters of an account in a UTC month (`2026-11`) or UTC day (`2026-11-21`); for test mail ` test` follows it. */
const usage = table(
  'usage',
  {
    account_id: text(),
    period: text(),
    mails: integer(),
    campaign_mails: integer(),
  },
  { primaryKey: ['account_id', 'period'] },
)

/** Mails that were handed in by an account, or by one of its keys, within one clock hour or minute. */
const handedIn = table(
  'handed_in',
  {
    /** The id of the account, or of the key. */
    holder: text(),
    /** The length of the window, in ms. */
    span: integer(),
    /** When the window begins. */
    at: integer(),
    mails: integer(),
    /** In an hour that was checked for a surge: how many mails went to new recipients; else null. */
    fresh: integer().orNull(),
  },
  {
    primaryKey: ['holder', 'span', 'at'],
    isClustered: true,
    indexes: { handed_in_old: ['span', 'at', 'holder'] },
  },
)

export const billingTables = [subscriptions, usage, handedIn] as const
