import { applianceAccountId } from '../../accounts/index.js'
import { prepared, type Read } from '../../store/index.js'

/**
 * Whether the mail is a report of ours about TLS. RFC 8460 §3 and §5.3: it goes out however broken the
 * TLS of its receiver is, and no report speaks of its sessions.
 */
export async function isTlsReport(
  read: Read,
  { accountId, emailId }: { accountId: string; emailId: string },
): Promise<boolean> {
  // No mail of anybody else costs a query.
  if (accountId !== applianceAccountId) return false
  return (await reportOf(read, { emailId })).length > 0
}

/** A report of ours by the mail that carries it. */
const reportOf = prepared<{ emailId: string }, { day: number }>((db, { emailId }) =>
  db.selectFrom('tls_report_posts').select('day').where('email_id', '=', emailId),
)
