import type { Clock } from '../clock/index.js'
import { lastMark, segmentsBehind, segmentsFilling } from '../segments/index.js'
import type { Read, Store } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { beginOf } from './own-time.js'
import { type Whom, whomOf } from './whom.js'

interface WaitDeps {
  store: Store
  clock: Clock
}

const segmentsIn = ({ segments, withoutSegments }: Whom) => [...segments, ...withoutSegments]

/** Why a campaign that would begin `at` has to wait for its segments; undefined: they are up to date. */
export async function segmentsWaitedFor(
  { store: { read }, clock }: WaitDeps,
  accountId: string,
  { whom, at, marksUpTo }: { whom: Whom; at: number; marksUpTo?: number | undefined },
): Promise<string | undefined> {
  const ids = segmentsIn(whom)
  if (ids.length === 0) return undefined
  const upTo = marksUpTo ?? (await lastMark(read, accountId))
  return await segmentsBehind({ read, clock }, { accountId, ids, upTo, at })
}

/** Why a campaign that has begun makes no mails now: somebody has changed a segment of it. Undefined: it goes on. */
export const refillOf = (read: Read, broadcast: Broadcast): Promise<string | undefined> =>
  segmentsFilling(read, segmentsIn(whomOf(broadcast)))

/**
 * Whether the segments of a due campaign include everything that existed at the first look. If not, the campaign stores
 * the reason, and the mark up to which it waits.
 */
export async function awaitSegments(deps: WaitDeps, broadcast: Broadcast): Promise<boolean> {
  const { store, clock } = deps
  const { id, account_id: accountId, marks_up_to } = broadcast
  const whom = whomOf(broadcast)
  if (segmentsIn(whom).length === 0) return true
  const marksUpTo = marks_up_to ?? (await lastMark(store.read, accountId))
  const at = beginOf(broadcast) ?? clock.now()
  const waitsFor = await segmentsWaitedFor(deps, accountId, { whom, at, marksUpTo })
  if (waitsFor === undefined) return true
  const reason = `It waits: ${waitsFor}`
  if (marks_up_to !== null && broadcast.reason === reason) return false
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ reason, marks_up_to: marksUpTo })
      .where('id', '=', id)
      .where('status', '=', 'scheduled')
      .execute(),
  )
  return false
}
