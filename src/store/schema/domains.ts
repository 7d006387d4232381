import { blob, integer, type RowOf, table, text } from './table.js'

const domains = table(
  'domains',
  {
    id: text().primaryKey(),
    account_id: text().references('accounts'),
    /** A-label, lower case. */
    name: text(),
    status: text<'pending' | 'verified'>(),
    /** 1 when verified by the operator's word instead of the DNS. */
    trusted: integer(),
    /** 1 when `bounce.<name>` has the MX and SPF records that make it this domain's return path. */
    return_path: integer(),
    created_at: integer(),
    verified_at: integer().orNull(),
    checked_at: integer().orNull(),
    /** Null: the account's setting counts. */
    track_opens: integer().orNull(),
    track_clicks: integer().orNull(),
    /** The host of its tracked links; used once the DNS was seen to point it here (1). */
    tracking_host: text().orNull(),
    tracking_host_ready: integer().orNull(),
    /** The host at which it receives mail for its account; its MX was seen to point here (1). */
    receiving_host: text().orNull(),
    receiving_host_ready: integer().orNull(),
  },
  {
    unique: [['account_id', 'name']],
    indexes: {
      domains_tracking_host: {
        on: ['tracking_host'],
        where: (row) => row('tracking_host', 'is not', null),
      },
      // A name receives mail for only one account.
      domains_receiving_host: {
        on: ['receiving_host'],
        isUnique: true,
        where: (row) => row('receiving_host', 'is not', null),
      },
    },
  },
)

export interface DomainRow extends RowOf<typeof domains> {}

type DkimStage = 'current' | 'next' | 'past'

const dkimKeys = table(
  'dkim_keys',
  {
    id: text().primaryKey(),
    domain_id: text().references('domains', 'cascade'),
    selector: text(),
    algorithm: text<'rsa-sha256' | 'ed25519-sha256'>(),
    /** PEM, sealed with the appliance key; empty once the key is `past`. */
    private_key: blob(),
    /** The `p=` value of the record. */
    public_key: text(),
    /** 1 once its record was seen in the DNS (or the domain is trusted): only then it signs. */
    verified: integer(),
    created_at: integer(),
    /** `next`: signs once its record is seen; `past`: no longer signs, and its record may be removed. */
    stage: text<DkimStage>().default('current'),
    /** For a past key: when its record may be removed. */
    may_go_at: integer().orNull(),
  },
  { unique: [['domain_id', 'selector']] },
)

export interface DkimKeyRow extends Omit<RowOf<typeof dkimKeys>, 'stage'> {
  stage: DkimStage
}

/** What the last look at a domain's records found. */
const domainLooks = table('domain_looks', {
  domain_id: text().primaryKey().references('domains', 'cascade'),
  at: integer(),
  /** JSON: one object for each record, with purpose, host, value, state, found and advice. */
  records: text(),
})

/** A record of a verified domain that was missing at the last looks. */
const recordChecks = table(
  'record_checks',
  {
    domain_id: text().references('domains', 'cascade'),
    purpose: text(),
    /** How many looks in a row have failed; a look that the DNS did not answer does not count. */
    failures: integer(),
    since: integer(),
  },
  { primaryKey: ['domain_id', 'purpose'] },
)

export const domainsTables = [domains, dkimKeys, domainLooks, recordChecks] as const
