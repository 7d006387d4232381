import type { Clock } from '../clock/index.js'
import { maxOverdueMs } from '../deliveries/index.js'
import type { Store } from '../store/index.js'
import { pauseBroadcast } from './stop.js'

const missed = 'overdue by more than an hour when Posthorn started'
const broken = 'broken off more than an hour before Posthorn started'

/**
 * At the start, before anything is sent: pauses the campaigns that should have been dispatched, or went
 * on being made into mail, more than an hour ago, for the database was restored, copied or asleep. The
 * operator resumes or cancels them. Resolves with their ids.
 */
export async function pauseOverdue(deps: { store: Store; clock: Clock }): Promise<string[]> {
  const before = deps.clock.now() - maxOverdueMs
  const overdue = await deps.store.read
    .selectFrom('broadcasts')
    .selectAll()
    .where(({ eb, or, and }) =>
      or([
        and([eb('status', '=', 'scheduled'), eb('scheduled_at', '<', before)]),
        and([eb('status', '=', 'sending'), eb('expanded', '=', 0), eb('expanded_at', '<', before)]),
      ]),
    )
    .execute()
  for (const broadcast of overdue) {
    const reason = broadcast.status === 'scheduled' ? missed : broken
    await pauseBroadcast(deps, broadcast, { reason })
  }
  return overdue.map(({ id }) => id)
}
