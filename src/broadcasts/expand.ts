import { isRecent, pause } from '../clock/index.js'
import type { Backlog, StreamDue } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { holdsPart } from '../nodes/index.js'
import { queueClass, type Store } from '../store/index.js'
import type { Renderer } from '../templates/index.js'
import { type Broadcast, type BroadcastDeps, isUnfinished, ofFreeAccounts } from './broadcast.js'
import { decideOrWait } from './decide.js'
import { dispatchDue, dueBroadcasts } from './dispatch-campaign.js'
import { pauseAtCap, pauseAtFault, pauseWithout } from './fault.js'
import type { RetryAges } from './new-mails.js'
import { endOfAudience, makeOwnTime } from './own-time.js'
import { aheadMs, keepWaiting, turnOf } from './pace.js'
import { laterSlice, readSlice } from './read-slice.js'
import { makeSubjects, type Subjects } from './subjects.js'
import { endOfTest, makePart, variantsOf } from './variant.js'
import { type BroadcastSlice, makeWriteSlice, type WriteSlice } from './write-slice.js'

export interface ExpandDeps extends Pick<BroadcastDeps, 'store' | 'clock' | 'plans'> {
  log: Log
  backlog: Backlog
  /** How many deliveries may wait at once. */
  maxQueued: number
  retry: RetryAges
  ring: (due: readonly StreamDue[]) => void
  renderer: Renderer
}

/** With what one call of `expandBroadcasts` remembers. */
interface Expanding extends ExpandDeps {
  subjects: Subjects
  write: WriteSlice
  /** How many mails of a campaign had left, and when that was looked at. */
  left: Map<string, { mails: number; at: number; perMinute: number }>
}

// How many mails one write makes: some milliseconds of the turn to write.
const perWrite = 100
const writesPerTurn = 5
const perTurn = perWrite * writesPerTurn
const fullPauseMs = 1_000
// For how long the departures of a campaign's mails are counted.
const watchedMs = 10_000
// How often a segment that is filled again is looked at.
const refilledMs = 5_000

/**
 * Dispatches what is due, then makes the mails of all sending campaigns, in turn, until nothing is left to do or
 * `signal` is aborted. After a kill at any point the next call continues: the cursor moves in the transaction that
 * writes the mails before it. A campaign with a fault of its own is paused with that, and the others go on. Rejects
 * while the storage fails.
 */
export async function expandBroadcasts(given: ExpandDeps, signal: AbortSignal): Promise<void> {
  const deps: Expanding = {
    ...given,
    subjects: makeSubjects(given),
    write: makeWriteSlice(given),
    left: new Map(),
  }
  const { clock, backlog, maxQueued } = deps
  await dispatchDue(deps)
  /** Campaigns that can be neither expanded nor paused. */
  const skipped = new Set<string>()
  while (!signal.aborted) {
    const found = await unexpanded(deps.store, clock.now())
    const unfinished = found.filter(({ id }) => !skipped.has(id))
    if (unfinished.length === 0) return
    let isIdle = true
    for (const broadcast of unfinished) {
      if (signal.aborted) return
      // A campaign must neither crowd out accepted mail nor fill the disk.
      if (!hasRoomForCampaigns(backlog, maxQueued)) continue
      const turn = await expandOrPause(deps, broadcast)
      if (turn === 'broken') skipped.add(broadcast.id)
      if (turn !== 'waits') isIdle = false
    }
    if (isIdle) await pause(clock, fullPauseMs, signal)
  }
}

/** Whether mails of campaigns may be made now: neither the queue nor the disk is full. */
export const hasRoomForCampaigns = (backlog: Pick<Backlog, 'left'>, maxQueued: number): boolean =>
  backlog.left(maxQueued) >= Math.min(perTurn, maxQueued)

/** Whether `expandBroadcasts` would find something to do. */
export async function campaignsWait({
  store,
  clock,
}: Pick<ExpandDeps, 'store' | 'clock'>): Promise<boolean> {
  const now = clock.now()
  const waiting = [...(await unexpanded(store, now)), ...(await dueBroadcasts(store, now))]
  return waiting.length > 0
}

/** When `campaignsWait` will next hold, as long as nobody commits; undefined: not at all. */
export async function campaignsDueAt(
  deps: Pick<ExpandDeps, 'store' | 'clock'>,
): Promise<number | undefined> {
  const now = deps.clock.now()
  if (await campaignsWait(deps)) return now
  // A campaign that is due and not worked on belongs to a stopped account; lifting the stop is a commit.
  const next = await deps.store.read
    .selectFrom('broadcasts')
    .select(({ fn }) => fn.min<number | null>(fn.coalesce('next_at', 'scheduled_at')).as('at'))
    .where(isUnfinished)
    .where(({ fn, eb }) => eb(fn.coalesce('next_at', 'scheduled_at'), '>', now))
    .executeTakeFirst()
  return next?.at ?? undefined
}

