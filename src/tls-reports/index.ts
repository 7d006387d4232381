/**
 * Reports about TLS to the domains that ask for them (RFC 8460): daily, about the sessions that
 * `outbound/tls-sessions` counted. What must hold: only who publishes where to gets one; a domain and a
 * day has one report with one id, made in one transaction with what it is sent by; a crash repeats at most
 * an upload, a bounded number of times, with the same id; a report is sent about no report.
 */

export { forgetTlsReports } from './forget.js'
export { sendTlsReports, type TlsReportDeps, type TlsReportRun } from './send-reports.js'
export { findReportSender, type ReportSender, type TlsReportSettings } from './sender.js'
