import { sql } from 'kysely'
import { giveBackCampaignMails } from '../billing/index.js'
import { pause } from '../clock/index.js'
import type { Backlog, StreamDue } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { parseMailbox } from '../mime/index.js'
import { isPassing, prepared, queueClass, type Read } from '../store/index.js'
import type { Renderer } from '../templates/index.js'
import { nextOfAudience } from './audience.js'
import { type Broadcast, type BroadcastDeps, isUnfinished, ofFreeAccounts } from './broadcast.js'
import { audienceOf, dispatchDue, dueBroadcasts } from './dispatch-campaign.js'
import { pauseAtFault } from './fault.js'
import { endIfDone } from './follow.js'
import { insertMails, type NewMail, type RetryAges } from './new-mails.js'
import { makeSubjects, type Subjects } from './subjects.js'

export interface ExpandDeps extends Pick<BroadcastDeps, 'store' | 'clock' | 'plans'> {
  log: Log
  backlog: Backlog
  /** Deliveries that may wait at once. */
  maxQueued: number
  retry: RetryAges
  ring: (due: readonly StreamDue[]) => void
  renderer: Renderer
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
export async function expandBroadcasts(deps: ExpandDeps, signal: AbortSignal): Promise<void> {
  const { clock, backlog, maxQueued } = deps
  const subjects = makeSubjects(deps)
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
      if (backlog.size + Math.min(perTurn, maxQueued) > maxQueued) await pause(clock, fullPauseMs)
      else if (!(await expandOrPause(deps, broadcast, subjects))) skipped.add(broadcast.id)
    }
  }
}

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
async function expandOrPause(deps: ExpandDeps, broadcast: Broadcast, subjects: Subjects) {
  try {
    await expandSome(deps, broadcast, subjects)
    return true
  } catch (error) {
    return await pauseAtFault(deps, broadcast, 'its mails could not be made', error)
  }
}

/** A campaign's turn: reads on while what it has read is on its way to the disk. */
async function expandSome(deps: ExpandDeps, broadcast: Broadcast, subjects: Subjects) {
  const writes: Promise<void>[] = []
  let { cursor } = broadcast
  for (let done = false; !done && writes.length < writesPerTurn; ) {
    const slice = await readSlice(deps, broadcast, cursor, subjects)
    const write = writeSlice(deps, broadcast, slice)
    // Its fault is heard of below.
    write.catch(() => {})
    writes.push(write)
    cursor = slice.after
    done = slice.done
  }
  await Promise.all(writes)
}

/** The mails of some contacts: those behind `before` up to `after`. */
interface Slice {
  before: string
  after: string
  mails: NewMail[]
  /** They are the last of the list. */
  done: boolean
}

async function readSlice(
  { store }: ExpandDeps,
  broadcast: Broadcast,
  before: string,
  subjects: Subjects,
): Promise<Slice> {
  const audience = audienceOf(broadcast)
  const { seen, reachable } = await nextOfAudience(store.read, audience, before, perWrite)
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
  const after = seen.at(-1)?.contactId ?? before
  return { before, after, mails, done: seen.length < perWrite }
}

async function writeSlice(deps: ExpandDeps, broadcast: Broadcast, slice: Slice): Promise<void> {
  const { store, clock, backlog } = deps
  const { id, account_id: accountId } = broadcast
  const { before, after: cursor, mails, done } = slice
  const written = await store.write(async (tx) => {
    const at = clock.now()
    // Nothing else moves the cursor from there: who finds it elsewhere, or the campaign paused, makes no mail.
    const moved = { id, before, cursor, mails: mails.length, expanded: done ? 1 : 0, at } as const
    const [now] = await advance(tx, moved)
    if (now === undefined) return false
    await insertMails(tx, deps, broadcast, mails)
    if (!done) return true
    await giveBackCampaignMails(tx, accountId, now.audience - now.recipients, now.sentAt ?? at)
    await endIfDone(tx, id, at)
    return true
  })
  if (!written) return
  backlog.change(mails.length)
  const lanes = new Set(mails.map(({ mailbox }) => mailbox.domain))
  const due = { class: queueClass.campaign, accountId, dueAt: clock.now() }
  deps.ring([...lanes].map((lane) => ({ ...due, lane })))
}

interface Advance {
  id: string
  before: string
  cursor: string
  mails: number
  expanded: 0 | 1
  at: number
}

interface Advanced {
  audience: number
  recipients: number
  sentAt: number | null
}

const advance = prepared<Advance, Advanced>((db, { id, before, cursor, mails, expanded, at }) =>
  db
    .updateTable('broadcasts')
    .set({
      cursor,
      expanded,
      expanded_at: at,
      recipients: sql`recipients + ${mails}`,
      waiting: sql`waiting + ${mails}`,
    })
    .where('id', '=', id)
    .where('status', '=', 'sending')
    .where('cursor', '=', before)
    .where('expanded', '=', 0)
    .returning(['audience', 'recipients', 'sent_at as sentAt']),
)
