import { pause } from '../clock/index.js'
import type { Backlog, StreamDue } from '../deliveries/index.js'
import { ApiError, messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { parseMailbox } from '../mime/index.js'
import { isPassing, queueClass, type Read } from '../store/index.js'
import type { Renderer } from '../templates/index.js'
import { nextOfAudience } from './audience.js'
import { type Broadcast, type BroadcastDeps, isUnfinished, ofFreeAccounts } from './broadcast.js'
import { audienceOf, dispatchDue, dueBroadcasts } from './dispatch-campaign.js'
import { pauseAtCap, pauseAtFault, pauseWithout } from './fault.js'
import type { NewMail, RetryAges } from './new-mails.js'
import { makeSubjects, type Subjects } from './subjects.js'
import { type BroadcastSlice, makeWriteSlice, type Slice, type WriteSlice } from './write-slice.js'

export interface ExpandDeps extends Pick<BroadcastDeps, 'store' | 'clock' | 'plans'> {
  log: Log
  backlog: Backlog
  /** Deliveries that may wait at once. */
  maxQueued: number
  retry: RetryAges
  ring: (due: readonly StreamDue[]) => void
  renderer: Renderer
}

/** With what lasts for a call of `expandBroadcasts`. */
interface Expanding extends ExpandDeps {
  subjects: Subjects
  write: WriteSlice
}

// Some milliseconds of the turn to write; what is read meanwhile shares the way to the disk.
const perWrite = 100
const writesPerTurn = 5
const perTurn = perWrite * writesPerTurn
const fullPauseMs = 1_000

/**
 * Dispatches what is due, then makes the mails of all campaigns that are sending, in turn, until there
 * is nothing left to do or `signal` is aborted. A kill at any point is made good by the next call: the
 * cursor moves in the transaction that writes the mails before it. A campaign that meets a fault of its
 * own is paused with that, and the others go on. Rejects while the storage fails.
 */
export async function expandBroadcasts(given: ExpandDeps, signal: AbortSignal): Promise<void> {
  const deps = { ...given, subjects: makeSubjects(given), write: makeWriteSlice(given) }
  const { clock, backlog, maxQueued } = deps
  await dispatchDue(deps)
  /** Those that can be neither expanded nor paused. */
  const skipped = new Set<string>()
  while (!signal.aborted) {
    const found = await unexpanded(deps.store.read)
    const unfinished = found.filter(({ id }) => !skipped.has(id))
    if (unfinished.length === 0) return
    for (const broadcast of unfinished) {
      if (signal.aborted) return
      // Mail that was accepted must not be crowded out, nor the disk be filled by a campaign alone.
      if (!hasRoomForCampaigns(backlog, maxQueued)) await pause(clock, fullPauseMs)
      else if (!(await expandOrPause(deps, broadcast))) skipped.add(broadcast.id)
    }
  }
}

/** Whether mails of campaigns may be made now: neither the queue nor the disk is full. */
export const hasRoomForCampaigns = (backlog: Pick<Backlog, 'left'>, maxQueued: number): boolean =>
  backlog.left(maxQueued) >= Math.min(perTurn, maxQueued)

/** Whether `expandBroadcasts` would find something to do. */
export async function campaignsWait({
  store: { read },
  clock,
}: Pick<ExpandDeps, 'store' | 'clock'>): Promise<boolean> {
  const waiting = [...(await unexpanded(read)), ...(await dueBroadcasts(read, clock.now()))]
  return waiting.length > 0
}

/** Campaigns whose list was not looked at to its end, but those of accounts that are stopped. */
async function unexpanded(read: Read): Promise<Broadcast[]> {
  const sending = await read
    .selectFrom('broadcasts')
    .selectAll()
    .where(isUnfinished)
    .where('status', '=', 'sending')
    .where('expanded', '=', 0)
    .orderBy('expanded_at')
    .execute()
  return await ofFreeAccounts(read, sending)
}

/** Resolves with whether it may have another turn, or is paused. */
async function expandOrPause(deps: Expanding, broadcast: Broadcast) {
  try {
    await expandSome(deps, broadcast)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'plan_limit_exceeded') {
      return await pauseAtCap(deps, broadcast, error)
    }
    if (error instanceof ApiError && error.code === 'not_found') {
      return await pauseWithout(deps, broadcast, error)
    }
    return await pauseAtFault(deps, broadcast, 'its mails could not be made', error)
  }
}

/** A campaign's turn: reads on while what it has read is on its way to the disk. */
async function expandSome(deps: Expanding, broadcast: Broadcast) {
  const writes: Promise<void>[] = []
  let { cursor } = broadcast
  for (let done = false; !done && writes.length < writesPerTurn; ) {
    const slice = await readSlice(deps, broadcast, cursor)
    const write = writeSlice(deps, { broadcast, slice })
    // The write's fault is heard of below.
    write.catch(() => {})
    writes.push(write)
    cursor = slice.after
    done = slice.done
  }
  await Promise.all(writes)
}

/**
 * Read and rendered outside of the write, since rendering may wait for another thread and a write
 * must not.
 */
async function readSlice(
  { store, subjects }: Expanding,
  broadcast: Broadcast,
  before: string,
): Promise<Slice> {
  const audience = audienceOf(broadcast)
  const page = await nextOfAudience(store.read, audience, before, perWrite)
  const { reachable, after, done } = page
  const mails: NewMail[] = []
  for (const member of reachable) {
    const mailbox = parseMailbox(member.email)
    // Contacts are addresses since they were added.
    if (mailbox === undefined) throw new Error(`Contact ${member.contactId} has no address`)
    const subject = await subjects(broadcast, member).catch((error: unknown) => {
      if (isPassing(error)) throw error
      throw new Error(`Contact ${member.contactId}: ${messageOf(error)}`, { cause: error })
    })
    mails.push({ id: store.ids.uuid(), deliveryId: store.ids.serial(), mailbox, subject })
  }
  return { before, after, mails, done }
}

/**
 * The cursor moves in the same transaction as the mails are inserted (`write-slice.ts`): a kill at
 * any moment leaves no contact out and mails none twice.
 */
async function writeSlice(
  { clock, backlog, ring, write }: Expanding,
  { broadcast, slice }: BroadcastSlice,
): Promise<void> {
  if (!(await write({ broadcast, slice }))) return
  const { mails } = slice
  backlog.change(mails.length)
  const lanes = new Set(mails.map(({ mailbox }) => mailbox.domain))
  const due = { class: queueClass.campaign, accountId: broadcast.account_id, dueAt: clock.now() }
  ring([...lanes].map((lane) => ({ ...due, lane })))
}
