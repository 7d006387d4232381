import { integer, type RowOf, table, text } from './table.js'

/** Whom an account must not mail. An address may be here for several reasons, and each is lifted separately. */
const suppressions = table(
  'suppressions',
  {
    account_id: text(),
    /** The whole address in lower case. */
    address: text(),
    reason: text<'unsubscribe' | 'bounce' | 'complaint' | 'manual'>(),
    scope: text<'all' | 'marketing'>(),
    email_id: text().orNull(),
    detail: text().orNull(),
    created_at: integer(),
    /** When it ends by itself; null: never. */
    expires_at: integer().orNull(),
  },
  {
    primaryKey: ['account_id', 'address', 'reason'],
    indexes: {
      suppressions_expiry: {
        on: ['expires_at'],
        where: (row) => row('expires_at', 'is not', null),
      },
      suppressions_by_reason: ['account_id', 'reason', 'address'],
    },
  },
)

export interface SuppressionRow extends RowOf<typeof suppressions> {}

/** An address whose last mails failed temporarily. */
const softBounces = table(
  'soft_bounces',
  {
    account_id: text(),
    /** The whole address in lower case. */
    address: text(),
    /** How many mails in a row failed. */
    failures: integer(),
    first_at: integer(),
    last_at: integer(),
    /** The delivery that has succeeded since, unless a report takes that back. */
    delivered_id: integer().orNull(),
  },
  { primaryKey: ['account_id', 'address'], indexes: { soft_bounces_age: ['last_at'] } },
)

export interface SoftBounceRow extends RowOf<typeof softBounces> {}

/** The key of an account's `erasures`, random. */
const erasureKeys = table('erasure_keys', {
  account_id: text().primaryKey().references('accounts'),
  key: text(),
})

/** Addresses that were erased and must not be mailed again, as hashes with the account's key. */
const erasures = table(
  'erasures',
  { account_id: text(), hash: text(), erased_at: integer() },
  { primaryKey: ['account_id', 'hash'], isClustered: true },
)

export const suppressionTables = [suppressions, softBounces, erasureKeys, erasures] as const
