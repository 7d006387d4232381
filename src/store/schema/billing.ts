import { integer, type RowOf, table, text } from './table.js'

/** An account's plans and all that may stop it; one row an account. */
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
    /** Counts the changes of what decides whether mails of the account may be made. */
    revision: integer(),
    /** The revision up to which its runs that were blocked have been looked at again. */
    woken_revision: integer(),
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

/** Counters of an account in a UTC month (`2026-11`) or UTC day (`2026-11-21`); of test mail ` test` stands behind it. */
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

export const billingTables = [subscriptions, usage] as const
