import { findBackups } from '../backup/index.js'
import { dayMs, hourMs } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { countHeldUpTo } from '../deliveries/index.js'
import { bulkLimit, sourcesInWarmUp, warmUpInWords } from '../outbound/index.js'
import { diskRoom, type Read } from '../store/index.js'
import type { Overview } from './overview.js'
import {
  deliveriesInWords,
  mostCounted,
  type QueueClassState,
  readQueueClasses,
} from './queue-classes.js'
import {
  findTroubles,
  type ListenerCertificate,
  type Trouble,
  type TroubledSite,
} from './troubles.js'
import { findWentBack } from './went-back.js'

/**
 * The appliance's state on one screen, as `posthorn status` and the operator's first page show it.
 */
export interface ApplianceStatus {
  /** The running appliance's answer; undefined when none answers. */
  overview: Overview | undefined
  now: number
  /** When it last wrote; 0: never. */
  aliveAt: number
  classes: QueueClassState[]
  sites: TroubledSite[]
  /** In words. */
  held: string
  backupAt: number | null
  certificates: readonly ListenerCertificate[]
  /** Source addresses in their warm-up, each in words. */
  warmUp: readonly { address: string; says: string; isUsed: boolean }[]
  /** The most urgent first. */
  troubles: Trouble[]
  disk: { freeBytes: number; sizeBytes: number; daysLeft: number | null }
}

export interface StatusDeps {
  read: Read
  now: number
  config: Config
  dataDir: string
  certificates: readonly ListenerCertificate[]
  /** What a killed upgrade left, with its remedy (`release/`). */
  brokenUpgrade?: { says: string; fix: string } | undefined
}

/**
 * What the database knows, read from few rows or along an index, together with the running appliance's
 * answer.
 */
export async function readStatus(
  { read, now, config, dataDir, certificates, brokenUpgrade }: StatusDeps,
  overview: Overview | undefined,
): Promise<ApplianceStatus> {
  const appliance = await read
    .selectFrom('appliance')
    .select(['alive_at', 'restored_at'])
    .executeTakeFirst()
  const classes = await readQueueClasses(read, now, overview)
  const heldCount = await countHeldUpTo(read, mostCounted)
  const { dir } = config.backup
  const [backup] = dir === '' ? [] : await findBackups(dir, now)
  const sites = (overview?.sites ?? []).flatMap(({ site, gate, until, why }) =>
    gate === 'suspended' || gate === 'brake' ? [{ site, gate, until, why }] : [],
  )
  const warming = await sourcesInWarmUp(read, now, config)
  const warmUp = warming.map((source) => ({
    address: source.address,
    says: warmUpInWords(source, config.outbound),
    isUsed: source.sent >= bulkLimit(source.limit),
  }))
  const troubles = await findTroubles(read, {
    now,
    overview,
    classes,
    sites,
    certificates,
    heldCount,
    warmUp,
    brokenUpgrade,
    // A running appliance ends by itself when it finds this.
    back: overview === undefined ? await findWentBack({ config, dataDir, read }) : undefined,
    protectionWindowMs: config.protection.window,
    isOnServer: config.store.url !== '',
    restoredAt: appliance?.restored_at ?? null,
  })
  const { freeBytes, totalBytes } = await diskRoom(dataDir)
  return {
    overview,
    now,
    aliveAt: appliance?.alive_at ?? 0,
    classes,
    sites,
    certificates,
    warmUp,
    held: heldCount === 0 ? 'none' : deliveriesInWords(heldCount),
    backupAt: backup?.madeAt ?? null,
    disk: { freeBytes, sizeBytes: totalBytes, daysLeft: daysLeft(overview, freeBytes) },
    troubles,
  }
}

/** The same while the database cannot be reached; `why` tells the reason. */
export async function statusWithout(
  { now, config, dataDir, certificates }: Omit<StatusDeps, 'read'>,
  overview: Overview | undefined,
  why: { text: string; fix: string },
): Promise<ApplianceStatus> {
  const { dir } = config.backup
  const [backup] = dir === '' ? [] : await findBackups(dir, now)
  const { freeBytes, totalBytes } = await diskRoom(dataDir)
  return {
    overview,
    now,
    aliveAt: 0,
    classes: [],
    sites: [],
    certificates,
    warmUp: [],
    held: 'unknown',
    backupAt: backup?.madeAt ?? null,
    disk: { freeBytes, sizeBytes: totalBytes, daysLeft: daysLeft(overview, freeBytes) },
    troubles: [{ burning: true, ...why }],
  }
}

// A rate of minutes says nothing about weeks.
const enoughMs = hourMs

/** In how many days the disk is full at the last day's rate; null if unknown, or never. */
function daysLeft(overview: Overview | undefined, freeBytes: number): number | null {
  const day = overview?.rates?.day
  if (day === undefined || day.ms < enoughMs || day.diskBytes <= 0) return null
  return freeBytes / ((day.diskBytes / day.ms) * dayMs)
}
