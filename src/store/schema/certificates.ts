import { blob, integer, type RowOf, table, text } from './table.js'

/** Our account at a directory of ACME. Its sealed key is all that is needed to use it again. */
const acmeAccounts = table(
  'acme_accounts',
  {
    directory: text().primaryKey(),
    key: blob(),
    /** Null: not made there yet. */
    url: text().orNull(),
    /** The address that the directory was told last. */
    email: text(),
    /** How often in a row the directory itself has failed; it is not asked again before `next_at`. */
    failures: integer(),
    next_at: integer(),
    error: text().orNull(),
  },
  { isClustered: true },
)

export interface AcmeAccountRow extends RowOf<typeof acmeAccounts> {}

/** A name that ACME gets a certificate for. */
const certificates = table(
  'certificates',
  {
    name: text().primaryKey(),
    /** How often in a row it could not be obtained, and since when. */
    failures: integer(),
    failed_since: integer().orNull(),
    ordered_at: integer().orNull(),
    /** When something is to be done: an order, a look at one, or the question when to renew. */
    next_at: integer(),
    /** Null: there is no certificate, or it is to be renewed at once. */
    renew_at: integer().orNull(),
    error: text().orNull(),
    fix: text().orNull(),
    /** The order under way, and the key that its certificate will be for (sealed): both outlive a kill. */
    order_url: text().orNull(),
    order_key: blob().orNull(),
    /** The certificate with its key, sealed, which each node has as a file too; and a hash of that file. */
    sealed: blob().orNull(),
    hash: text().orNull(),
  },
  { isClustered: true },
)

export interface CertificateRow extends RowOf<typeof certificates> {}

/** An order that a directory was asked for within the last day. */
const certificateOrders = table(
  'certificate_orders',
  {
    ordered_at: integer(),
    name: text(),
    /** Null: the name is the operator's. */
    account_id: text().orNull(),
    /** Whether the name had no certificate. */
    is_first: integer(),
  },
  { primaryKey: ['ordered_at', 'name'], isClustered: true },
)

export interface CertificateOrderRow extends RowOf<typeof certificateOrders> {}

/** The answers that prove to a directory that names are ours, whichever node it asks. */
const acmeChallenges = table(
  'acme_challenges',
  { token: text().primaryKey(), answer: text() },
  { isClustered: true },
)

export const certificatesTables = [
  acmeAccounts,
  certificates,
  certificateOrders,
  acmeChallenges,
] as const
