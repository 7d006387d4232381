import {
  cell,
  prepared,
  preparedInsertAll,
  rowsOf,
  type SegmentRow,
  type Tx,
} from '../store/index.js'
import type { SuppressionReason } from '../suppression/index.js'
import { countNameOf } from './count.js'

type Why = SuppressionReason | null

/** Somebody comes into a segment, leaves it, or is in it and not mailed for another reason than before. */
export interface SegmentMove {
  segment: SegmentRow
  contactId: string
  /** Why they were not mailed (null: they were); undefined: they were not in it. */
  was: Why | undefined
  /** Why they are not mailed now. */
  is?: Why | undefined
  /** The contact is deleted, so the rule no longer matters. */
  isGone?: true
}

/** Writes members and the segments' counters. */
export async function writeMembers(
  tx: Tx,
  moves: readonly SegmentMove[],
  now: number,
): Promise<void> {
  if (moves.length === 0) return
  const put = moves.filter(({ is }) => is !== undefined)
  const taken = moves.filter(({ is }) => is === undefined)
  await putMembers(
    tx,
    put.map(({ segment, contactId, is = null }) => ({
      segment_id: segment.id,
      contact_id: contactId,
      since: now,
      why: is,
    })),
  )
  if (taken.length > 0) {
    const keys = taken.map(({ segment, contactId }) => [segment.id, contactId])
    await takeMembers(tx, { json: JSON.stringify(keys) })
  }
  const changes = new Map<string, Record<CounterName, number>>()
  for (const { segment, was, is } of moves) {
    const change = changes.get(segment.id) ?? {
      count: 0,
      unsubscribed: 0,
      bounced: 0,
      complained: 0,
      suppressed: 0,
    }
    changes.set(segment.id, change)
    for (const [why, by] of [[was, -1] as const, [is, 1] as const]) {
      if (why !== undefined) change.count += by
      if (why) change[countNameOf[why]] += by
    }
  }
  for (const [id, { count, ...reasons }] of changes)
    await addToCounters(tx, { id, count, ...reasons })
}

type CounterName = 'count' | (typeof countNameOf)[SuppressionReason]

const addToCounters = prepared<{ id: string } & Record<CounterName, number>, unknown>(
  (db, { id, count, unsubscribed, bounced, complained, suppressed }) =>
    db
      .updateTable('segments')
      .set((eb) => ({
        count: eb('count', '+', count),
        unsubscribed: eb('unsubscribed', '+', unsubscribed),
        bounced: eb('bounced', '+', bounced),
        complained: eb('complained', '+', complained),
        suppressed: eb('suppressed', '+', suppressed),
      }))
      .where('id', '=', id),
)

const putMembers = preparedInsertAll('segment_members', (insert) =>
  insert.onConflict((conflict) =>
    conflict
      .columns(['segment_id', 'contact_id'])
      .doUpdateSet((eb) => ({ why: eb.ref('excluded.why') })),
  ),
)

const takeMembers = prepared<{ json: string }, unknown>((db, { json }) =>
  db.deleteFrom('segment_members').where(({ eb, refTuple, selectFrom }) =>
    eb(
      refTuple('segment_id', 'contact_id'),
      'in',
      selectFrom(rowsOf(json))
        .select([cell(0, 'text').as('segment_id'), cell(1, 'text').as('contact_id')])
        .$asTuple('segment_id', 'contact_id'),
    ),
  ),
)
