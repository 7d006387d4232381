import type { SuppressionRow, Tx } from '../store/index.js'

export type SuppressionReason = SuppressionRow['reason']
export type SuppressionScope = SuppressionRow['scope']

export const suppressionReasons = ['unsubscribe', 'bounce', 'complaint', 'manual'] as const

export interface Suppression {
  /** The whole address in lower case. */
  email: string
  reason: SuppressionReason
  scope: SuppressionScope
  /** The mail that led to it. */
  emailId: string | null
  detail: string | null
  createdAt: number
}

export interface NewSuppression {
  email: string
  reason: SuppressionReason
  /** Default: what the reason calls for. */
  scope?: SuppressionScope | undefined
  emailId?: string | null
  detail?: string | null
}

/**
 * Records that an address must not be mailed; resolves with whether anything is new. The same
 * reason again keeps the first record, but for a scope that has grown to `all`.
 */
export async function suppress(
  tx: Tx,
  accountId: string,
  given: NewSuppression,
  now: number,
): Promise<boolean> {
  const changed = await tx
    .insertInto('suppressions')
    .values({
      account_id: accountId,
      address: addressKey(given.email),
      reason: given.reason,
      scope: given.scope ?? usualScope(given.reason),
      email_id: given.emailId ?? null,
      detail: given.detail ?? null,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'address', 'reason'])
        .doUpdateSet({ scope: 'all' })
        .where('excluded.scope', '=', 'all')
        .where('suppressions.scope', '<>', 'all'),
    )
    .returning('address')
    .execute()
  return changed.length > 0
}

/**
 * Takes back what was recorded for these reasons (default: all of them); resolves with how many
 * records that were. Only on somebody's word: the recipient's own, or an operator's.
 */
export async function lift(
  tx: Tx,
  accountId: string,
  email: string,
  reasons: readonly SuppressionReason[] = suppressionReasons,
): Promise<number> {
  const lifted = await tx
    .deleteFrom('suppressions')
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(email))
    .where('reason', 'in', reasons)
    .returning('reason')
    .execute()
  return lifted.length
}

/** How addresses are compared. */
export const addressKey = (email: string) => email.toLowerCase()

/** decisions.md, 'Sending': a bounce or complaint blocks everything, an unsubscribe marketing only. */
export const usualScope = (reason: SuppressionReason): SuppressionScope =>
  reason === 'unsubscribe' ? 'marketing' : 'all'
