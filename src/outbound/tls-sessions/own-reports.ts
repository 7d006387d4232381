import { applianceAccountId } from '../../accounts/index.js'
import { prepared, type Read } from '../../store/index.js'

/**
 * Whether the mail is a report of ours about TLS. RFC 8460 §3 and §5.3: such a report is sent however broken its
 * receiver's TLS is, and no report counts its sessions.
 */
export async function isTlsReport(
  read: Read,
  { accountId, emailId }: { accountId: string; emailId: string },
): Promise<boolean> {
  // Other accounts' mail needs no query.
  if (accountId !== applianceAccountId) return false
  return (await reportOf(read, { emailId })).length > 0
}

/** Our own report that this mail carries. */
const reportOf = prepared<{ emailId: string }, { day: number }>((db, { emailId }) =>
  db.selectFrom('tls_report_posts').select('day').where('email_id', '=', emailId),
)
