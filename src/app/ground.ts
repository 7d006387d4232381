import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { loadPlans, type Plans, refuseUnknownPlans } from '../billing/index.js'
import type { SharedCounts } from '../bounded/index.js'
import { type Clock, systemClock } from '../clock/index.js'
import {
  type ApplianceKey,
  type Config,
  checkLogInSecret,
  checkSmartHosts,
  databaseAt,
  dropEndedKeys,
  faultOfNodeName,
  nodeNameOf,
  openApplianceKey,
} from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import {
  fileHashes,
  type Holding,
  type NodeRecords,
  othersThan,
  recordsOfOthers,
  releaseDatabase,
  takeDatabase,
} from '../nodes/index.js'
import {
  becomeNode,
  type DatabasePlace,
  emptyWal,
  latestSchema,
  livingNodes,
  makeTurns,
  migrateStore,
  noteOthers,
  openStore,
  type Store,
  schemaState,
  whyNotBeside,
} from '../store/index.js'
import { makeEffects } from './effects.js'
import { openEnd } from './fault.js'
import { applianceKeyFile, comparedFiles, ownPlansFile, plansFile } from './files.js'
import { keepDatabase, takeServer } from './held-database.js'
import { type Hold, openHold } from './hold.js'
import { startHousekeeping } from './housekeeping.js'
import { lockDataDir } from './lock.js'
import { type Metrics, openMetrics } from './metrics.js'
import { refuseUnknownKinds } from './operator.js'
import { takeAddresses } from './own-addresses.js'
import { openOwnKey, rememberKey } from './own-database.js'
import { sharedCountsOf } from './rates.js'
import { settleSent } from './settle-sent.js'
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

/** What every other part of the appliance stands on: its options, and the data directory that it has taken. */
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
  /** What the main thread counts together with other nodes; undefined for an appliance that is alone. */
  counts: SharedCounts | undefined
  /** What the other nodes want in the DNS; brought up to date now and then. */
  others: NodeRecords[]
  /** When the last run of the appliance wrote last, by its clock; 0: never. */
  lastAliveAt: number
  /** This appliance as one of those that may share the database; its signs of life renew it. */
  ownNode: {
    held: Holding
    joins: boolean
    isOnServer: boolean
    /** Called with each sign of life. */
    onHeld: ((held: Holding) => void)[]
  }
}

/**
 * Takes the data directory, and opens its database and brings it up to date. Throws an `OperatorError` for settings of
 * no use, a directory that another appliance serves, and a key that does not belong to this database.
 */
export async function openGround(options: ApplianceOptions, back: WayBack): Promise<Ground> {
  const { config, dataDir, log, clock = systemClock } = options
  checkSmartHosts(config.outbound.failover.smartHosts, process.env)
  checkSmartHosts(config.operator.relays, process.env)
  refuseUnknownKinds(config)
  checkLogInSecret(config.dashboard.oidc)
  // Before anything is read: another appliance may be writing.
  back.add(lockDataDir(dataDir))
  const hold = openHold(dataDir, clock, log)
  const database = databaseAt(dataDir, config.store)
  const ring = await openOwnKey(database)
  if (database.url === undefined) emptyWal(dataDir)
  await refuseBesideOthers(database, config)
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
  const ownPlans = ownPlansFile(dataDir)
  const comer = {
    name: nodeNameOf(config.node),
    joins: config.node.join,
    // Those that come with Posthorn may change with a release, and nodes are upgraded one after the other.
    plans: ownPlans === undefined ? '' : hashOf(readFileSync(ownPlans, 'utf8')),
    files: fileHashes(comparedFiles(dataDir)),
    schema: await latestSchema(),
    weight: config.node.weight,
  }
  const fault = comer.joins ? faultOfNodeName(comer.name) : undefined
  if (fault !== undefined) throw new OperatorError(fault)
  const isOnServer = database.url !== undefined
  const { trustDurability: isTrusted } = config.store
  const served = { database, clock, log, turns, comer, isTrusted, facts }
  const taken = isOnServer ? await takeServer(served) : undefined
  const store = await openStore({ ...database, clock, turns, slot: 0, ...counts, onFault: end.now })
  back.add(() => store.close())
  await rememberKey(store, ring, database)
  const key = await endRotation({ store, key: ring, database, clock, log, node: comer.name })
  // The node has no duty before it is given one.
  if (comer.joins && isOnServer) noteOthers(turns, othersThan([]))
  const ownNode: Ground['ownNode'] = {
    held: taken ?? (await takeFile(store, turns, comer)),
    joins: comer.joins,
    isOnServer,
    onHeld: [],
  }
  back.add(() => releaseDatabase(store, ownNode.held).catch(() => {}))
  const { meter } = metrics
  const onHolding = (held: Holding) => {
    ownNode.held = held
    for (const heard of ownNode.onHeld) heard(held)
  }
  /** Until it is there nothing has been sent. */
  let landing: LandEvents | undefined
  if (isOnServer) {
    // From now on, until all else is closed: a start may take longer than the lease.
    const settle = async () => {
      if (landing !== undefined) await settleSent({ store, clock, log, land: landing, dataDir })
    }
    const told = { onHolding, settleSent: settle }
    const keeper = keepDatabase({ ...served, ...told, store, meter }, ownNode.held)
    const beats = startHousekeeping(clock, log, [keeper])
    back.add(() => beats.stop())
  }
  const plans = loadPlans(plansFile(dataDir), config.ceilings)
  await refuseUnknownPlans(store.read, plans)
  const land = makeEffects(config, plans)
  landing = land
  const alive = await store.read.selectFrom('appliance').select('alive_at').executeTakeFirst()
  const lastAliveAt = alive?.alive_at ?? 0
  // From here on the settings lack the addresses that other nodes send from.
  const own = ownNode.joins ? await takeAddresses({ store, log }, config, ownNode.held) : config
  const opened = {
    clock,
    config: own,
    hold,
    key,
    metrics,
    turns,
    store,
    plans,
    land,
    lastAliveAt,
    ownNode,
  }
  const others = ownNode.joins ? await recordsOfOthers(store.read, ownNode.held.name) : []
  return { ...options, ...opened, others, counts: sharedCountsOf(config) }
}

