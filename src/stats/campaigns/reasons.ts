import { sql } from 'kysely'
import { prepared, type Tx } from '../../store/index.js'
import type { CampaignTold, UnreachedReason } from './told.js'
import { wordsOf } from './words.js'

// How many reasons of a campaign are distinguished by the server's words.
const maxReasons = 100

/** Counts why mail did not arrive; resolves with the number of each reason. */
export async function addReasons(
  tx: Tx,
  told: readonly CampaignTold[],
): Promise<Map<CampaignTold, number>> {
  const reasons = new Map<string, Reason & { of: CampaignTold[] }>()
  for (const one of told) {
    if (one.reason === undefined) continue
    const { kind, class: of, reply } = one.reason
    const words = wordsOf(reply, one.recipient)
    const reason = { broadcastId: one.broadcastId, kind, class: of, words }
    const place = JSON.stringify(Object.values(reason))
    const same = reasons.get(place) ?? { ...reason, of: [] }
    reasons.set(place, same)
    same.of.push(one)
  }
  const numbers = new Map<CampaignTold, number>()
  for (const { of, ...reason } of reasons.values()) {
    const number = await addReason(tx, reason, of.length)
    for (const one of of) numbers.set(one, number)
  }
  return numbers
}

interface Reason {
  broadcastId: string
  kind: UnreachedReason['kind']
  class: string
  words: string
}

async function addReason(tx: Tx, reason: Reason, count: number): Promise<number> {
  const [known] = await addKnown(tx, { ...reason, count })
  if (known !== undefined) return known.number
  const { broadcastId } = reason
  const [last] = await lastOf(tx, { broadcastId })
  const number = (last?.number ?? 0) + 1
  // Classes are few, so reasons without words have an end.
  if (number > maxReasons && reason.words !== '')
    return addReason(tx, { ...reason, words: '' }, count)
  await insertReason(tx, { ...reason, number, count })
  return number
}

const addKnown = prepared<Reason & { count: number }, { number: number }>((db, reason) =>
  db
    .updateTable('broadcast_bounces')
    .set({ count: sql`count + ${reason.count}` })
    .where('broadcast_id', '=', reason.broadcastId)
    .where('kind', '=', reason.kind)
    .where('class', '=', reason.class)
    .where('words', '=', reason.words)
    .returning('number'),
)

const lastOf = prepared<{ broadcastId: string }, { number: number }>((db, { broadcastId }) =>
  db
    .selectFrom('broadcast_bounces')
    .select('number')
    .where('broadcast_id', '=', broadcastId)
    .orderBy('number', 'desc')
    .limit(1),
)

const insertReason = prepared<Reason & { number: number; count: number }, unknown>((db, one) =>
  db.insertInto('broadcast_bounces').values({
    broadcast_id: one.broadcastId,
    number: one.number,
    kind: one.kind,
    class: one.class,
    words: one.words,
    count: one.count,
  }),
)
