import { OperatorError } from '../errors/index.js'
import { scarceBytes } from '../store/index.js'
import { databaseBytes } from './database-copy.js'
import { inWords, unready } from './judge.js'
import { refuseWithoutRoom } from './layout.js'
import type { SwitchDeps } from './switch.js'

type LookDeps = Pick<SwitchDeps, 'appliance'> & { dataDir: string }

// The copy, and what the migration itself writes.
const migratedFactor = 1.5

/**
 * Looks, before anything is stopped, for what would make an upgrade fail with any release: OperatorError where the disk
 * is too full, or where the running appliance takes no mail. A full queue is allowed, as a new release may be its
 * remedy.
 */
export async function refuseUntimely(deps: LookDeps, migrates: boolean): Promise<void> {
  await refuseFullDisk(deps, migrates)
  const running = await deps.appliance()
  // An appliance that does not answer may be what the new release mends.
  if (running === undefined) return
  const reasons = (await unready(running)).filter(
    ({ what }) => what !== 'queue' && what !== 'silent',
  )
  if (reasons.length === 0) return
  throw new OperatorError(
    `${running.release} takes no mail now, and would take none after an upgrade either: ${inWords(reasons)}. Nothing was changed: mend that first, or stop the appliance, upgrade, and start it`,
  )
}

/** The database is copied only if the upgrade changes it. */
export async function refuseFullDisk({ dataDir }: LookDeps, migrates: boolean): Promise<void> {
  const copy = migrates ? databaseBytes(dataDir) * migratedFactor : 0
  const purpose = migrates ? 'for a copy of the database, and for mail' : 'for mail'
  await refuseWithoutRoom(dataDir, copy + scarceBytes, purpose)
}
