import type { Clock } from '../clock/index.js'
import { createApplianceKeyFile } from '../config/index.js'
import { makeTurns, migrateStore, openStore } from '../store/index.js'
import { applianceKeyFile } from './files.js'
import { isServed } from './lock.js'
import { openOwnKey, refuseForeignKey, rememberKey } from './own-database.js'

/**
 * The appliance key and the database of a data directory: makes what is missing, and brings the database up to date.
 * Refuses a key and a database that do not belong together before anything is made.
 */
export async function makeDatabase(dataDir: string, clock: Clock): Promise<void> {
  refuseForeignKey(dataDir)
  createApplianceKeyFile(applianceKeyFile(dataDir))
  await migrateStore(dataDir, () => isServed(dataDir))
  const store = openStore({ dataDir, clock, turns: makeTurns(), slot: 0 })
  await rememberKey(store, openOwnKey(dataDir), dataDir).finally(() => store.close())
}
