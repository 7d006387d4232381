import { addressKey } from '../mime/index.js'
import { prepared, type Read, type SuppressionRow } from '../store/index.js'
import type { Suppression, SuppressionReason } from './suppress.js'

/** Everything recorded about one address. */
export async function suppressionsOf(
  read: Read,
  accountId: string,
  email: string,
): Promise<Suppression[]> {
  const rows = await recordsOf(read, { accountId, address: addressKey(email) })
  return rows.map(toSuppression)
}

const recordsOf = prepared<{ accountId: string; address: string }, SuppressionRow>(
  (db, { accountId, address }) =>
    db
      .selectFrom('suppressions')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('address', '=', address)
      .orderBy('reason'),
)

/** Which page of the records. */
export interface ListOptions {
  reason?: SuppressionReason | undefined
  /** Begin after this record. */
  after?: Pick<Suppression, 'email' | 'reason'> | undefined
  limit: number
}

/** A page of an account's records, by address and reason. */
export async function listSuppressions(
  read: Read,
  accountId: string,
  { reason, after, limit }: ListOptions,
): Promise<Suppression[]> {
  let query = read
    .selectFrom('suppressions')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('address')
    .orderBy('reason')
    .limit(limit)
  if (reason !== undefined) {
    query = query.where('reason', '=', reason)
    // For one reason the records are in order of their addresses, by the index `suppressions_by_reason`.
    if (after !== undefined) query = query.where('address', '>', after.email)
  } else if (after !== undefined) {
    const { email } = after
    query = query.where((eb) =>
      eb(eb.refTuple('address', 'reason'), '>', eb.tuple(email, after.reason)),
    )
  }
  return (await query.execute()).map(toSuppression)
}

/** A row as the other folders see it. */
const toSuppression = (row: SuppressionRow): Suppression => ({
  email: row.address,
  reason: row.reason,
  scope: row.scope,
  emailId: row.email_id,
  detail: row.detail,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
})
