import { sql } from 'kysely'
import { countCampaignMails, giveBackCampaignMails, readBilling } from '../billing/index.js'
import { hourMs, utcTime } from '../clock/index.js'
import { prepared, type Store, type Tx } from '../store/index.js'
import type { Broadcast, BroadcastDeps } from './broadcast.js'
import { endIfDone } from './follow.js'
import { countsLeftOut, type LeftOut, noteLeftOut } from './left-out.js'
import { insertMails, type NewMail, type RetryAges } from './new-mails.js'
import { areLater, type Later, putOff, takeLater } from './own-time.js'
import { noteTested } from './tested.js'
import { endOfTest, usualTest, variantTestOf } from './variant.js'

/** The mails of some contacts: those after `before` up to `after`. */
export interface Slice {
  before: string
  after: string
  mails: NewMail[]
  /** The people who get no mail. */
  leftOut: readonly LeftOut[]
  /** The people who get their mail later. */
  later: readonly Later[]
  /** Those whose time has come: they are no longer among the later ones. */
  taken: readonly Later[]
  /** When the mail after these may leave, where the campaign has a rate. */
  pacedTo: number | null
  /** When to go on; null: now. */
  nextAt: number | null
  /** These are the last of the list. */
  done: boolean
  /** How many people were looked at for its test, and how many drawn; undefined: it has no test. */
  draw: { seen: number; drawn: number } | undefined
}

export interface BroadcastSlice {
  broadcast: Broadcast
  slice: Slice
}

/**
 * Resolves with whether the mails were made: not where the campaign was paused, or somebody else has made them. Rejects
 * with a 402 where the list has grown since the dispatch, and the plan has no room for the new people.
 */
export type WriteSlice = (of: BroadcastSlice) => Promise<boolean>

/**
 * Writes slices to the disk. A slice of a hundred mails is written by itself, in a few statements of as many rows;
 * small slices share a transaction with whatever waits.
 */
export function makeWriteSlice(deps: SliceDeps): WriteSlice {
  return deps.store.gather<BroadcastSlice, boolean>(
    async (tx, slices) => {
      const written: boolean[] = []
      for (const one of slices) written.push(await writeSlice(tx, deps, one))
      return written
    },
    ({ slice }) => Math.max(1, slice.mails.length),
  )
}

interface SliceDeps extends Pick<BroadcastDeps, 'clock' | 'plans'> {
  store: Pick<Store, 'gather'>
  retry: RetryAges
}

/**
 * `advance` moves the cursor only from where this slice began. A second expander, or a repeat after
 * a kill, finds another cursor and writes nothing.
 */
async function writeSlice(
  tx: Tx,
  deps: SliceDeps,
  { broadcast, slice }: BroadcastSlice,
): Promise<boolean> {
  const { id, account_id: accountId } = broadcast
  const { before, after: cursor, mails, later, taken, pacedTo, nextAt, done, draw } = slice
  const at = deps.clock.now()
  const out = countsLeftOut(slice.leftOut)
  // The cursor stands still while the later recipients have their turn: their rows say who has had it.
  if (taken.length > 0 && !(await areLater(tx, id, taken))) return false
  const [now] = await advance(tx, {
    id,
    before,
    cursor,
    mails: mails.length,
    expanded: done ? 1 : 0,
    at,
    pacedTo,
    nextAt,
    // Only recipients by their own clocks are waited for here.
    reason: nextAt === null ? null : `It goes on at ${utcTime(nextAt)}, by its recipients’ clocks`,
    winner: broadcast.winner,
    seen: draw?.seen ?? 0,
    drawn: draw?.drawn ?? 0,
    outUnsubscribed: out.unsubscribed,
    outBounced: out.bounced,
    outComplained: out.complained,
    outSuppressed: out.suppressed,
    outTopic: out.leftTopic,
  })
  if (now === undefined) return false
  await noteLeftOut(tx, id, slice.leftOut)
  await putOff(tx, id, later)
  if (taken.length > 0) await takeLater(tx, id, taken)
  const { audience, recipients, sentAt } = now
  // The dispatch has counted the people who were on the list then.
  const grown = recipients - audience
  if (grown > 0 && mails.length > 0) await countGrown(tx, deps, broadcast, { mails: grown, at })
  await insertMails(tx, deps, broadcast, mails)
  await noteTested(
    tx,
    broadcast,
    mails.map(({ contactId }) => contactId),
  )
  if (cursor === endOfTest) await endTest(tx, broadcast, at)
  if (!done) return true
  await giveBackCampaignMails(tx, accountId, audience - recipients, sentAt ?? at)
  await endIfDone(tx, id, at)
  return true
}

/** The test is made: the time until the decision begins. */
async function endTest(tx: Tx, broadcast: Broadcast, at: number): Promise<void> {
  const { decideAfter } = variantTestOf(broadcast) ?? usualTest
  const decideAt = decideAfter === 'by hand' ? null : at + decideAfter * hourMs
  await tx
    .updateTable('broadcasts')
    .set({ decide_at: decideAt })
    .where('id', '=', broadcast.id)
    .execute()
}

/** Counts people who came after the dispatch, in the month in which their mails are made. */
async function countGrown(
  tx: Tx,
  { plans }: SliceDeps,
  { id, account_id }: Broadcast,
  { mails, at }: { mails: number; at: number },
): Promise<void> {
  await countCampaignMails(tx, await readBilling(tx, plans, account_id), mails, at)
  await tx
    .updateTable('broadcasts')
    .set((eb) => ({ audience: eb.ref('recipients') }))
    .where('id', '=', id)
    .execute()
}

interface Advance {
  id: string
  before: string
  cursor: string
  mails: number
  expanded: 0 | 1
  at: number
  pacedTo: number | null
  nextAt: number | null
  /** What it waits for; null: nothing. */
  reason: string | null
  /** The version for the rest, as it was when they were read. */
  winner: string | null
  seen: number
  drawn: number
  outUnsubscribed: number
  outBounced: number
  outComplained: number
  outSuppressed: number
  outTopic: number
}

interface Advanced {
  audience: number
  recipients: number
  sentAt: number | null
}

/** Nothing else moves the cursor from `before`: whoever finds it elsewhere, or the campaign paused, makes no mail. */
const advance = prepared<Advance, Advanced>((db, of) =>
  db
    .updateTable('broadcasts')
    .set({
      cursor: of.cursor,
      expanded: of.expanded,
      expanded_at: of.at,
      reason: of.reason,
      paced_to: of.pacedTo,
      next_at: of.nextAt,
      recipients: sql`recipients + ${of.mails}`,
      waiting: sql`waiting + ${of.mails}`,
      test_seen: sql`test_seen + ${of.seen}`,
      test_drawn: sql`test_drawn + ${of.drawn}`,
      out_unsubscribed: sql`out_unsubscribed + ${of.outUnsubscribed}`,
      out_bounced: sql`out_bounced + ${of.outBounced}`,
      out_complained: sql`out_complained + ${of.outComplained}`,
      out_suppressed: sql`out_suppressed + ${of.outSuppressed}`,
      out_topic: sql`out_topic + ${of.outTopic}`,
    })
    .where('id', '=', of.id)
    .where('status', '=', 'sending')
    .where('cursor', '=', of.before)
    .where('expanded', '=', 0)
    // Its audience is passed twice: for the test, and for the rest.
    .where('winner', 'is not distinct from', of.winner)
    .returning(['audience', 'recipients', 'sent_at as sentAt']),
)
