import { type Clock, isRecent } from '../clock/index.js'
import { idsIn, type Read } from '../store/index.js'

/** What segments must have taken in before a campaign goes to them. */
export interface SegmentsAwaited {
  accountId: string
  ids: readonly string[]
  /** All marks of changes up to this one. */
  upTo: number
  /** When the campaign is due: changes by time alone count up to then. */
  at: number
}

// Segments that ask for others are looked at after those: so long, marks that come meanwhile are waited for too.
const settledMs = 10_000

/** The last mark of a change in an account, or 0. */
export async function lastMark(read: Read, accountId: string): Promise<number> {
  const row = await read
    .selectFrom('segment_changes')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? 0
}

/** A sentence that one of these segments is being filled; undefined: none is. */
export async function segmentsFilling(
  read: Read,
  ids: readonly string[],
): Promise<string | undefined> {
  if (ids.length === 0) return undefined
  const filling = await read
    .selectFrom('segments')
    .select('name')
    .where('id', 'in', idsIn(ids, 'text'))
    .where('state', '=', 'filling')
    .limit(1)
    .executeTakeFirst()
  return filling && `the segment "${filling.name}" is being filled`
}

/** Why some of an account's segments are not up to date, as a sentence; undefined: they are. */
export async function segmentsBehind(
  { read, clock }: { read: Read; clock: Clock },
  { accountId, ids, upTo, at }: SegmentsAwaited,
): Promise<string | undefined> {
  if (ids.length === 0) return undefined
  const filling = await segmentsFilling(read, ids)
  if (filling !== undefined) return filling
  const mark = await read
    .selectFrom('segment_changes')
    .select('id')
    .where('account_id', '=', accountId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  const isSettling = isRecent(at, clock.now(), settledMs)
  if (mark !== undefined && (mark.id <= upTo || isSettling)) {
    return 'segments are being brought up to date with what has changed'
  }
  const due = await read
    .selectFrom('segment_due')
    .select('at')
    .where('at', '<=', Math.min(at, clock.now()))
    .where('segment_id', 'in', idsIn(ids, 'text'))
    .limit(1)
    .executeTakeFirst()
  return due === undefined ? undefined : 'segments are being brought up to date with the time'
}
