import { holdOverdueRuns } from '../automations/index.js'
import { pauseOverdue } from '../broadcasts/index.js'
import type { Clock } from '../clock/index.js'
import { holdOverdue } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import type { Store } from '../store/index.js'

/** Before anything is sent: what may be mail of the past waits for the operator's word. */
export async function holdOldMail(deps: { store: Store; clock: Clock; log: Log }): Promise<void> {
  const campaigns = await pauseOverdue(deps)
  if (campaigns.length > 0) {
    deps.log.warn(
      { campaigns },
      "Campaigns are overdue by more than an hour and paused: 'posthorn queue held' lists them, 'broadcast resume' sends them, 'broadcast cancel' ends them",
    )
  }
  const runs = await holdOverdueRuns(deps)
  if (runs > 0) {
    deps.log.warn(
      { runs },
      "Runs of automations are overdue by more than an hour and held: 'posthorn queue held' lists them, 'posthorn automation resume' releases them",
    )
  }
  const { deliveries, oldestDueAt } = await holdOverdue(deps)
  if (deliveries === 0) return
  deps.log.warn(
    {
      deliveries,
      ...(oldestDueAt === undefined ? {} : { since: new Date(oldestDueAt).toISOString() }),
    },
    "Scheduled mail is overdue by more than an hour and held: 'posthorn queue held' lists it, 'queue release' sends it, 'queue fail' discards it",
  )
}
