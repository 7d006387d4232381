import { readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import {
  applianceKeyFile,
  configFile,
  copiedNote,
  isHalfRestored,
  restoreScratch,
} from '../app/files.js'
import {
  type Config,
  databaseAt,
  loadConfig,
  nodeNameOf,
  packageFile,
  readPart,
  settings,
} from '../config/index.js'
import { exitStatus, OperatorError } from '../errors/index.js'
import type { DatabasePlace } from '../store/index.js'

/** Where a command works: which data directory, which settings, and how it answers. */
export interface CommandPlace {
  dataDir: string
  /**
   * The file of settings that was named or found; undefined means defaults and environment alone.
   */
  configFile: string | undefined
  /** The file was named by option or environment, not found. */
  configNamed: boolean
  json: boolean
}

// The packaged service's file of settings.
export const systemConfigFile = '/etc/posthorn/posthorn.toml'
export const systemDataDir = '/var/lib/posthorn'

/**
 * The service's directory if a release is installed, unless the working directory has one of its own.
 */
function usualDataDir(): string {
  if (isThere(applianceKeyFile('data')) || !isThere(packageFile('release.json'))) return 'data'
  return isThere(systemDataDir) ? systemDataDir : 'data'
}

/** Reads the global options, given before or after the sub-command, and the environment. */
export function placeOf(command: Command): CommandPlace {
  const options = command.optsWithGlobals<{ config?: string; data?: string; json?: boolean }>()
  const { env } = process
  // systemd.exec(5): several state directories are separated by colons.
  const stateDir = env.STATE_DIRECTORY?.split(':')[0]
  const dataDir = resolve(options.data || env.POSTHORN_DATA || stateDir || usualDataDir())
  const named = options.config || env.POSTHORN_CONFIG
  // The directory's own file first: a sandbox beside the service must not use the service's
  // settings.
  const found = [configFile(dataDir), systemConfigFile].find(isThere)
  return {
    dataDir,
    configFile: named ? resolve(named) : found,
    configNamed: Boolean(named),
    json: options.json === true,
  }
}

/** The settings of the place; OperatorError with every problem when they are wrong. */
export function settingsOf({ configFile: file }: CommandPlace): Config {
  return loadConfig({ env: process.env, ...(file === undefined ? {} : { file }) })
}

const databases = new Map<string, DatabasePlace>()

/**
 * Where the database of the place is, whatever the other settings say. First called before `becomeOwner`, as only
 * root may be able to read the settings.
 */
export function databaseOf(place: CommandPlace): DatabasePlace {
  const { dataDir, configFile: file } = place
  const key = `${dataDir}\n${file ?? ''}`
  const known = databases.get(key)
  if (known !== undefined) return known
  const found = databaseAt(dataDir, storeSettingsOf(place))
  databases.set(key, found)
  return found
}

/** `[store]` of the place, whatever the other settings say. */
export function storeSettingsOf({ configFile: file }: Pick<CommandPlace, 'configFile'>) {
  // A file that is not written yet has no settings.
  const source = file === undefined || !isThere(file) ? {} : { file }
  return readPart({ store: settings.store }, { env: process.env, ...source }).store
}

/** The name of the place's appliance among the nodes; first called before `becomeOwner`. */
export function nodeNameOfPlace({ configFile: file }: CommandPlace): string {
  const source = file === undefined || !isThere(file) ? {} : { file }
  return nodeNameOf(readPart({ node: settings.node }, { env: process.env, ...source }).node)
}

/** The database by the text of a file of settings that is not written yet. */
export function databaseIn({ dataDir }: CommandPlace, text: string): DatabasePlace {
  const source = { env: process.env, file: configFile(dataDir), text }
  return databaseAt(dataDir, readPart({ store: settings.store }, source).store)
}

/**
 * When root runs the command for a service of another user, becomes the data directory's owner for good. Files
 * created there (the database's -wal and -shm too) then belong to that user, no link of that user's can lead root to
 * a file of the system, and no command in that user's settings (`backup.hook`) runs as root. Settings are read
 * before, as only root may be able to read them.
 */
export function becomeOwner(place: CommandPlace): void {
  const owner = ownerToBecome(place)
  if (owner === undefined) return
  process.setgroups?.([owner.gid])
  // The user last: only root may change the others. All three of each (real, effective, saved) are set.
  process.setgid?.(owner.gid)
  process.setuid?.(owner.uid)
  became = { name: nameOf(owner.uid), dataDir: place.dataDir }
}

let became: { name: string; dataDir: string } | undefined

/**
 * The user as whom root's command works since `becomeOwner`; messages about missing rights name that
 * user.
 */
export const userInRootsPlace = () => became

/** The name of the user that this process is now. */
function nameOf(uid: number): string {
  try {
    return userInfo().username
  } catch {
    // No entry in /etc/passwd, as in containers.
    return `user ${uid}`
  }
}

/**
 * Acts as that user until the returned function is called, which makes the process root again. Only for work that
 * starts no other program, as that could become root.
 */
export function actAsOwner(place: CommandPlace): () => void {
  const owner = ownerToBecome(place)
  if (owner === undefined) return () => {}
  const groups = process.getgroups?.() ?? []
  process.setgroups?.([owner.gid])
  process.setegid?.(owner.gid)
  process.seteuid?.(owner.uid)
  return () => {
    // The user id first: only root may change the other ids back.
    process.seteuid?.(0)
    process.setegid?.(0)
    process.setgroups?.(groups)
  }
}

/** Undefined if nothing is to change: not root, no directory yet, or a directory of root's own. */
function ownerToBecome({ dataDir }: CommandPlace): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0 || process.geteuid?.() !== 0) return undefined
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  return owner === undefined || owner.uid === 0 ? undefined : owner
}

