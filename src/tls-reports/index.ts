/**
 * Reports about TLS to the domains that ask for them (RFC 8460): daily, about the sessions that
 * `outbound/tls-sessions` counted. What must hold: only domains that publish where to send them get one; a domain has
 * one report a day with one id, made in one transaction with the mails and uploads that send it; a crash repeats at
 * most an upload, a bounded number of times, with the same id; no report is about reports.
 */

export { forgetTlsReports } from './forget.js'
export { sendTlsReports, type TlsReportDeps, type TlsReportRun } from './send-reports.js'
export { findReportSender, type ReportSender, type TlsReportSettings } from './sender.js'
