import { giveBack } from '../billing/index.js'
import { cancelDeliveries } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
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
    if (email === undefined) throw new ApiError('not_found', 'No such email')
    // Checked inside the write: a claim, which makes it `sending`, is a write too.
    if (email.status !== 'scheduled') {
      const message = `Only a scheduled email can be cancelled; this one is ${email.status}`
      throw new ApiError('validation_error', message)
    }
    const cancelled = await cancelDeliveries(tx, emailId, clock.now())
    await giveBack(tx, accountId, cancelled, email.created_at)
    return cancelled
  })
  backlog.change(-ended)
}
