/**
 * Owns the count of sessions by how their TLS went, for the reports that receivers ask for (RFC 8460). What must
 * hold: a session counts once for each policy domain whose mail it carries, and under one policy and one result; mail
 * costs no write; the variety that strangers can cause is bounded.
 */
export { type CountedSession, makeTlsCount, type TlsCount } from './count.js'
export { isTlsReport } from './own-reports.js'
export { countRefused, watchSessions } from './watch.js'
