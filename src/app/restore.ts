import { holdOverdueRuns, holdRestoredRuns } from '../automations/index.js'
import { finishCourses, pauseOverdue, pauseRestored } from '../broadcasts/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import { holdOverdue, holdRestored, restoredReason } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import type { Store } from '../store/index.js'
import { setAsideRestored } from '../webhooks/index.js'

interface HoldDeps {
  store: Store
  clock: Clock
  log: Log
}

/** Before anything is sent: what may be mail of the past waits for the operator's word. */
export async function holdOldMail(deps: HoldDeps): Promise<void> {
  await holdMailOfBackup(deps)
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
      ...(oldestDueAt === undefined ? {} : { since: isoTime(oldestDueAt) }),
    },
    "Scheduled mail is overdue by more than an hour and held: 'posthorn queue held' lists it, 'queue release' sends it, 'queue fail' discards it",
  )
}

/**
 * The database is a backup's copy (`sealCopy`), on which nothing was started yet: everything that waits in it may have
 * been sent since. After a kill in the middle, the next start does it again.
 */
async function holdMailOfBackup(deps: HoldDeps): Promise<void> {
  const { store, clock, log } = deps
  const known = await store.read.selectFrom('appliance').select('backup_made_at').executeTakeFirst()
  const madeAt = known?.backup_made_at ?? null
  if (madeAt === null) return
  const reason = restoredReason(madeAt)
  // Campaigns first: their mails are then released with them.
  const campaigns = await pauseRestored(deps, reason)
  // Mail of a campaign that a kill has left is held as the campaign's too.
  await finishCourses(deps, new AbortController().signal, 0)
  const runs = await holdRestoredRuns(deps, reason)
  const deliveries = await holdRestored(deps, reason)
  const webhooks = await setAsideRestored(deps, reason)
  await store.write((tx) =>
    tx.updateTable('appliance').set({ backup_made_at: null, restored_at: clock.now() }).execute(),
  )
  log.warn(
    { madeAt: isoTime(madeAt), deliveries, campaigns, runs, webhooks },
    "The database was restored from a backup: what waited in it is held, as it may have been sent since. 'posthorn queue held' lists it; 'queue release', 'broadcast resume', 'automation resume' and 'webhook replay' send it, 'queue fail' and 'broadcast cancel' discard it",
  )
}
