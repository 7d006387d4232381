import { ApiError } from '../errors/index.js'
import { prepared, type Read, type SubscriptionRow } from '../store/index.js'
import type { AccountBilling, PauseReason } from './billing.js'

/** Why an account's mail of this type does not leave now, as a sentence; undefined when it may. */
export async function stoppedBy(
  read: Read,
  accountId: string,
  type: MailType,
): Promise<string | undefined> {
  const stop = await stopOf(read, accountId, type)
  if (stop === undefined) return undefined
  if (stop.kind === 'suspended') return `The account is suspended: ${stop.note}`
  const what = stop.kind === 'paused' ? 'The account' : "The account's marketing mail"
  return `${what} is paused because of ${stop.reason}s`
}

/** Why mail does not leave, in words for the account itself, which an operator's note does not concern. */
export async function stoppedForClient(
  read: Read,
  accountId: string,
  type: MailType,
): Promise<string | undefined> {
  const stop = await stopOf(read, accountId, type)
  if (stop === undefined) return undefined
  if (stop.kind === 'suspended') return suspendedMessage
  return pausedMessage(stop.kind === 'paused' ? 'All sending is' : 'Marketing is', stop.reason)
}

/** What stops an account's mail, with what is known of why. */
type Stop =
  | { kind: 'suspended'; note: string }
  | { kind: 'paused' | 'marketing paused'; reason: PauseReason }

/** The gravest reason first. */
async function stopOf(read: Read, accountId: string, type: MailType): Promise<Stop | undefined> {
  const [row] = await stopsOf(read, { accountId })
  if (row === undefined) return undefined
  if (row.suspended_reason !== null) return { kind: 'suspended', note: row.suspended_reason }
  if (row.paused !== null) return { kind: 'paused', reason: row.paused }
  if (type === 'transactional' || row.marketing_paused === null) return undefined
  return { kind: 'marketing paused', reason: row.marketing_paused }
}

/** The accounts whose mail does not leave now: `all` of it, or all that is not transactional. */
export async function stoppedAccounts(read: Read): Promise<{ all: string[]; marketing: string[] }> {
  const rows = await read
    .selectFrom('subscriptions')
    .select(['account_id', 'suspended_reason', 'paused'])
    .where(({ eb, or }) =>
      or([
        eb('suspended_reason', 'is not', null),
        eb('paused', 'is not', null),
        eb('marketing_paused', 'is not', null),
      ]),
    )
    .execute()
  const isWhole = ({ suspended_reason, paused }: (typeof rows)[number]) =>
    suspended_reason !== null || paused !== null
  return {
    all: rows.filter(isWhole).map((row) => row.account_id),
    marketing: rows.filter((row) => !isWhole(row)).map((row) => row.account_id),
  }
}

/** What account protection, or an operator, has paused. */
export async function pausesOf(
  read: Read,
  accountId: string,
): Promise<{ paused: PauseReason | null; marketingPaused: PauseReason | null }> {
  const [row] = await stopsOf(read, { accountId })
  return { paused: row?.paused ?? null, marketingPaused: row?.marketing_paused ?? null }
}

type Stops = Pick<SubscriptionRow, 'suspended_reason' | 'paused' | 'marketing_paused'>

/** By the primary key: it is asked before mail leaves. */
const stopsOf = prepared<{ accountId: string }, Stops>((db, { accountId }) =>
  db
    .selectFrom('subscriptions')
    .select(['suspended_reason', 'paused', 'marketing_paused'])
    .where('account_id', '=', accountId),
)

/** Transactional mail goes on when only marketing is stopped. */
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

/** Throws when an account in this state may only look: it is suspended, or has ended. */
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

// The reason is the operator's note, which does not concern the client.
export const suspendedMessage = 'The account is suspended; contact the operator'

/** Why mail is refused, in the words of the contract; only the operator can clear a pause. */
export const pausedMessage = (what: string, reason: 'bounce' | 'complaint') =>
  `${what} paused because of ${reason}s. The operator has to clear it`
