import { sql } from 'kysely'
import type { Clock } from '../clock/index.js'
import { maxOverdueMs } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { isPassing, type Store } from '../store/index.js'
import { type Broadcast, isUnfinished, ofFreeAccounts } from './broadcast.js'
import { pauseBroadcast } from './stop.js'

const missed = 'overdue by more than an hour when Posthorn started'
const broken = 'broken off more than an hour before Posthorn started'

/** When it should have begun, or gone on; a campaign with a rate or with hours itself waits longer. */
const begins = (column: 'scheduled_at' | 'expanded_at') =>
  sql<number>`coalesce(next_at, ${sql.ref(column)})`

/**
 * At the start, before anything is sent: pauses the campaigns that should have been dispatched, or expanded further,
 * more than an hour ago, as the database was restored, copied or asleep. The operator resumes or cancels them.
 * Campaigns of a stopped account are overdue because of the stop, and go on when it is cleared. Resolves with the ids
 * of the paused ones.
 */
export async function pauseOverdue(deps: PauseDeps): Promise<string[]> {
  const before = deps.clock.now() - maxOverdueMs
  const overdue = await deps.store.read
    .selectFrom('broadcasts')
    .selectAll()
    .where(isUnfinished)
    .where(({ eb, or, and }) =>
      or([
        and([eb('status', '=', 'scheduled'), eb(begins('scheduled_at'), '<', before)]),
        and([
          eb('status', '=', 'sending'),
          eb('expanded', '=', 0),
          eb(begins('expanded_at'), '<', before),
        ]),
      ]),
    )
    .execute()
  const free = await ofFreeAccounts(deps.store.read, overdue)
  return await pauseAll(deps, free, ({ status }) => (status === 'scheduled' ? missed : broken))
}

/**
 * At the start on a backup's copy: pauses every campaign that is scheduled or under way. Since the backup it may have
 * been sent, to some or all, or cancelled. Resolves with their ids.
 */
export async function pauseRestored(deps: PauseDeps, reason: string): Promise<string[]> {
  const all = await deps.store.read
    .selectFrom('broadcasts')
    .selectAll()
    .where(isUnfinished)
    .execute()
  return await pauseAll(deps, all, () => reason)
}

interface PauseDeps {
  store: Store
  clock: Clock
  log: Log
}

/**
 * One after the other and each by itself, so that a broken campaign does not keep the others from
 * being paused.
 */
async function pauseAll(
  deps: PauseDeps,
  broadcasts: readonly Broadcast[],
  reasonOf: (broadcast: Broadcast) => string,
): Promise<string[]> {
  const paused: string[] = []
  for (const broadcast of broadcasts) {
    const { id } = broadcast
    try {
      await pauseBroadcast(deps, broadcast, { reason: reasonOf(broadcast) })
      paused.push(id)
    } catch (error) {
      if (isPassing(error)) throw error
      // One broken campaign must not keep the appliance from starting.
      const fields = { broadcastId: id, cause: messageOf(error) }
      deps.log.error(fields, 'A campaign that is overdue could not be paused: it goes on')
    }
  }
  return paused
}