/**
 * Does what a rotation of the key has left to do, before any thread reads the file; answers the key as it is then.
 * There is nothing to do where the file has one key.
 */
async function endRotation({
  clock,
  log,
  ...deps
}: Pick<Ground, 'store' | 'key' | 'clock' | 'log'> & {
  database: DatabasePlace
  node: string
}): Promise<ApplianceKey> {
  if (deps.key.checks.length === 1) return deps.key
  const { finishRotation } = await import('./reseal.js')
  const { resealed, unreadable } = await finishRotation(deps)
  if (resealed > 0) log.info({ resealed }, 'Secrets were sealed anew, by the newest appliance key')
  if (Object.keys(unreadable).length > 0) log.error({ unreadable }, 'No appliance key opens these')
  const file = applianceKeyFile(deps.database.dataDir)
  return dropEndedKeys(file, clock.now()) ? openApplianceKey(file) : deps.key
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/**
 * Before anything is changed in the database: refuses where a node is alive that would not understand what this release
 * makes of it.
 */
async function refuseBesideOthers(database: DatabasePlace, config: Config): Promise<void> {
  if (config.node.join && database.url === undefined) throw new OperatorError(saysFile)
  if (database.url === undefined) return
  const { kind, rolling, contractsFirst } = await schemaState(database)
  if (kind !== 'older' || rolling === undefined) return
  const alive = await livingNodes(database)
  if (alive.length === 0) return
  const names = alive.map(({ name }) => name).join(', ')
  if (contractsFirst.length > 0)
    throw new OperatorError(
      `This release needs what the one before was to take away, and ${names} ${alive.length === 1 ? 'is' : 'are'} alive: run 'posthorn database contract' by the command of theirs first, when all nodes are of it`,
    )
  const schemas = [...rolling.schemas, await latestSchema()]
  const behind = alive.filter(
    ({ schema }) =>
      schema === '' || whyNotBeside({ contracted: '', schemas }, schema) !== undefined,
  )
  const [one] = behind
  if (one === undefined && config.node.join) return
  throw new OperatorError(
    one === undefined
      ? `The database is to be brought up to date, and ${names} would be beside it: stop that first, or set node.join = true on all of them (one that was killed is taken for alive for 10 seconds)`
      : `The database is to be brought up to date, and ${behind.map(({ name, version }) => `${name} (${version})`).join(', ')} would not understand it: bring them to the release in between first, or stop them (one that was killed is taken for alive for 10 seconds)`,
  )
}

const saysFile =
  'node.join: the database is a file, which one appliance alone has; nodes are over a PostgreSQL (store.url)'

/** Nobody else can have the file; the epoch tells what an earlier start has begun. */
async function takeFile(
  store: Store,
  turns: SharedArrayBuffer,
  comer: { name: string },
): Promise<Holding> {
  const held = await takeDatabase(store, { name: comer.name, joins: false, isFile: true })
  if (held === undefined) throw new Error('The database of the data directory was not taken')
  becomeNode(turns, held)
  return held
}