// These commands write settings, or use their own whatever the machine's are.
const ownSettings = ['setup', 'quickstart', 'sandbox']
// These commands make the directory, or work without one.
const makers = ['init', 'setup', 'restore', 'quickstart', 'sandbox']
// These commands tell only about the program.
const placeless = ['version', 'completions', 'man-page']

/**
 * Refuses a named file or directory that does not exist, whatever the command reads: a mistyped name is
 * told at once.
 */
export function requireNamed(command: Command): void {
  const options = command.optsWithGlobals<{ config?: string; data?: string }>()
  const { POSTHORN_CONFIG, POSTHORN_DATA } = process.env
  const name = topOf(command)
  const config = options.config || POSTHORN_CONFIG
  if (config && !ownSettings.includes(name) && isMissing(resolve(config))) {
    const by = options.config ? '--config' : 'POSTHORN_CONFIG'
    throw new OperatorError(`There is no configuration file ${resolve(config)}, which ${by} names`)
  }
  const data = options.data || POSTHORN_DATA
  // `node join`.
  const makes = [...makers, ...placeless].includes(name) || command.name() === 'join'
  if (data && !makes && isMissing(resolve(data))) {
    throw noDataDir(resolve(data))
  }
}

/** The command right below `posthorn`. */
const topOf = (command: Command): string =>
  command.parent?.parent ? topOf(command.parent) : command.name()

/** A path that may not be looked at is reported by the code that reads it. */
function isMissing(path: string): boolean {
  try {
    return !isThere(path)
  } catch {
    return false
  }
}

/** For a directory that nobody has initialised, or that was mistyped. */
const noDataDir = (dataDir: string) =>
  new OperatorError(
    `${dataDir} is not a data directory of Posthorn yet. 'posthorn init' makes one; --data or POSTHORN_DATA names another`,
  )

/** Refuses a directory that `posthorn init` has not made, or that has lost its key. */
export async function requireDataDir(
  place: CommandPlace,
  /** For the command that may copy an already copied file again. */
  { evenCopied = false }: { evenCopied?: boolean } = {},
): Promise<void> {
  const { dataDir } = place
  refuseHalfRestored(dataDir)
  if (!evenCopied) refuseCopied(place)
  if (isThere(applianceKeyFile(dataDir))) return
  // Loaded only here: loading the database takes longer than a refusal.
  const { findDatabase } = await import('../store/index.js')
  const database = databaseOf(place)
  const { kind } = isThere(dataDir) ? await findDatabase(database) : { kind: 'missing' }
  const { keyMissing, unfinished } = await import('../app/own-database.js')
  if (kind === 'there') throw keyMissing(database)
  if (kind === 'unfinished') throw unfinished(database)
  throw noDataDir(dataDir)
}

/**
 * Refuses a file whose rows were copied to a PostgreSQL: new writes to the file would be lost, and the PostgreSQL sends
 * its mail.
 */
function refuseCopied(place: CommandPlace): void {
  const { dataDir } = place
  const note = copiedNote(dataDir)
  if (!isThere(note) || databaseOf(place).url !== undefined) return
  throw new OperatorError(
    `The database in ${dataDir} was copied to ${readFileSync(note, 'utf8')}, and its mail is sent from there: name that as store.url. Where that was the wrong one, 'posthorn database copy --again --to …' copies into another. 'posthorn serve --force' goes on with the file instead, which may send mail twice`,
    { status: exitStatus.misplaced },
  )
}

/** Stops a command from making a new and empty database where a restore was about to put one. */
export function refuseHalfRestored(dataDir: string): void {
  if (!isHalfRestored(dataDir)) return
  throw new OperatorError(
    `A restore into ${dataDir} was broken off: run 'posthorn restore' again. To give it up, remove ${restoreScratch(dataDir)}`,
    { status: exitStatus.misplaced },
  )
}

/**
 * A release is installed in a folder of its own, which is removed with it; `current` leads to the one in
 * use.
 */
export const lastingPath = (file: string): string =>
  file.replace(/^(\/usr\/lib\/posthorn)\/[^/]+\//, (found, folder: string) =>
    isThere(join(folder, 'current')) ? `${folder}/current/` : found,
  )

/** Throws if it may not look: settings that cannot be seen must not be passed over. */
const isThere = (file: string) => statSync(file, { throwIfNoEntry: false }) !== undefined
