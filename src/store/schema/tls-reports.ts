import { integer, type RowOf, table, text } from './table.js'

/**
 * Sessions with the servers of a recipient domain, by how their TLS went, for the reports of RFC 8460.
 * Kept for a few days; `day` leads the key, by which retention deletes.
 */
const tlsSessions = table(
  'tls_sessions',
  {
    /** UTC days since 1970, as in the other tables of reports. */
    day: integer(),
    domain: text(),
    policy_type: text<'tlsa' | 'sts' | 'no-policy-found'>(),
    /** JSON: the policy's lines as `text`, its hosts as `mx`. */
    policy: text(),
    /** A failure of RFC 8460 §4.3; empty: the session met the policy. */
    result: text(),
    reason: text(),
    mx_host: text(),
    /** The server's name in its reply to EHLO. */
    mx_name: text(),
    receiving_address: text(),
    sending_address: text(),
    sessions: integer(),
  },
  {
    primaryKey: [
      'day',
      'domain',
      'policy_type',
      'policy',
      'result',
      'reason',
      'mx_host',
      'mx_name',
      'receiving_address',
      'sending_address',
    ],
    isClustered: true,
  },
)

export interface TlsSessionsRow extends RowOf<typeof tlsSessions> {}

/** The result of a domain's report about a day; there is no row before the DNS was asked. `day` leads the key. */
const tlsReports = table(
  'tls_reports',
  {
    day: integer(),
    domain: text(),
    /** Empty: the domain asks for no report. */
    report_id: text(),
    decided_at: integer(),
  },
  { primaryKey: ['day', 'domain'], isClustered: true },
)

/** Where a report is sent; `day` leads the key. */
const tlsReportPosts = table(
  'tls_report_posts',
  {
    day: integer(),
    domain: text(),
    uri: text(),
    /** For a report by mail: the mail, which the queue takes care of. */
    email_id: text().orNull(),
    state: text<'waiting' | 'sent' | 'failed'>(),
    tries: integer(),
    next_at: integer(),
    cause: text(),
  },
  {
    primaryKey: ['day', 'domain', 'uri'],
    isClustered: true,
    indexes: {
      tls_report_posts_email: { on: ['email_id'], where: (row) => row('email_id', 'is not', null) },
    },
  },
)

export interface TlsReportPostRow extends RowOf<typeof tlsReportPosts> {}

export const tlsReportsTables = [tlsSessions, tlsReports, tlsReportPosts] as const
