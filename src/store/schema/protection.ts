import { integer, type RowOf, table, text, type ValuesOf } from './table.js'

/** What account protection counts. */
const protectionCounts = {
  /** Recipients whose server has decided: delivered, relayed or bounced. */
  recipients: integer(),
  /** Permanent bounces; an address counts once in the window. */
  bounces: integer(),
  /** Proved complaints; an address counts once in the window. */
  complaints: integer(),
}

const protectionTotals = {
  ...protectionCounts,
  /** How many of these belong to campaigns and automations. */
  marketing_recipients: integer(),
  marketing_bounces: integer(),
  marketing_complaints: integer(),
  /** Complaints without proof: they are shown, but no rate counts them. */
  unproved: integer(),
}

export interface ProtectionTotals extends ValuesOf<typeof protectionTotals> {}

/** An account's totals over the window that ends with `hour` (hours since 1970). */
const protection = table(
  'protection',
  {
    account_id: text().primaryKey(),
    hour: integer(),
    bounce_warned_at: integer().orNull(),
    complaint_warned_at: integer().orNull(),
    ...protectionTotals,
  },
  { isClustered: true },
)

export interface ProtectionRow extends RowOf<typeof protection> {}

/** The hours that make up the totals; hours that leave the window are deleted. */
const protectionHours = table(
  'protection_hours',
  {
    account_id: text(),
    hour: integer(),
    ...protectionTotals,
  },
  { primaryKey: ['account_id', 'hour'], isClustered: true },
)

export interface ProtectionHourRow extends RowOf<typeof protectionHours> {}

const protectionProviders = table(
  'protection_providers',
  {
    account_id: text(),
    /** Days since 1970. */
    day: integer(),
    provider: text(),
    ...protectionCounts,
  },
  { primaryKey: ['account_id', 'day', 'provider'], isClustered: true },
)

export interface ProtectionProviderRow extends RowOf<typeof protectionProviders> {}

/**
 * An address whose bounce or complaint is counted; another of the same kind counts once `hour` has left the window.
 */
const protectionAddresses = table(
  'protection_addresses',
  {
    account_id: text(),
    kind: text<'bounce' | 'complaint' | 'unproved'>(),
    /** A hash of the address: nobody needs to read it here. */
    address: text(),
    hour: integer(),
  },
  {
    primaryKey: ['account_id', 'kind', 'address'],
    isClustered: true,
    indexes: { protection_addresses_hour: ['hour'] },
  },
)

export interface ProtectionAddressRow extends RowOf<typeof protectionAddresses> {}

const protectionAudit = table(
  'protection_audit',
  {
    /** Rises in the order in which things happened. */
    id: integer().numberedKey(),
    account_id: text(),
    at: integer(),
    action: text<'warned' | 'marketing_paused' | 'paused' | 'cleared'>(),
    reason: text<'bounce' | 'complaint'>(),
    /** `protection`, or the operator who gave the command. */
    who: text(),
    note: text().orNull(),
    /** JSON of the totals at that time. */
    totals: text(),
    /** 1 once the operator was told. */
    announced: integer(),
  },
  {
    indexes: {
      protection_audit_account: ['account_id', 'id'],
      protection_audit_unannounced: { on: ['id'], where: (row) => row('announced', '=', 0) },
    },
  },
)

export interface ProtectionAuditRow extends RowOf<typeof protectionAudit> {}

/** A flood of mail to new recipients of an account; the rest of it is held until somebody decides. */
const surges = table(
  'surges',
  {
    id: text().primaryKey(),
    account_id: text(),
    began_at: integer(),
    /**
     * Mails in an hour: the account's usual number, the number from which on it was a surge, and the number that it
     * had.
     */
    usual: integer(),
    most: integer(),
    mails: integer(),
    /** How many deliveries were held. */
    held: integer(),
    /** JSON: which keys handed in the held mail, and from where; see `SurgeSource`. */
    sources: text(),
    decision: text<'released' | 'failed'>().orNull(),
    decided_at: integer().orNull(),
    decided_by: text().orNull(),
    /** When all held mail had left or failed. */
    ended_at: integer().orNull(),
    /** 1 once the operator and the owners were told. */
    announced: integer(),
  },
  {
    indexes: {
      surges_account: ['account_id', 'id'],
      surges_unended: { on: ['id'], where: (row) => row('ended_at', 'is', null) },
      surges_unannounced: { on: ['id'], where: (row) => row('announced', '=', 0) },
    },
  },
)

export interface SurgeRow extends RowOf<typeof surges> {}

export const protectionTables = [
  protection,
  protectionHours,
  protectionProviders,
  protectionAddresses,
  protectionAudit,
  surges,
] as const
