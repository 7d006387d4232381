import { ApiError } from '../errors/index.js'
import type { AccountBilling } from './billing.js'

export type MailType = 'transactional' | 'marketing'

/** Throws when an account in this state may not send mail of this type at all. */
export function checkSending(billing: AccountBilling, type: MailType): void {
  checkOpen(billing)
  if (billing.paused !== null) {
    throw new ApiError('account_paused', pausedMessage('All sending is', billing.paused), {
      status: 503,
      fields: { reason: billing.paused },
    })
  }
  if (type === 'transactional') return
  if (billing.marketingPlan === null) {
    const message = 'Marketing mail needs a marketing plan'
    throw new ApiError('marketing_subscription_required', message, {
      fields: { upgrade: 'marketing' },
    })
  }
  if (billing.marketingPaused !== null) {
    throw new ApiError('account_paused', pausedMessage('Marketing is', billing.marketingPaused))
  }
}

/** Throws when an account in this state may do nothing but look: it is suspended, or has ended. */
export function checkOpen({ suspended, state }: AccountBilling): void {
  if (suspended !== null) throw new ApiError('account_suspended', suspendedMessage)
  if (state === 'expired') {
    throw new ApiError('subscription_expired', 'The subscription has ended; renew it to go on')
  }
}

/** Throws when nothing may be added (contacts, domains, keys, team members, webhooks). */
export function checkAdding(billing: AccountBilling): void {
  checkOpen(billing)
  if (billing.state === 'past_due') {
    const message = 'The renewal failed: nothing can be added until it is paid; sending goes on'
    throw new ApiError('subscription_past_due', message)
  }
}

/** Why marketing mail that was accepted does not leave now, in words for the account; or null. */
export function marketingStop({
  suspended,
  paused,
  marketingPaused,
}: AccountBilling): string | null {
  if (suspended !== null) return suspendedMessage
  if (paused !== null) return pausedMessage('All sending is', paused)
  return marketingPaused && pausedMessage('Marketing is', marketingPaused)
}

// The reason is the operator's note, not the client's business.
export const suspendedMessage = 'The account is suspended; contact the operator'

export const pausedMessage = (what: string, reason: 'bounce' | 'complaint') =>
  `${what} paused because of ${reason}s. The operator has to clear it`
