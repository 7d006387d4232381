import { giveBack } from '../billing/index.js'
import { isRecent } from '../clock/index.js'
import { cancelDeliveries, retry } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import { isTestId } from '../store/index.js'
import type { EmailDeps } from './deps.js'

/** Takes back an email that is still `scheduled`; refuses any other. */
export async function cancelScheduled(
  { store, clock, backlog }: Pick<EmailDeps, 'store' | 'clock' | 'backlog'>,
  accountId: string,
  emailId: string,
): Promise<void> {
  const ended = await store.write(async (tx) => {
    const email = await tx
      .selectFrom('emails')
      .select(['status', 'created_at'])
      .where('id', '=', emailId)
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    if (email === undefined)
      throw new ApiError('not_found', 'The account has no email with this id')
    // Checked inside the write: a claim, which makes it `sending`, is a write too.
    if (email.status !== 'scheduled') {
      const message = `Only a scheduled email can be cancelled; this one is ${email.status}`
      throw new ApiError('validation_error', message)
    }
    const cancelled = await cancelDeliveries(tx, emailId, clock.now())
    await giveBack(tx, accountId, cancelled, email.created_at, isTestId(emailId))
    return cancelled
  })
  backlog.change(-ended)
}

// Receivers that are tried repeatedly within a minute slow down the whole address.
const betweenMs = 60_000

/**
 * Makes a mail's deliveries that wait for another attempt due now; resolves with their number. Mail that was
 * never tried keeps its time, and held mail stays held. Throws a 404, or a 409 if nothing waits for another
 * attempt or the last one was less than a minute ago.
 */
export async function retryEmail(
  { store, clock, ring, ringOthers }: Pick<EmailDeps, 'store' | 'clock' | 'ring' | 'ringOthers'>,
  accountId: string,
  emailId: string,
): Promise<number> {
  const now = clock.now()
  const { changed, due } = await store.write(async (tx) => {
    const email = await tx
      .selectFrom('emails')
      .select('id')
      .where('id', '=', emailId)
      .where('account_id', '=', accountId)
      .executeTakeFirst()
    if (email === undefined)
      throw new ApiError('not_found', 'The account has no email with this id')
    const waiting = await tx
      .selectFrom('queue')
      .select(['id', 'lane', 'class', 'node', 'last_attempt_at as triedAt'])
      .where('email_id', '=', emailId)
      .where('attempts', '>', 0)
      .where('held_at', 'is', null)
      .execute()
    const rested = waiting.filter(({ triedAt }) => !isRecent(triedAt ?? 0, now, betweenMs))
    if (waiting.length > 0 && rested.length === 0) {
      throw new ApiError('conflict', 'The last attempt was less than a minute ago; wait a little')
    }
    const ids = rested.map(({ id }) => id)
    const { changed } = await retry(tx, ids, { now })
    return { changed, due: rested.map((one) => ({ ...one, accountId, dueAt: now })) }
  })
  if (changed === 0) {
    throw new ApiError('conflict', 'No delivery of this email waits for another attempt')
  }
  const streams = (isOurs: boolean) =>
    due
      .filter(({ node }) => (node === store.node.number) === isOurs)
      .map(({ lane, class: of, dueAt }) => ({ lane, class: of, accountId, dueAt }))
  ring(streams(true))
  ringOthers?.(streams(false))
  return changed
}
