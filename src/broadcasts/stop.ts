import { giveBackCampaignMails } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { ApiError, OperatorError } from '../errors/index.js'
import type { Store, Tx } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import { type Broadcast, type BroadcastStatus, findBroadcast } from './broadcast.js'
import { beginCourse, type FollowOptions, followCourse } from './course.js'
import { endIfDone } from './follow.js'
import { opensFrom, paceOf, untilHours } from './pace.js'
import { requireWhom, whomOf } from './whom.js'
import { goneWords } from './whom-gone.js'

interface StopDeps {
  store: Store
  clock: Clock
}

/**
 * Cancels a draft or a scheduled campaign; throws a 409 for any other. `alongside` is written in the same transaction.
 */
export async function cancelBroadcast(
  deps: StopDeps,
  accountId: string,
  id: string,
  alongside: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  await deps.store.write(async (tx) => {
    const { status, ...now } = await findBroadcast(tx, accountId, id)
    if (status !== 'draft' && status !== 'scheduled' && (status !== 'paused' || hasBegun(now))) {
      throw new ApiError('conflict', cannotCancel[status])
    }
    await tx
      .updateTable('broadcasts')
      .set({ status: 'cancelled', reason: null, paused_by: null, ended_at: deps.clock.now() })
      .where('id', '=', id)
      .execute()
    await alongside(tx)
  })
}

/**
 * Cancels all mail of a campaign that has not left, also of one that has begun, whoever has paused it; throws a 409 for
 * one that is over. `alongside` is written in the same transaction.
 */
export async function cancelRest(
  deps: StopDeps,
  accountId: string,
  id: string,
  alongside?: (tx: Tx) => Promise<void>,
): Promise<void> {
  const found = await findBroadcast(deps.store.read, accountId, id)
  const { status } = found
  if (status === 'sent' || status === 'failed' || status === 'cancelled') {
    throw new ApiError('conflict', cannotCancel[status])
  }
  if (hasBegun(found)) await stopBroadcast(deps, found, { alongside })
  else await cancelBroadcast(deps, accountId, id, alongside)
}

/** A scheduled campaign that was paused before its time has sent nothing. */
const hasBegun = ({ sent_at }: Pick<Broadcast, 'sent_at'>) => sent_at !== null

/** For how long a campaign that was sent without a time can be taken back, where that is possible. */
export const takeBackMs = 60_000

/**
 * Makes a scheduled campaign of which nothing has left a draft again; its time stays. Throws a 409 for one that has
 * begun, is a draft, or is paused by the operator or for a fault.
 */
export async function takeBack(
  deps: StopDeps,
  accountId: string,
  id: string,
  alongside: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  await deps.store.write(async (tx) => {
    const { status, sent_at, paused_by, revision, scheduled_at } = await findBroadcast(
      tx,
      accountId,
      id,
    )
    const isOwnPause = status === 'paused' && sent_at === null && paused_by === 'account'
    if (status === 'paused' && !isOwnPause) {
      throw new ApiError('conflict', 'Only the operator can let this campaign go on')
    }
    if (status !== 'scheduled' && !isOwnPause) {
      throw new ApiError('conflict', `A campaign that is ${status} cannot be taken back`)
    }
    await tx
      .updateTable('broadcasts')
      .set({
        status: 'draft',
        reason: null,
        paused_by: null,
        marks_up_to: null,
        next_at: null,
        // Its time may only be that of the minute in which it could be taken back; then the draft has none.
        scheduled_at: (scheduled_at ?? 0) > deps.clock.now() + takeBackMs ? scheduled_at : null,
        // A page that was opened before must not send what somebody has taken back to change.
        revision: revision + 1,
      })
      .where('id', '=', id)
      .execute()
    await alongside(tx)
  })
}

/**
 * interface.md lets a draft or a scheduled campaign be cancelled; each other state has its own
 * sentence.
 */
const cannotCancel: Record<Exclude<BroadcastStatus, 'draft' | 'scheduled'>, string> = {
  sending: 'The campaign is sending and cannot be cancelled, but the rest of it can',
  paused: 'The campaign has begun and cannot be cancelled, but the rest of it can',
  sent: 'The campaign has already been sent',
  cancelled: 'The campaign has already been cancelled',
  failed: 'The campaign has failed; there is nothing to cancel',
}

/** The reason of a campaign that its account has paused by hand. */
export const pausedByAccount = 'paused by the account'

/** The account's own pause or resume; without this it is the operator's. */
interface ByAccount {
  byAccount?: boolean
  /** Written when all of its mail has followed. */
  alongside?: (tx: Tx) => Promise<void>
}

/**
 * Pauses a campaign: no more mails are made, and waiting ones are held, the next to leave first; mail under way at this
 * moment still leaves. Paused again, it holds what it could not hold before. Throws an OperatorError for a campaign
 * that cannot be paused; for the account a 409, also when the operator has paused it.
 */
export async function pauseBroadcast(
  deps: StopDeps,
  { account_id, id }: Pick<Broadcast, 'account_id' | 'id'>,
  how: ByAccount & {
    reason: string
    /** The reason is a fault of ours. */
    isFault?: true
    onProgress?: ((seen: number) => void) | undefined
  },
): Promise<{ held: number; inFlight: number }> {
  const { reason, isFault, onProgress, byAccount = false, alongside } = how
  const by = byAccount ? 'account' : isFault ? 'fault' : null
  const course = await deps.store.write(async (tx) => {
    const { status, paused_by } = await findBroadcast(tx, account_id, id)
    if (status !== 'sending' && status !== 'paused' && status !== 'scheduled') {
      throw refusalFor(byAccount, `A campaign that is ${status} cannot be paused`)
    }
    if (byAccount && status === 'paused' && paused_by !== 'account') throw operatorsPause()
    const paused = { status: 'paused', reason, paused_by: by } as const
    return await beginCourse(tx, id, paused, deps.clock.now())
  })
  const { changed, inFlight } = await followCourse(deps, course, { onProgress, alongside })
  return { held: changed, inFlight }
}

