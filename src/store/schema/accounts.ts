import { blob, integer, type RowOf, table, text } from './table.js'

const accounts = table('accounts', {
  id: text().primaryKey(),
  name: text(),
  created_at: integer(),
  /** Null: as the settings say. */
  track_opens: integer().orNull(),
  track_clicks: integer().orNull(),
  /** The language of what its recipients read; null: English. */
  language: text().orNull(),
})

const accountLogos = table('account_logos', {
  account_id: text().primaryKey(),
  /** Random, for the address that recipients' browsers fetch it from. */
  public_id: text().unique(),
  content_type: text(),
  bytes: blob(),
})

/** The public page with an account's past campaigns; made with the first campaign that is shown. */
const archives = table('archives', {
  account_id: text().primaryKey().references('accounts'),
  /** Random, for the address of the page. */
  public_id: text().unique(),
})

const apiKeys = table(
  'api_keys',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    name: text(),
    /** SHA-256 of the whole key. */
    hash: blob().unique(),
    last4: text(),
    created_at: integer(),
    last_used_at: integer().orNull(),
    deleted_at: integer().orNull(),
    scope: text<'full' | 'sending' | 'read' | 'test'>(),
    /** JSON: the sender domains and the networks that it is limited to; null for none. */
    domains: text().orNull(),
    networks: text().orNull(),
    expires_at: integer().orNull(),
    /** How many mails it may hand in within a clock hour, and a minute; null: any number. */
    per_hour: integer().orNull(),
    per_minute: integer().orNull(),
  },
  {
    indexes: {
      api_keys_account: { on: ['account_id', 'id'], where: (row) => row('deleted_at', 'is', null) },
    },
  },
)

export interface ApiKeyRow extends RowOf<typeof apiKeys> {}

/** Keys of the operator's programs; they belong to no account. */
const operatorKeys = table('operator_keys', {
  id: text().primaryKey(),
  name: text(),
  /** SHA-256 of the whole key. */
  hash: blob().unique(),
  last4: text(),
  /** JSON: where its requests come from; null: anywhere. */
  networks: text().orNull(),
  created_at: integer(),
  expires_at: integer().orNull(),
  last_used_at: integer().orNull(),
  deleted_at: integer().orNull(),
})

export interface OperatorKeyRow extends RowOf<typeof operatorKeys> {}

/** How many bytes an account stores; no row: nothing yet. */
const storedBytes = table(
  'stored_bytes',
  {
    account_id: text().primaryKey(),
    /** The bytes of all its rows in `contents`. */
    contents: integer(),
    /** The bytes of all versions of templates. */
    templates: integer(),
    /** HTML of campaigns, drafts too. */
    campaigns: integer(),
  },
  { isClustered: true },
)

export interface StoredBytesRow extends RowOf<typeof storedBytes> {}

export const accountsTables = [
  accounts,
  accountLogos,
  archives,
  apiKeys,
  operatorKeys,
  storedBytes,
] as const
