import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobResult } from '../calendar/index.js'
import { type Clock, dayNumber, hourMs, isoTime, systemClock } from '../clock/index.js'
import { type Config, databaseAt } from '../config/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import { type DatabasePlace, readServerFacts } from '../store/index.js'
import { type BackupResult, inProcess, type Order } from './apart.js'
import { problemOfDirectory } from './directory.js'
import { runHook } from './hook.js'
import { makeBackup } from './make.js'
import { keyName } from './manifest.js'
import { type FoundBackup, findBackups } from './names.js'
import { checkPassphrase, passphraseOf } from './passphrase.js'
import { slowDown } from './slow-down.js'
import { verifyBackup } from './verify.js'

export interface ScheduledDeps {
  clock: Clock
  config: Pick<Config, 'backup' | 'store'>
  /** The file of settings that was named or found. */
  configFile?: string | undefined
  dataDir: string
  signal: AbortSignal
}

const off: JobResult = {
  summary: 'Nothing was backed up, as backup.dir is not set',
  notSetUp: true,
}

/** The job `backup`: makes a backup, removes those whose time is over, and runs the operator's command. */
export async function scheduledBackup(deps: ScheduledDeps): Promise<JobResult> {
  const { clock, config, configFile, dataDir, signal } = deps
  const { dir, hook, hookTimeout, ...how } = config.backup
  if (dir === '') return off
  const { withKey, compress, passphraseFile } = how
  const of = {
    ...databaseAt(dataDir, config.store),
    configFile,
    dir,
    withKey,
    compress,
    passphraseFile,
  }
  const order: Order = { kind: 'make', ...of }
  const made = await inProcess(order, signal)
  const expired = expiredBackups(await findBackups(dir, made.madeAt), {
    daily: how.keepDaily,
    weekly: how.keepWeekly,
    monthly: how.keepMonthly,
  })
  // If one cannot be removed, all else is still done: the command copies the backup away from this machine.
  const kept = await removeExpired(expired)
  const { sizeBytes, tookMs, madeAt } = made
  if (hook.length > 0) {
    await runHook(hook, made.file, { clock, signal, timeoutMs: hookTimeout, env: process.env })
  }
  const archive = await archiveOf(of, clock)
  const problem = await problemOfDirectory(dir)
  const problems = [
    ...(problem === undefined
      ? []
      : [`Of backup.dir: ${problem.found}. Mend it: '${problem.fix}'`]),
    ...archive.problems,
    ...kept,
  ]
  return {
    summary: `${made.file} was made and checked${hook.length > 0 ? ', and the command of backup.hook has taken it' : ''}${archive.says}`,
    figures: {
      sizeBytes,
      tookMs,
      madeAt,
      removed: expired.length - kept.length,
      ...(archive.lastAt !== null && { archivedAt: archive.lastAt }),
    },
    ...(problems.length > 0 && { problems }),
  }
}

/**
 * When the server of `url` archived its log last, in words that follow 'it is not in the backup'. Throws where it does
 * not answer.
 */
export async function askArchive(
  url: string,
  clock: Clock,
): Promise<{ says: string; lastAt: number | null }> {
  const { isOn, lastAt } = (await readServerFacts(url, clock)).archiving
  const says = !isOn
    ? 'its server archives no log'
    : lastAt === null
      ? 'its server has archived no log yet'
      : `its server archived its log last at ${isoTime(lastAt)}`
  return { says, lastAt }
}

/** What keeps the mails themselves where they are in PostgreSQL: the log that its server archives. */
async function archiveOf(
  { url }: DatabasePlace,
  clock: Clock,
): Promise<{ says: string; lastAt: number | null; problems: string[] }> {
  if (url === undefined) return { says: '', lastAt: null, problems: [] }
  try {
    const { says, lastAt } = await askArchive(url, clock)
    return { says: `. The database is not in it: ${says}`, lastAt, problems: [] }
  } catch (error) {
    const problem = `When the server of the database archived its log last cannot be asked: ${messageOf(error)}`
    return { says: '', lastAt: null, problems: [problem] }
  }
}

