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
 * Looks, before anything is stopped, for what an upgrade would fail at and no release can help: OperatorError where the
 * disk is too full, or where the appliance that runs takes no mail, but for a queue that is full, which a new release
 * may well be the remedy of.
 */
export async function refuseUntimely(deps: LookDeps, migrates: boolean): Promise<void> {
  await refuseFullDisk(deps, migrates)
  const running = await deps.appliance()
  // One that does not answer is perhaps what the new release mends.
  if (running === undefined) return
  const reasons = (await unready(running)).filter(
    ({ what }) => what !== 'queue' && what !== 'silent',
  )
  if (reasons.length === 0) return
  throw new OperatorError(
    `${running.release} takes no mail now, and would take none after an upgrade either: ${inWords(reasons)}. Nothing was changed: mend that first, or stop the appliance, upgrade, and start it`,
  )
}

/** A copy of the database is only made where it changes. */
export async function refuseFullDisk({ dataDir }: LookDeps, migrates: boolean): Promise<void> {
  const copy = migrates ? databaseBytes(dataDir) * migratedFactor : 0
  const purpose = migrates ? 'for a copy of the database, and for mail' : 'for mail'
  await refuseWithoutRoom(dataDir, copy + scarceBytes, purpose)
}
