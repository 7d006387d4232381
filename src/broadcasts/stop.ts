import { giveBackCampaignMails } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { cancelWaiting, changeFitting, hold, release } from '../deliveries/index.js'
import { ApiError, OperatorError } from '../errors/index.js'
import type { Store, Tx } from '../store/index.js'
import { type Broadcast, type BroadcastStatus, findBroadcast } from './broadcast.js'
import { endIfDone } from './follow.js'

interface StopDeps {
  store: Store
  clock: Clock
}

/** Cancels a draft or a scheduled campaign; throws a 409 for any other. `alongside` is written with it. */
export async function cancelBroadcast(
  deps: StopDeps,
  accountId: string,
  id: string,
  alongside: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  await deps.store.write(async (tx) => {
    const { status, sent_at } = await findBroadcast(tx, accountId, id)
    // A scheduled one that was paused before its time has sent nothing either.
    const begun = status !== 'paused' || sent_at !== null
    if (status !== 'draft' && status !== 'scheduled' && begun) {
      throw new ApiError('conflict', cannotCancel[status])
    }
    await setStatus(tx, id, { status: 'cancelled', ended_at: deps.clock.now() })
    await alongside(tx)
  })
}

const cannotCancel: Record<Exclude<BroadcastStatus, 'draft' | 'scheduled'>, string> = {
  sending: 'The campaign is sending and cannot be cancelled',
  paused: 'The campaign has begun and is paused; only the operator can cancel it',
  sent: 'The campaign is sent already',
  cancelled: 'The campaign is cancelled already',
  failed: 'The campaign has failed; there is nothing to cancel',
}

const heldReason = (id: string) => `campaign ${id} is paused`

/**
 * The operator's pause: no more mails are made, and those that wait are held, the next to leave
 * first; what is under way at this moment still leaves. Again, it holds what it could not hold before.
 */
export async function pauseBroadcast(
  deps: StopDeps,
  { account_id, id }: Broadcast,
  { reason, onProgress }: { reason: string; onProgress?: ((seen: number) => void) | undefined },
): Promise<{ held: number; inFlight: number }> {
  await deps.store.write(async (tx) => {
    const { status } = await findBroadcast(tx, account_id, id)
    if (status !== 'sending' && status !== 'paused' && status !== 'scheduled') {
      throw new OperatorError(`A campaign that is ${status} cannot be paused`)
    }
    await setStatus(tx, id, { status: 'paused', reason })
  })
  const { changed, inFlight } = await changeFitting(
    deps,
    { broadcastId: id, held: false },
    (tx, ids, now) => hold(tx, ids, { reason: heldReason(id), now }),
    onProgress,
  )
  return { held: changed, inFlight }
}

/** Lets a paused campaign go on: what was scheduled and is overdue is dispatched at once. */
export async function resumeBroadcast(
  deps: StopDeps,
  { account_id, id }: Broadcast,
  onProgress?: (seen: number) => void,
): Promise<{ released: number }> {
  await deps.store.write(async (tx) => {
    const { status, sent_at } = await findBroadcast(tx, account_id, id)
    // Sending: a resume that was broken off.
    if (status !== 'paused' && status !== 'sending') {
      throw new OperatorError(`A campaign that is ${status} cannot be resumed`)
    }
    await setStatus(tx, id, { status: sent_at === null ? 'scheduled' : 'sending', reason: null })
    await endIfDone(tx, id, deps.clock.now())
  })
  const { changed } = await changeFitting(
    deps,
    { broadcastId: id, held: true, heldReason: heldReason(id) },
    (tx, ids, now) => release(tx, ids, { now }),
    onProgress,
  )
  return { released: changed }
}

/** The operator's cancel: also of a campaign that is sending. What has not left never will. */
export async function stopBroadcast(
  deps: StopDeps,
  { account_id, id }: Broadcast,
  onProgress?: (seen: number) => void,
): Promise<{ cancelled: number; inFlight: number }> {
  await deps.store.write(async (tx) => {
    const { status, expanded, sent_at, ...before } = await findBroadcast(tx, account_id, id)
    if (status === 'sent' || status === 'failed') {
      throw new OperatorError(`A campaign that is ${status} cannot be cancelled`)
    }
    const now = deps.clock.now()
    if (sent_at !== null && expanded === 0) {
      const unused = before.audience - before.recipients
      await giveBackCampaignMails(tx, account_id, unused, sent_at)
    }
    await setStatus(tx, id, { status: 'cancelled', expanded: 1, ended_at: now })
  })
  const { changed, inFlight } = await changeFitting(
    deps,
    { broadcastId: id },
    async (tx, ids, now) => {
      const changes = await cancelWaiting(tx, ids, now)
      await tx
        .updateTable('broadcasts')
        .set((eb) => ({
          waiting: eb('waiting', '-', changes.changed),
          cancelled: eb('cancelled', '+', changes.changed),
        }))
        .where('id', '=', id)
        .execute()
      return changes
    },
    onProgress,
  )
  return { cancelled: changed, inFlight }
}

type Change = Partial<
  Pick<Broadcast, 'reason' | 'ended_at' | 'expanded'> & { status: BroadcastStatus }
>

const setStatus = async (tx: Tx, id: string, change: Change) =>
  await tx.updateTable('broadcasts').set(change).where('id', '=', id).execute()
