import { type AccountBilling, countCampaignMails } from '../billing/index.js'
import { ApiError, messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { holdsPart } from '../nodes/index.js'
import type { Store, Tx } from '../store/index.js'
import { reachableNow } from './audience.js'
import {
  type Broadcast,
  type BroadcastDeps,
  findBroadcast,
  isUnfinished,
  ofFreeAccounts,
} from './broadcast.js'
import type { AudienceCount } from './count-audience.js'
import { pauseAtFault, pauseForAccount, pauseWithout } from './fault.js'
import { judgeDraft, refuseUnlessDraft } from './judge-draft.js'
import { refuseNotice } from './notice.js'
import { firstTime } from './own-time.js'
import { hoursToCome, untilHours } from './pace.js'
import { audienceOf, type CampaignStanding, checkStanding } from './standing.js'
import { awaitSegments } from './up-to-date.js'
import { refuseSmallTest, variantsOf, variantTestOf } from './variant.js'

/**
 * Begins a campaign's dispatch: its mails count from now on, and it is expanded. Throws a 402 when
 * the plan has no room for them.
 */
export async function begin(
  tx: Tx,
  { billing, domainId }: CampaignStanding,
  id: string,
  { counts, now }: { counts: AudienceCount; now: number },
): Promise<void> {
  const audience = counts.reachable
  await countCampaignMails(tx, billing, audience, now)
  const times = { sent_at: now, expanded_at: now, next_at: null }
  const begun = { status: 'sending', reason: null, ...times } as const
  await tx
    .updateTable('broadcasts')
    .set({ ...begun, audience, counts: JSON.stringify(counts), domain_id: domainId })
    .where('id', '=', id)
    .execute()
}

/**
 * Dispatches a draft, or schedules one with a future time; throws as `createBroadcast` does, and a 409 for a campaign
 * that is no draft. `alongside` is written in the same transaction.
 */
export async function sendDraft(
  deps: Pick<BroadcastDeps, 'store' | 'clock' | 'plans' | 'expand'>,
  billing: AccountBilling,
  id: string,
  alongside: (tx: Tx, sent: Broadcast) => Promise<void> = async () => {},
  { notBefore = 0, revision, byOwner = false }: SendOptions = {},
): Promise<Broadcast> {
  const { store, clock } = deps
  const { accountId } = billing
  const { draft, counts, waits } = await judgeDraft(deps, accountId, id)
  if (revision !== undefined && revision !== draft.revision) {
    throw new ApiError('conflict', changedSince)
  }
  const now = clock.now()
  const { scheduled_at: given, local_zone: zone } = draft
  const at = Math.max(given === null ? 0 : firstTime(given, zone), notBefore)
  const isDue = at <= now
  const begins = isDue ? now : at
  // No mail can be made before its hours: until then it is scheduled, and can be taken back.
  const opens = hoursToCome(draft, begins)
  const sent = await store.write(async (tx) => {
    // Another request may have sent or changed it since it was checked.
    const found = await findBroadcast(tx, accountId, id)
    refuseUnlessDraft(found)
    if (changed(draft, found)) throw new ApiError('conflict', changedMeanwhile)
    await refuseNotice(tx, found, { at: opens ?? begins, byOwner })
    const standing = await checkStanding(tx, deps, draft)
    if (isDue && !waits && opens === undefined) await begin(tx, standing, draft.id, { counts, now })
    else {
      // It must not begin before its segments are up to date: until then it is scheduled for now.
      const scheduled = {
        status: 'scheduled',
        audience: counts.reachable,
        counts: JSON.stringify(counts),
        ...(zone === null ? { scheduled_at: begins } : { next_at: begins }),
        ...(opens !== undefined && untilHours(opens)),
      } as const
      await tx.updateTable('broadcasts').set(scheduled).where('id', '=', draft.id).execute()
    }
    const after = await findBroadcast(tx, accountId, id)
    await alongside(tx, after)
    return after
  })
  if (sent.status === 'sending') deps.expand()
  return sent
}

interface SendOptions {
  /** It is scheduled for this time at the earliest, so that it can be taken back until then. */
  notBefore?: number | undefined
  /** The revision that somebody looked at: a 409 where the draft was changed since. */
  revision?: number | undefined
  /** An owner of the account, or the operator, sends it: they may send a notice. */
  byOwner?: boolean | undefined
}

const changedSince =
  'The draft was changed since you looked at it here, by you on its own page or by somebody else: look at what is said above, then send it'
const changedMeanwhile = 'The draft was changed at the same moment: read it again, then send it'

// Compares what it was judged by; its content was checked with the change.
const changed = (judged: Broadcast, found: Broadcast) =>
  (
    [
      'list_id',
      'whom',
      'topic_id',
      'from_header',
      'scheduled_at',
      'local_zone',
      'revision',
    ] as const
  ).some((column) => judged[column] !== found[column])

type DispatchDeps = Pick<BroadcastDeps, 'store' | 'clock' | 'plans'> & { log: Log }

/**
 * Dispatches what is scheduled and due, to the people whom it reaches now. A campaign that can never be sent fails and
 * says why. One of a paused or suspended account waits. One with a fault of its own is paused with that as its reason.
 * Rejects while the storage fails.
 */
export async function dispatchDue(deps: DispatchDeps): Promise<void> {
  const { store, clock } = deps
  for (const broadcast of await dueBroadcasts(store, clock.now())) {
    try {
      await dispatchOne(deps, broadcast)
    } catch (error) {
      await pauseAtFault(deps, broadcast, 'it could not be dispatched', error)
    }
  }
}

/**
 * Dispatches a scheduled campaign at its time. The account may have lost its plan or been paused
 * since; then the campaign waits or fails with that reason, and nobody gets half of it.
 */
async function dispatchOne(deps: DispatchDeps, broadcast: Broadcast): Promise<void> {
  const { store, clock } = deps
  const { id, account_id: accountId } = broadcast
  try {
    await checkStanding(store.read, deps, broadcast)
    const opens = hoursToCome(broadcast, clock.now())
    if (opens !== undefined) {
      await awaitHours(store, broadcast, opens)
      return
    }
    if (!(await awaitSegments(deps, broadcast))) return
    const counts = await reachableNow(store.read, audienceOf(broadcast))
    if (await pauseSmallTest(deps, broadcast, counts.reachable)) return
    await store.write(async (tx) => {
      const { status } = await findBroadcast(tx, accountId, id)
      if (status !== 'scheduled') return
      const standing = await checkStanding(tx, deps, broadcast)
      await refuseNotice(tx, broadcast, { at: clock.now(), isDispatch: true })
      await begin(tx, standing, id, { counts, now: clock.now() })
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The account was stopped after the campaign was found: it waits like the account's others.
    if (error.code === 'account_paused' || error.code === 'account_suspended') return
    if (error.status >= 500) throw error
    // One of its lists, segments or topics was deleted: the account takes it back to change it, or cancels it.
    if (error.code === 'not_found') {
      await pauseWithout(deps, broadcast, error)
      return
    }
    const failed = { status: 'failed', reason: messageOf(error), ended_at: clock.now() } as const
    await store.write((tx) =>
      tx
        .updateTable('broadcasts')
        .set(failed)
        .where('id', '=', id)
        .where('status', '=', 'scheduled')
        .execute(),
    )
  }
}

/** Makes a due campaign wait for its hours; not where somebody has changed or stopped it meanwhile. */
async function awaitHours(
  store: Pick<Store, 'write'>,
  { id, send_window }: Broadcast,
  opens: number,
): Promise<void> {
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set(untilHours(opens))
      .where('id', '=', id)
      .where('status', '=', 'scheduled')
      .where('send_window', '=', send_window)
      .execute(),
  )
}

/** Pauses a campaign whose audience has become too small for the test of its versions. Resolves with whether it has. */
async function pauseSmallTest(
  deps: DispatchDeps,
  broadcast: Broadcast,
  audience: number,
): Promise<boolean> {
  if (broadcast.variant_test === null) return false
  const variants = await variantsOf(deps.store.read, broadcast.id)
  try {
    refuseSmallTest(variantTestOf(broadcast), variants.length, audience)
    return false
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await pauseForAccount(deps, broadcast, `${error.message}. Take it back to change its test`)
    return true
  }
}

/** What is scheduled and due, of accounts that may send, the longest due first. */
export async function dueBroadcasts(
  { read, node }: Pick<Store, 'read' | 'node'>,
  now: number,
): Promise<Broadcast[]> {
  const due = await read
    .selectFrom('broadcasts')
    .selectAll()
    .where(isUnfinished)
    .where('status', '=', 'scheduled')
    .where(({ fn, eb }) => eb(fn.coalesce('next_at', 'scheduled_at'), '<=', now))
    .orderBy('scheduled_at')
    .execute()
  const ours = due.filter(({ id }) => holdsPart(node, 'expand', id))
  return await ofFreeAccounts(read, ours)
}