/**
 * Lets a paused campaign go on; a scheduled one that is overdue is dispatched at once. An account may resume only what
 * it has paused itself. Throws a 409 while its topic is archived, or where mails are still to be made for a deleted
 * list or segment.
 */
export async function resumeBroadcast(
  deps: StopDeps,
  { account_id, id }: Pick<Broadcast, 'account_id' | 'id'>,
  how: ByAccount & { onProgress?: ((seen: number) => void) | undefined } = {},
): Promise<{ released: number }> {
  const { onProgress, byAccount = false, alongside } = how
  const course = await deps.store.write(async (tx) => {
    const found = await findBroadcast(tx, account_id, id)
    const { status, sent_at, paused_by, topic_id } = found
    // A sending campaign may have a resume that was broken off.
    if (status !== 'paused' && status !== 'sending') {
      throw refusalFor(byAccount, `A campaign that is ${status} cannot be resumed`)
    }
    if (byAccount && status === 'paused' && paused_by !== 'account') throw operatorsPause()
    // Nothing can be sent on an archived topic.
    if (status === 'paused' && topic_id !== null) await findTopic(tx, account_id, topic_id)
    if (status === 'paused') await refuseWithoutAudience(tx, found)
    const resumed = sent_at === null ? 'scheduled' : 'sending'
    const now = deps.clock.now()
    const begun = { status: resumed, paused_by: null, ...waitsAgain(found) } as const
    const course = await beginCourse(tx, id, begun, now)
    await endIfDone(tx, id, now)
    return course
  })
  const { changed } = await followCourse(deps, course, { onProgress, alongside })
  return { released: changed }
}

/**
 * What a campaign that goes on waits for, in place of the reason of its pause: one that has begun is looked at again at
 * once, which tells; one that has not still waits for its hours.
 */
function waitsAgain(found: Broadcast): Pick<Broadcast, 'reason' | 'next_at'> {
  const { sent_at, next_at, local_zone: zone } = found
  if (sent_at !== null) return { reason: null, next_at: null }
  if (next_at === null || zone !== null) return { reason: null, next_at }
  return untilHours(opensFrom(paceOf(found), next_at))
}

/** With mails to make for an unknown audience it would be paused again at once. */
async function refuseWithoutAudience(tx: Tx, found: Broadcast): Promise<void> {
  if (found.expanded === 1) return
  try {
    await requireWhom(tx, found.account_id, whomOf(found))
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
    const advice = hasBegun(found) ? 'Cancel its rest' : 'Take it back to change its audience'
    const gone = (await goneWords(tx, found)) ?? error.message
    const message = `It cannot go on, as a list or segment of it is gone (${gone}). ${advice}`
    throw new ApiError('conflict', message)
  }
}

const refusalFor = (byAccount: boolean, message: string) =>
  byAccount ? new ApiError('conflict', message) : new OperatorError(message)

const operatorsPause = () =>
  new ApiError('conflict', 'The operator has paused the campaign, and only the operator resumes it')

/**
 * To how many people a campaign was never sent because its rest was cancelled: mails that waited, and mails that were
 * not made.
 */
export const neverSent = ({
  status,
  sent_at,
  cancelled,
  audience,
  recipients,
}: Pick<Broadcast, 'status' | 'sent_at' | 'cancelled' | 'audience' | 'recipients'>): number =>
  status === 'cancelled' && sent_at !== null ? cancelled + Math.max(0, audience - recipients) : 0

/** How many mails wait, and how many are not made yet; throws for a campaign that is over. */
export function leftToCancel(broadcast: Broadcast): { waiting: number; unmade: number } {
  const { status, waiting, expanded, audience, recipients } = broadcast
  if (status === 'sent' || status === 'failed') {
    throw new OperatorError(`A campaign that is ${status} cannot be cancelled`)
  }
  return { waiting, unmade: expanded === 0 ? Math.max(0, audience - recipients) : 0 }
}

/**
 * Ends a campaign, also a sending one: mail that has not left never will. Throws an OperatorError for one that is over.
 */
export async function stopBroadcast(
  deps: StopDeps,
  { account_id, id }: Broadcast,
  follow: FollowOptions = {},
): Promise<{ cancelled: number; inFlight: number }> {
  const course = await deps.store.write(async (tx) => {
    const found = await findBroadcast(tx, account_id, id)
    const { expanded, sent_at, ...before } = found
    leftToCancel(found)
    const now = deps.clock.now()
    if (sent_at !== null && expanded === 0) {
      const unused = before.audience - before.recipients
      await giveBackCampaignMails(tx, account_id, unused, sent_at)
    }
    // The campaign is no longer paused, whoever paused it and why.
    const over = { reason: null, paused_by: null } as const
    const ended = Object.assign({ status: 'cancelled', expanded: 1, ended_at: now } as const, over)
    return await beginCourse(tx, id, ended, now)
  })
  const { changed, inFlight } = await followCourse(deps, course, follow)
  return { cancelled: changed, inFlight }
}
