import { messageOf } from '../errors/index.js'
import { parseMailbox } from '../mime/index.js'
import { isPassing, type Read, type Store } from '../store/index.js'
import { type AudienceMember, nextOfAudience } from './audience.js'
import type { Broadcast } from './broadcast.js'
import { type LeftOut, whyNotMailed } from './left-out.js'
import type { NewMail } from './new-mails.js'
import { dueLater, endOfAudience, type Later, type makeOwnTime } from './own-time.js'
import { aheadMs, type PacedTurn } from './pace.js'
import { audienceOf } from './standing.js'
import type { Subjects } from './subjects.js'
import { testedAmong } from './tested.js'
import { refillOf } from './up-to-date.js'
import { asVariant, endOfTest, hasRest, type Part, type Variant } from './variant.js'
import type { Slice } from './write-slice.js'

interface ReadDeps {
  store: Store
  subjects: Subjects
}

/** What is read of a campaign for one write. */
export interface SlicePart {
  /** The cursor before this slice. */
  before: string
  limit: number
  /** How many mails its turn has already made. */
  made: number
  turn: PacedTurn
  ownTime: ReturnType<typeof makeOwnTime>
  /** Which version each contact gets now, where the campaign has versions; undefined: none now. */
  part: Part | undefined
  now: number
}

/**
 * Reads and renders outside of the write, since rendering may wait for another thread and a write
 * must not. Resolves with a text where the campaign has to wait, and why.
 */
export async function readSlice(
  deps: ReadDeps,
  broadcast: Broadcast,
  { before, limit, made, turn, ownTime, part, now }: SlicePart,
): Promise<Slice | string> {
  const { read } = deps.store
  const page = await nextOfAudience(read, audienceOf(broadcast), before, limit)
  // Checked after they were read: a segment that is being filled does not have all of its people.
  const refilled = await refillOf(read, broadcast)
  if (refilled !== undefined) return `It waits: ${refilled}`
  const leftOut = await leftOutOf(read, broadcast, page.blocked)
  const later: Later[] = []
  const mails: NewMail[] = []
  const tested = await testedOf(read, broadcast, page.reachable)
  for (const member of page.reachable) {
    if (part?.takes(member.contactId, tested) === false) continue
    const dueAt = ownTime?.(member) ?? 0
    if (dueAt > now + aheadMs) later.push({ contactId: member.contactId, dueAt })
    else {
      const n = made + mails.length
      const leavesAt = Math.max(dueAt, turn.leavesAt(n))
      const variant = part?.versionOf(n)
      mails.push(await newMail(deps, broadcast, member, { leavesAt, variant }))
    }
  }
  const pacedTo = turn.pacedTo(made + mails.length)
  const draw = part?.drawn()
  const slice = { before, mails, leftOut, later, taken: [], pacedTo, nextAt: null, draw }
  // Some get it later, so the campaign goes on.
  if (page.done && ownTime !== undefined) return { ...slice, after: endOfAudience, done: false }
  // The rest follows once its version is chosen.
  if (page.done && hasRest(broadcast)) return { ...slice, after: endOfTest, done: false }
  return { ...slice, after: page.after, done: page.done }
}

/**
 * Why these people get no mail. If the rest is still to come, all of them are looked at then; a mail of the test counts
 * as one.
 */
async function leftOutOf(
  read: Read,
  broadcast: Broadcast,
  blocked: readonly AudienceMember[],
): Promise<LeftOut[]> {
  if (blocked.length === 0 || hasRest(broadcast)) return []
  const tested = await testedOf(read, broadcast, blocked)
  const others = blocked.filter(({ contactId }) => !tested?.has(contactId))
  const { account_id: accountId, topic_id: topicId } = broadcast
  return await whyNotMailed(read, { accountId, topicId }, others)
}

/** Which of these people got a mail of its test; undefined: there is no test, or nothing is chosen after it yet. */
async function testedOf(read: Read, { id, winner }: Broadcast, members: readonly AudienceMember[]) {
  if (winner === null) return undefined
  const contactIds = members.map(({ contactId }) => contactId)
  return await testedAmong(read, id, contactIds)
}

/** For a campaign whose audience was passed: the people whose time has come. */
export async function laterSlice(
  { store, ...deps }: ReadDeps,
  broadcast: Broadcast,
  { before, limit, made, turn, part, now }: SlicePart,
): Promise<Slice> {
  const of = { id: broadcast.id, ...audienceOf(broadcast) }
  const due = await dueLater(store.read, of, { until: now + aheadMs, limit })
  const mails: NewMail[] = []
  for (const member of due.reachable) {
    const n = made + mails.length
    const leavesAt = Math.max(member.dueAt, turn.leavesAt(n))
    const variant = part?.versionOf(n)
    mails.push(await newMail({ store, ...deps }, broadcast, member, { leavesAt, variant }))
  }
  const { taken } = due
  const nextAt = due.nextAt !== null && due.nextAt > now + aheadMs ? due.nextAt - aheadMs : null
  const pacedTo = turn.pacedTo(made + mails.length)
  const leftOut = await leftOutOf(store.read, broadcast, due.blocked)
  const slice = { before, mails, leftOut, later: [], taken, pacedTo, nextAt, draw: undefined }
  const isOver = due.nextAt === null
  if (isOver && hasRest(broadcast)) return { ...slice, after: endOfTest, done: false }
  return { ...slice, after: before, done: isOver }
}

/** The mail of one recipient, with its subject rendered. */
async function newMail(
  { store, subjects }: ReadDeps,
  broadcast: Broadcast,
  member: AudienceMember,
  { leavesAt, variant }: { leavesAt: number; variant?: Variant | undefined },
): Promise<NewMail> {
  const mailbox = parseMailbox(member.email)
  // Contacts always have valid addresses, from the time they were added.
  if (mailbox === undefined) throw new Error(`Contact ${member.contactId} has no address`)
  const subject = await subjects(asVariant(broadcast, variant), member).catch((error: unknown) => {
    if (isPassing(error)) throw error
    throw new Error(`Contact ${member.contactId}: ${messageOf(error)}`, { cause: error })
  })
  const [id, deliveryId] = [store.ids.uuid(), store.ids.serial()]
  const { contactId } = member
  return { id, contactId, deliveryId, mailbox, subject, leavesAt, variant }
}