/**
 * Campaigns whose mails must be made now and here, except those of stopped accounts. A last look that lies in the
 * future shows that the clock was set back.
 */
async function unexpanded(
  { read, node }: Pick<Store, 'read' | 'node'>,
  now: number,
): Promise<Broadcast[]> {
  const sending = await read
    .selectFrom('broadcasts')
    .selectAll()
    .where(isUnfinished)
    .where('status', '=', 'sending')
    .where('expanded', '=', 0)
    .where(({ or, eb }) =>
      or([
        eb('next_at', 'is', null),
        eb('next_at', '<=', now),
        eb('expanded_at', '>', now + aheadMs),
      ]),
    )
    .orderBy('expanded_at')
    .execute()
  const ours = sending.filter(({ id }) => holdsPart(node, 'expand', id))
  return await ofFreeAccounts(read, ours)
}

/**
 * The result of a campaign's turn: it has gone on, is paused or has stored when it goes on; it can do neither; or it
 * has to wait.
 */
type TurnEnd = 'done' | 'broken' | 'waits'

async function expandOrPause(deps: Expanding, broadcast: Broadcast): Promise<TurnEnd> {
  const paused = (isPaused: boolean) => (isPaused ? 'done' : 'broken')
  try {
    return await expandSome(deps, broadcast)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'plan_limit_exceeded') {
      return paused(await pauseAtCap(deps, broadcast, error))
    }
    if (error instanceof ApiError && error.code === 'not_found') {
      return paused(await pauseWithout(deps, broadcast, error))
    }
    return paused(await pauseAtFault(deps, broadcast, 'its mails could not be made', error))
  }
}

/** A campaign's turn: it reads on while the mails before are being written to the disk. */
async function expandSome(deps: Expanding, broadcast: Broadcast): Promise<TurnEnd> {
  const { store, clock } = deps
  const now = clock.now()
  if (broadcast.cursor === endOfTest) {
    await decideOrWait(deps, broadcast)
    return 'done'
  }
  const turn = turnOf(broadcast, now, leavingPerMinute(deps, broadcast, now))
  if (turn.most === 0) {
    if (turn.waits === undefined) return 'waits'
    await keepWaiting({ store, now }, broadcast, turn.waits)
    return 'done'
  }
  const writes: Promise<void>[] = []
  const ownTime = makeOwnTime(broadcast)
  const part =
    broadcast.variant_test === null
      ? undefined
      : makePart(broadcast, await variantsOf(store.read, broadcast.id))
  let { cursor } = broadcast
  let made = 0
  for (let done = false; !done && made < turn.most && writes.length < writesPerTurn; ) {
    const limit = Math.min(perWrite, turn.most - made)
    const of = { before: cursor, limit, made, turn, ownTime, part, now }
    const slice = await (cursor === endOfAudience ? laterSlice : readSlice)(deps, broadcast, of)
    if (typeof slice === 'string') {
      await Promise.all(writes)
      await keepWaiting({ store, now }, broadcast, { nextAt: now + refilledMs, reason: slice })
      return 'done'
    }
    const write = writeSlice(deps, { broadcast, slice })
    // The write's fault is handled below.
    write.catch(() => {})
    writes.push(write)
    made += slice.mails.length
    cursor = slice.after
    done = slice.done || cursor === endOfAudience || cursor === endOfTest
  }
  await Promise.all(writes)
  return 'done'
}

/** How many mails of a campaign leave in a minute, as far as that was counted. */
function leavingPerMinute({ left }: Expanding, broadcast: Broadcast, now: number): number {
  const { id, recipients, waiting } = broadcast
  const mails = recipients - waiting
  const before = left.get(id)
  if (before && isRecent(before.at, now, watchedMs)) return before.perMinute
  const share = before ? aheadMs / Math.max(1, now - before.at) : 0
  const perMinute = before ? Math.max(0, mails - before.mails) * share : 0
  left.set(id, { mails, at: now, perMinute })
  return perMinute
}

/**
 * The cursor moves in the same transaction as the mails are inserted (`write-slice.ts`): a kill at
 * any moment leaves no contact out and mails none twice.
 */
async function writeSlice(
  { backlog, ring, write }: Expanding,
  { broadcast, slice }: BroadcastSlice,
): Promise<void> {
  if (!(await write({ broadcast, slice }))) return
  const { mails } = slice
  backlog.change(mails.length)
  const lanes = new Map<string, number>()
  for (const { mailbox, leavesAt } of mails) {
    lanes.set(mailbox.domain, Math.min(leavesAt, lanes.get(mailbox.domain) ?? leavesAt))
  }
  const due = { class: queueClass.campaign, accountId: broadcast.account_id }
  ring([...lanes].map(([lane, dueAt]) => ({ ...due, lane, dueAt })))
}
