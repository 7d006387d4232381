import { blob, integer, type RowOf, table, text } from './table.js'

const accounts = table('accounts', {
  id: text().primaryKey(),
  name: text(),
  created_at: integer(),
  /** Null: as the settings say. */
  track_opens: integer().orNull(),
  track_clicks: integer().orNull(),
  /** Of what its recipients read; null: English. */
  language: text().orNull(),
})

const accountLogos = table('account_logos', {
  account_id: text().primaryKey(),
  /** Random, for the address that recipients' browsers fetch it from. */
  public_id: text().unique(),
  content_type: text(),
  bytes: blob(),
})

/** Where an account's past campaigns are shown to everybody, from the first one on that is. */
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

/** By which programs of the operator show who they are; of no account. */
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

/** What an account stores for as long as it likes or its mails are kept; no row: nothing yet. */
const storedBytes = table(
  'stored_bytes',
  {
    account_id: text().primaryKey(),
    /** Of all its rows in `contents`. */
    contents: integer(),
    /** Of all versions. */
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
