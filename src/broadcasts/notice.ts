import { dayMs, isRecent, utcTime } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Read, Store } from '../store/index.js'
import { type Broadcast, findBroadcast } from './broadcast.js'
import { beginOf } from './own-time.js'

/*
 * A notice is a campaign that everybody must get: new terms, a breach. People who have unsubscribed or left a topic get
 * it too, and it has no way to unsubscribe. People whose address bounced or who complained get nothing. An owner makes
 * a draft a notice, in the dashboard, and says why; one leaves a day.
 */

/** The kind of its mails, which decides whom they reach: those of a notice are transactional. */
export const mailTypeOf = ({
  notice_reason,
}: Pick<Broadcast, 'notice_reason'>): 'transactional' | 'marketing' =>
  notice_reason === null ? 'marketing' : 'transactional'

/**
 * Makes a draft a notice for this reason, or, without one, a newsletter again. A notice has no topic. Throws a 400 for
 * an empty reason, a 409 for a campaign that is no draft.
 */
export async function makeNotice(
  { store }: { store: Pick<Store, 'write'> },
  accountId: string,
  id: string,
  reason: string | null,
): Promise<Broadcast> {
  const why = reason?.trim() ?? null
  if (why !== null && ([...why].length < leastReason || [...why].length > mostReason)) {
    const message = `Say in ${leastReason} to ${mostReason} characters why everybody must get it`
    throw new ApiError('validation_error', message, { fields: { field: 'reason' } })
  }
  return await store.write(async (tx) => {
    const { status, topic_id, revision } = await findBroadcast(tx, accountId, id)
    if (status !== 'draft') {
      throw new ApiError('conflict', `Only a draft can become a notice; this campaign is ${status}`)
    }
    await tx
      .updateTable('broadcasts')
      .set({
        notice_reason: why,
        topic_id: why === null ? topic_id : null,
        revision: revision + 1,
      })
      .where('id', '=', id)
      .execute()
    return await findBroadcast(tx, accountId, id)
  })
}

const leastReason = 10
const mostReason = 300

/**
 * Throws a 403 for a notice that no owner sends, and a 409 where another notice of the account leaves within a day of
 * `at` (ms). At its dispatch only notices that have left count.
 */
export async function refuseNotice(
  read: Read,
  { account_id, id, notice_reason }: Broadcast,
  {
    at,
    byOwner = true,
    isDispatch = false,
  }: { at: number; byOwner?: boolean; isDispatch?: boolean },
): Promise<void> {
  if (notice_reason === null) return
  if (!byOwner) {
    const message =
      'A notice that everybody must get is sent by an owner of the account, in the dashboard'
    throw new ApiError('forbidden', message)
  }
  const others = await read
    .selectFrom('broadcasts')
    .select(['scheduled_at', 'next_at', 'sent_at as sentAt'])
    .where('account_id', '=', account_id)
    .where('notice_reason', 'is not', null)
    // A cancelled or failed one may have left before.
    .where(({ or, eb }) =>
      or([
        eb('sent_at', 'is not', null),
        ...(isDispatch ? [] : [eb('status', 'in', ['scheduled', 'paused'])]),
      ]),
    )
    .where('id', '<>', id)
    .orderBy('id', 'desc')
    .limit(mostLooked)
    .execute()
  for (const { sentAt, ...planned } of others) {
    const leaves = sentAt ?? beginOf(planned) ?? at
    if (!isRecent(leaves, at, dayMs)) continue
    const message = `One notice leaves a day, and another one does on ${utcTime(leaves)}: the next may leave from ${utcTime(leaves + dayMs)} on`
    throw new ApiError('conflict', message)
  }
}

// The notices of the days around are among these: one leaves a day, and few are planned ahead.
const mostLooked = 100
