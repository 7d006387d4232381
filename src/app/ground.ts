import { loadPlans, type Plans, refuseUnknownPlans } from '../billing/index.js'
import { type Clock, systemClock } from '../clock/index.js'
import { type ApplianceKey, type Config, checkSmartHosts, databaseAt } from '../config/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import { emptyWal, makeTurns, migrateStore, openStore, type Store } from '../store/index.js'
import { makeEffects } from './effects.js'
import { openEnd } from './fault.js'
import { plansFile } from './files.js'
import { holdDatabase } from './held-database.js'
import { type Hold, openHold } from './hold.js'
import type { Chore } from './housekeeping.js'
import { lockDataDir } from './lock.js'
import { type Metrics, openMetrics } from './metrics.js'
import { refuseUnknownKinds } from './operator.js'
import { openOwnKey, rememberKey } from './own-database.js'
import { countCommits } from './thread-meter.js'
import type { WayBack } from './way-back.js'

export interface ApplianceOptions {
  config: Config
  dataDir: string
  /** The file that the settings were read from; backups take it along. */
  configFile?: string | undefined
  log: Log
  clock?: Clock
  /** Answers before all threads are there, which `complete` then starts: for the tests of users. */
  isLate?: boolean
}

/** What every other part of the appliance stands on: its options, and the data directory that is its own. */
export interface Ground extends ApplianceOptions {
  clock: Clock
  hold: Hold
  key: ApplianceKey
  metrics: Metrics
  /** Shared with all threads, which take turns at writing by it. */
  turns: SharedArrayBuffer
  store: Store
  plans: Plans
  land: LandEvents
  /** When the last run of the appliance wrote last, by the clock as it was then; 0: never. */
  lastAliveAt: number
  /** Keeps a database that several appliances could open. */
  held: Chore | undefined
}

/**
 * Takes the data directory and opens its database, brought up to date. Throws an `OperatorError` for settings that
 * are of no use, a directory that another appliance serves, and a key that is not this database's.
 */
export async function openGround(options: ApplianceOptions, back: WayBack): Promise<Ground> {
  const { config, dataDir, log, clock = systemClock } = options
  checkSmartHosts(config.outbound.failover.smartHosts, process.env)
  checkSmartHosts(config.operator.relays, process.env)
  refuseUnknownKinds(config)
  // Before anything is read: another appliance may be writing.
  back.add(lockDataDir(dataDir))
  const hold = openHold(dataDir, clock, log)
  const database = databaseAt(dataDir, config.store)
  const key = await openOwnKey(database)
  if (database.url === undefined) emptyWal(dataDir)
  const facts = await migrateStore(database)
  const turns = makeTurns()
  const metrics = openMetrics({
    enabled: config.metrics.enabled,
    dataDir,
    clock,
    backupDir: config.backup.dir,
  })
  const end = openEnd(log, dataDir)
  back.add(() => end.close())
  const counts = countCommits(metrics.meter)
  const store = await openStore({ ...database, clock, turns, slot: 0, ...counts, onFault: end.now })
  back.add(() => store.close())
  await rememberKey(store, key, database)
  const held =
    database.url === undefined
      ? undefined
      : await holdDatabase(
          {
            store,
            database,
            clock,
            log,
            isTrusted: config.store.trustDurability,
            facts,
            meter: metrics.meter,
          },
          back,
        )
  const plans = loadPlans(plansFile(dataDir), config.ceilings)
  await refuseUnknownPlans(store.read, plans)
  const land = makeEffects(config, plans)
  const alive = await store.read.selectFrom('appliance').select('alive_at').executeTakeFirst()
  const lastAliveAt = alive?.alive_at ?? 0
  return { ...options, clock, hold, key, metrics, turns, store, plans, land, lastAliveAt, held }
}
