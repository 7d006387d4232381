import { internalReason } from '../errors/index.js'
import type { Tx } from '../store/index.js'
import { never } from './held.js'
import type { Settlement } from './settle.js'

/**
 * Holds a delivery whose attempt has ended and whose result cannot be written (`cause`: why). It must not
 * be attempted again by itself, as its mail may have arrived: the operator sees what the server said, and
 * releases it or gives it up.
 */
export async function park(
  tx: Tx,
  settlement: Settlement,
  { thread, now, cause }: { thread: number; now: number; cause: string },
): Promise<void> {
  const { id, kind, attempts, startedAt, reply, transcript } = settlement
  const what = `its last attempt ended as ${kind}, which cannot be written`
  await tx
    .updateTable('queue')
    .set({
      held_at: now,
      held_reason: internalReason(what, cause),
      held_due_at: kind === 'deferred' ? settlement.dueAt : now,
      due_at: never,
      lease: null,
      attempts,
      last_attempt_at: startedAt,
      last_reply: reply,
      last_transcript: transcript,
    })
    .where('id', '=', id)
    .where('lease', '=', thread)
    .execute()
}
