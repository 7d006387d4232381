import { integer, type RowOf, table, text } from './table.js'

/**
 * A report about one of our domains, kept so that none counts twice. Retention deletes by `day`, which is indexed.
 */
const receivedReport = {
  domain_id: text().references('domains', 'cascade'),
  /** Who made it, in its own words. */
  reporter: text(),
  /** The domain of the DKIM signature with which it came; empty: anybody may have written it. */
  proof: text(),
  report_id: text(),
  /** The day on which it came, in UTC days since 1970. */
  day: integer(),
  begins_at: integer(),
  ends_at: integer(),
}

const dmarcReports = table(
  'dmarc_reports',
  {
    ...receivedReport,
    /** The policy that the receiver saw: none, quarantine or reject. */
    policy: text(),
    messages: integer(),
  },
  {
    primaryKey: ['domain_id', 'reporter', 'proof', 'report_id'],
    isClustered: true,
    indexes: { dmarc_reports_day: ['day'] },
  },
)

const tlsReportsReceived = table(
  'tls_reports_received',
  {
    ...receivedReport,
    successes: integer(),
    failures: integer(),
    /** JSON: sessions by the type of their failure. */
    failure_types: text(),
  },
  {
    primaryKey: ['domain_id', 'reporter', 'proof', 'report_id'],
    isClustered: true,
    indexes: { tls_reports_received_day: ['day'] },
  },
)

/**
 * How much mail in a domain's name came from an address, by the receivers' verdict. Retention deletes by `day`, which
 * is indexed.
 */
const dmarcSources = table(
  'dmarc_sources',
  {
    domain_id: text().references('domains', 'cascade'),
    /** The day on which the report's time begins, in UTC days since 1970. */
    day: integer(),
    /** An IP address; empty: all addresses beyond the bound. */
    source: text(),
    reporter: text(),
    /** 1: the report came with the DKIM signature of its reporter. */
    proven: integer(),
    disposition: text<'none' | 'quarantine' | 'reject'>(),
    /** 1: passed, for a domain that aligns with the From. */
    dkim: integer(),
    spf: integer(),
    /** 1: the receiver says that the mail came by a forwarder or a list. */
    forwarded: integer(),
    messages: integer(),
    /** The domains of DKIM and SPF in one of the mails; for people to read. */
    identifiers: text(),
  },
  {
    primaryKey: [
      'domain_id',
      'day',
      'source',
      'reporter',
      'proven',
      'disposition',
      'dkim',
      'spf',
      'forwarded',
    ],
    isClustered: true,
    indexes: { dmarc_sources_day: ['day'] },
  },
)

export interface DmarcSourceRow extends RowOf<typeof dmarcSources> {}

/** The name of an address by the DNS, empty where it has none. Retention deletes by `day`, which is indexed. */
const dmarcHosts = table(
  'dmarc_hosts',
  {
    address: text().primaryKey(),
    name: text(),
    /** The day of the look-up, in UTC days since 1970. */
    day: integer(),
  },
  { isClustered: true, indexes: { dmarc_hosts_day: ['day'] } },
)

export const dmarcTables = [dmarcReports, tlsReportsReceived, dmarcSources, dmarcHosts] as const