/** Resolves with a sentence for each backup that cannot be removed. */
async function removeExpired(expired: readonly FoundBackup[]): Promise<string[]> {
  const kept: string[] = []
  for (const { file } of expired) {
    await rm(file, { force: true }).catch((error: unknown) => {
      kept.push(`${file} has had its time and cannot be removed: ${messageOf(error)}`)
    })
  }
  return kept
}

/** The job `backup-check`: opens the newest backup as a restore does, and checks all of it. */
export async function scheduledCheck(deps: ScheduledDeps): Promise<JobResult> {
  const { clock, config, dataDir, signal } = deps
  const { dir, passphraseFile, maxAge } = config.backup
  if (dir === '') {
    return { ...off, summary: 'There is no backup to check, as backup.dir is not set' }
  }
  const [newest] = await findBackups(dir, clock.now())
  if (newest === undefined) throw new OperatorError(`There is no backup in ${dir}`)
  const { file, madeAt, sizeBytes } = newest
  const keyFile = join(dataDir, keyName)
  const order: Order = { kind: 'verify', file, scratch: dir, keyFile, passphraseFile }
  const { tookMs, rows } = await inProcess(order, signal).catch((error: unknown) => {
    // The words of what is wrong with a backup do not say which backup it was.
    throw new OperatorError(`${file}: ${messageOf(error)}`)
  })
  const hours = Math.floor((clock.now() - madeAt) / hourMs)
  if (clock.now() - madeAt > maxAge) {
    throw new OperatorError(`The newest backup ${file} is sound, but ${hours} hours old`)
  }
  return {
    summary: `${file} is sound: it was unpacked, and its ${rows.toLocaleString('en-GB')} rows are there`,
    figures: { sizeBytes, tookMs, madeAt, rows },
  }
}

/** Runs in the process that has no other connection to the database. */
export async function carryOut(
  order: Order,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Exclude<BackupResult, { error: string }>> {
  const clock = systemClock
  const passphrase = passphraseOf(order.passphraseFile, env)
  const began = clock.now()
  if (order.kind === 'make') {
    const known = passphrase === undefined ? undefined : checkPassphrase(passphrase)
    const { file, sizeBytes, tookMs, manifest } = await makeBackup({
      ...order,
      clock,
      signal,
      passphrase: known,
    })
    const madeAt = Date.parse(manifest.madeAt)
    return { file, sizeBytes, tookMs, madeAt, rows: total(manifest.rows) }
  }
  slowDown()
  const { manifest } = await verifyBackup(order.file, {
    ...order,
    signal,
    onlyEncrypted: passphrase !== undefined,
    passphrase: async () => {
      if (passphrase !== undefined) return passphrase
      throw new OperatorError(
        `${order.file} is encrypted: set backup.passphrase_file to the file that has its passphrase`,
      )
    },
  })
  const madeAt = Date.parse(manifest.madeAt)
  const tookMs = clock.now() - began
  return { file: order.file, sizeBytes: 0, tookMs, madeAt, rows: total(manifest.rows) }
}

const total = (rows: Readonly<Record<string, number>>) =>
  Object.values(rows).reduce((sum, count) => sum + count, 0)

interface Keep {
  /** How many days, weeks (from Monday) and months that have backups keep the newest one of each. */
  daily: number
  weekly: number
  monthly: number
}

/** The backups, listed newest first, whose time is over, in UTC. The newest of all always stays. */
export function expiredBackups(found: readonly FoundBackup[], keep: Keep): FoundBackup[] {
  const kept = new Set(found.slice(0, 1))
  for (const [most, periodOf] of [
    [keep.daily, dayNumber],
    // Day 0 was a Thursday.
    [keep.weekly, (at: number) => Math.floor((dayNumber(at) + 3) / 7)],
    [keep.monthly, (at: number) => isoTime(at).slice(0, 7)],
  ] as const) {
    const newest = new Map<number | string, FoundBackup>()
    for (const backup of found) {
      const period = periodOf(backup.madeAt)
      if (!newest.has(period) && newest.size < most) newest.set(period, backup)
    }
    for (const backup of newest.values()) kept.add(backup)
  }
  return found.filter((backup) => !kept.has(backup))
}
