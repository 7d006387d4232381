import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, isoTime } from '../clock/index.js'
import { keyCheckOf, openApplianceKey } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { emptyWal, filesBeside, migrateStore, sealCopy } from '../store/index.js'
import { type BackupFile, syncDirectory } from './container.js'
import { databaseName, hasDatabase, keyName, type Manifest } from './manifest.js'
import { type UnpackOptions, unpackBackup } from './unpack.js'
import { checkUnpacked } from './verify.js'

export interface RestoreOptions extends UnpackOptions {
  /** The data directory; nobody else works in it (the caller has its lock). */
  to: string
  /** A directory in it where the backup is unpacked. If it is there without a database, a restore was broken off. */
  scratch: string
  /** Whether a database that is there may make way; it is kept beside the new one. */
  replace: boolean
  /** The content of the file of the appliance key, for a backup that was made without the key. */
  givenKey?: { bytes: Buffer; file: string } | undefined
  clock: Clock
}

export interface Restored {
  manifest: Manifest
  /** Where the files are kept that were there before; undefined where there were none. */
  keptIn: string | undefined
  /** Where the files are that the backup had from /etc/posthorn; undefined where it had none. */
  etcIn: string | undefined
}

const asideName = 'before-restore.partial'

/**
 * Puts what a backup has into a data directory. First all of it is unpacked and checked beside its place; then it is
 * moved there, the database last. So whenever it is killed, the directory has the whole of the old, the whole of the
 * new, or no database, without which nothing starts. Run again, it begins anew. The database is brought up to date and
 * says that it is a backup, so that the start holds what may have been sent since.
 */
export async function restoreBackup(file: BackupFile, options: RestoreOptions): Promise<Restored> {
  const { to, scratch, replace, clock } = options
  if (existsSync(join(to, databaseName)) && !replace) {
    throw new OperatorError(
      `There is a database in ${to} already. With --yes the backup takes its place, and the old files are kept beside it`,
    )
  }
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch, { mode: 0o700 })
  const manifest = await unpackBackup(file, scratch, options)
    .then((manifest) => prepare(scratch, manifest, options))
    .catch(async (error) => {
      await rm(scratch, { recursive: true, force: true })
      throw error
    })
  const time = isoTime(clock.now()).replace(/[-:.]/g, '')
  const etc = join(scratch, 'etc')
  const etcIn = existsSync(etc) ? join(to, `etc-of-backup-${time}`) : undefined
  if (etcIn !== undefined) await rename(etc, etcIn)
  return { manifest, keptIn: await place(to, scratch, { time, manifest }), etcIn }
}

async function prepare(
  scratch: string,
  manifest: Manifest,
  options: RestoreOptions,
): Promise<Manifest> {
  const { to, givenKey } = options
  const keyFile = givenKey && join(scratch, 'given.key')
  if (keyFile !== undefined) await writeFile(keyFile, givenKey?.bytes ?? '', { mode: 0o600 })
  // A new machine has no key yet; a key that is there is kept if it belongs to the backup.
  const own = join(to, keyName)
  const given = keyFile ?? (existsSync(own) ? own : undefined)
  const key = await checkUnpacked(scratch, manifest, given, givenKey?.file)
  if (key === 'apart' || (!manifest.withKey && given === undefined)) {
    throw new OperatorError(
      'The backup was made without the appliance key: name the file that has it by --key',
    )
  }
  if (!manifest.withKey && given !== undefined) await copyFile(given, join(scratch, keyName))
  if (!hasDatabase(manifest)) return manifest
  await migrateStore({ dataDir: scratch })
  const keyCheck = keyCheckOf(openApplianceKey(join(scratch, keyName)))
  sealCopy(join(scratch, databaseName), Date.parse(manifest.madeAt), keyCheck)
  await syncDirectory(scratch)
  return manifest
}

/** From here on only names change. */
async function place(
  to: string,
  scratch: string,
  { time, manifest }: { time: string; manifest: Manifest },
): Promise<string | undefined> {
  // Moved aside in this order: without the first nothing starts, and a log is never left without its database.
  const ofDatabase = hasDatabase(manifest) ? [databaseName, ...filesBeside(databaseName)] : []
  const settings = await namesIn(join(scratch, 'data'))
  const keptIn = await moveAside(to, [...ofDatabase, keyName, ...settings], time)
  await rename(join(scratch, keyName), join(to, keyName))
  for (const name of settings) await rename(join(scratch, 'data', name), join(to, name))
  await syncDirectory(to)
  if (hasDatabase(manifest)) await rename(join(scratch, databaseName), join(to, databaseName))
  await syncDirectory(to)
  await rm(scratch, { recursive: true, force: true })
  return keptIn
}

async function moveAside(
  to: string,
  names: readonly string[],
  time: string,
): Promise<string | undefined> {
  const aside = join(to, asideName)
  // A restore before this one began it and did not end: it has the files that were there at first.
  const begun = await namesIn(aside)
  if (begun.length === 0 && !names.some((name) => existsSync(join(to, name)))) return undefined
  if (existsSync(join(to, databaseName))) {
    try {
      emptyWal(to)
    } catch {
      // The database is damaged, and its log is kept with it.
    }
  }
  await mkdir(aside, { recursive: true, mode: 0o700 })
  for (const name of names) {
    if (!existsSync(join(to, name))) continue
    // The old file is kept already, so this one came from that restore.
    if (begun.includes(name)) await rm(join(to, name))
    else await rename(join(to, name), join(aside, name))
    await syncDirectory(to)
  }
  const keptIn = join(to, `before-restore-${time}`)
  await syncDirectory(aside)
  await rename(aside, keptIn)
  return keptIn
}

const namesIn = async (dir: string): Promise<string[]> =>
  existsSync(dir) ? await readdir(dir) : []
