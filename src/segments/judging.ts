import { type BatchSize, makeBatchSize } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { ruleHolds } from '../rules/index.js'
import {
  type ContactRow,
  idsOf,
  prepared,
  type Read,
  type SegmentRow,
  type Store,
} from '../store/index.js'
import type { SuppressionReason } from '../suppression/index.js'
import { loadFacts, type PersonFacts } from './facts.js'
import { brokenAmong, knownParts } from './parts.js'
import { ruleOfRow } from './segment.js'
import { holdsUntil, timedIn } from './until.js'
import type { SegmentMove } from './write-members.js'
import {
  type FollowSegments,
  type SegmentVerdicts,
  type Written,
  writeVerdicts,
} from './write-verdicts.js'

/** What keeps members up to date needs; `follow` is written with each change of members. */
export interface UpkeepDeps {
  store: Store
  clock: Clock
  log: Log
  follow?: FollowSegments | undefined
  dates?: AlsoKept | undefined
  /** Learned from one look to the next. */
  movesAWrite?: BatchSize | undefined
}

/** Other work on changed contacts, and on time, that is done together with segments. */
export interface AlsoKept {
  /** Called before the marks are deleted: it may come twice. */
  changed(accountId: string, contactIds: readonly string[]): Promise<void>
  /** Does some of the remaining work; resolves with whether there was any. */
  work(): Promise<boolean>
  waits(): Promise<boolean>
}

/** The contacts to look at, the segments of their account, and what is written with the result. */
export interface SegmentLook extends Omit<Written, 'accountId' | 'now'> {
  segments: readonly SegmentRow[]
  contacts: readonly ContactRow[]
  /** Deleted contacts. */
  gone?: readonly string[]
}

/**
 * How many rows a write changes: as many as take some milliseconds, as clients wait meanwhile. A thousand of a segment
 * that is filled lie together; those of changes are in a hundred places, each on a page that is read and written.
 */
export const makeMovesAWrite = (): BatchSize =>
  makeBatchSize({ least: 100, most: 1_000, mostMs: 5 })
// A segment judges a contact in a microsecond or two, so this takes some tens of milliseconds. The more contacts in one
// look, the closer together are the rows that change.
const verdictsALook = 50_000

/** How many contacts are looked at together by so many segments. */
export const contactsALook = (segments: number): number =>
  Math.min(2_000, Math.max(200, Math.floor(verdictsALook / Math.max(1, segments))))

/**
 * Judges contacts by segments, and writes who comes in or leaves, some rows in each write. The present members are read
 * before the write, as nobody else writes them; what belongs to all verdicts is written with the last write.
 */
export async function judgeAll(
  { store, clock, follow, movesAWrite = makeMovesAWrite() }: UpkeepDeps,
  accountId: string,
  { segments, contacts, gone = [], ...written }: SegmentLook,
): Promise<void> {
  const { read } = store
  const now = clock.now()
  const judged = await judgedBy(read, accountId, segments)
  const rules = judged.map(({ rule }) => rule)
  const people = await loadFacts(read, accountId, contacts, { rules, now })
  const ids = [...contacts.map(({ id }) => id), ...gone]
  await readMembers(read, judged, ids)
  const due = people.flatMap((facts) => judge(facts, judged))
  for (const contactId of gone) {
    for (const { segment, members, moves } of judged) {
      const was = members.get(contactId)
      if (was !== undefined) moves.push({ segment, contactId, was, isGone: true })
    }
  }
  const timed = new Set(
    judged.filter((one) => one.timed.length > 0).map(({ segment }) => segment.id),
  )
  const write = (verdicts: Omit<SegmentVerdicts, 'segments' | 'timed'>, more: Partial<Written>) =>
    store.write(async (tx) => {
      const began = clock.now()
      const all = { ...verdicts, segments, timed }
      await writeVerdicts(tx, all, { accountId, now, ...more }, follow)
      movesAWrite.took(verdicts.moves.length, clock.now() - began)
    }, accountId)
  // A segment's members lie together: in this order a write changes fewer pages.
  const moves = judged.flatMap((one) => one.moves)
  while (moves.length > movesAWrite.rows) {
    const some = moves.splice(0, movesAWrite.rows)
    await write({ moves: some, contactIds: [], gone: [], due: [] }, {})
  }
  await write({ moves, contactIds: contacts.map(({ id }) => id), gone, due }, written)
}

type Due = SegmentVerdicts['due'][number]
type Judged = Awaited<ReturnType<typeof judgedBy>>[number]

/** The segments with their rules; those that ask for others come after these. */
async function judgedBy(read: Read, accountId: string, segments: readonly SegmentRow[]) {
  const ordered = segments.toSorted((a, b) => a.depth - b.depth)
  const rules = ordered.map(ruleOfRow)
  const known = await knownParts(read, accountId, rules)
  return ordered.map((segment, n) => {
    const rule = rules[n] ?? ruleOfRow(segment)
    return {
      segment,
      rule,
      timed: timedIn(rule),
      // A rule that names something deleted matches nobody.
      isBroken: brokenAmong(known, rule).length > 0,
      members: new Map<string, SuppressionReason | null>(),
      moves: [] as SegmentMove[],
    }
  })
}

/** Which of some contacts are in which segments. */
async function readMembers(
  read: Read,
  judged: readonly Judged[],
  contactIds: readonly string[],
): Promise<void> {
  const bySegment = new Map(judged.map((one) => [one.segment.id, one.members]))
  const segments = JSON.stringify([...bySegment.keys()])
  const rows = await membersAmong(read, { segments, contacts: JSON.stringify(contactIds) })
  for (const { segment_id, contact_id, why } of rows) {
    bySegment.get(segment_id)?.set(contact_id, why)
  }
}

/** Notes for each segment who comes in or leaves; returns when rules may change their verdict by time. */
function judge(facts: PersonFacts, judged: readonly Judged[]): Due[] {
  const { why } = facts
  const contactId = facts.contact.id
  const due: Due[] = []
  for (const { segment, rule, timed, isBroken, members, moves } of judged) {
    const holds = !isBroken && ruleHolds(rule, facts)
    // Segments that ask for this one are judged after it.
    if (holds) facts.inSegments.add(segment.id)
    else facts.inSegments.delete(segment.id)
    const was = members.get(contactId)
    const move: SegmentMove = { segment, contactId, was, is: holds ? why : undefined }
    if (move.was !== move.is) moves.push(move)
    const at = holdsUntil(timed, facts)
    if (at !== undefined) due.push({ segment, contactId, at })
  }
  return due
}

const membersAmong = prepared<
  { segments: string; contacts: string },
  { segment_id: string; contact_id: string; why: SuppressionReason | null }
>((db, { segments, contacts }) =>
  db
    .selectFrom('segment_members')
    .select(['segment_id', 'contact_id', 'why'])
    .where('segment_id', 'in', idsOf(segments, 'text'))
    .where('contact_id', 'in', idsOf(contacts, 'text')),
)
