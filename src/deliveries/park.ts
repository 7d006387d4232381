import type { Tx } from '../store/index.js'
import { never } from './held.js'
import type { Settlement } from './settle.js'

/**
 * Holds a leased delivery with what is wrong with it: the result of its attempt cannot be written, so that
 * its mail may have arrived, or its mail cannot be composed. It must not be attempted again by itself: the
 * operator sees what the server said, and releases it or gives it up.
 */
export async function park(
  tx: Tx,
  settlement: Settlement,
  { thread, now, reason, isUnsent }: Parking,
): Promise<void> {
  const { id, kind, attempts, startedAt, reply, transcript } = settlement
  const said = { last_attempt_at: startedAt, last_reply: reply, last_transcript: transcript }
  await tx
    .updateTable('queue')
    .set({
      held_at: now,
      held_reason: reason,
      held_due_at: kind === 'deferred' ? settlement.dueAt : now,
      due_at: never,
      lease: null,
      attempts,
      ...(isUnsent ? {} : said),
    })
    .where('id', '=', id)
    .where('lease', '=', thread)
    .execute()
}

interface Parking {
  thread: number
  now: number
  reason: string
  /** No server was offered it: what the last one said stays. */
  isUnsent: boolean
}
