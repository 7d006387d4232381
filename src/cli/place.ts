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
  /** The file of settings that was named or found; undefined: defaults and environment alone. */
  configFile: string | undefined
  /** It was named by option or environment, not found. */
  configNamed: boolean
  json: boolean
}

// Where the packaged service has them.
const systemConfigFile = '/etc/posthorn/posthorn.toml'
const systemDataDir = '/var/lib/posthorn'

/** That of the service where a release is installed, unless the working directory has one of its own. */
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
  // The directory's own first: a sandbox beside the service is not to live by the service's
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
 * Where the database of the place is, whatever the other settings say. To be asked before `becomeOwner` first: root
 * alone may read the settings.
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
  // A file that is yet to be written says nothing.
  const source = file === undefined || !isThere(file) ? {} : { file }
  return readPart({ store: settings.store }, { env: process.env, ...source }).store
}

/** The name of the appliance of the place among the nodes; to be asked before `becomeOwner` first. */
export function nodeNameOfPlace({ configFile: file }: CommandPlace): string {
  const source = file === undefined || !isThere(file) ? {} : { file }
  return nodeNameOf(readPart({ node: settings.node }, { env: process.env, ...source }).node)
}

/** The same by the text of a file of settings that is yet to be written. */
export function databaseIn({ dataDir }: CommandPlace, text: string): DatabasePlace {
  const source = { env: process.env, file: configFile(dataDir), text }
  return databaseAt(dataDir, readPart({ store: settings.store }, source).store)
}

/**
 * Becomes the user that the data directory belongs to, for good, when root runs the command for a service of
 * another name: whatever is then created there (the database's -wal and -shm too) is that user's, no link that this
 * user might have laid out leads root to a file of the system, and no command that his settings name (`backup.hook`)
 * runs as root. Settings are read before, as they may be root's alone.
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

/** As whom root's command works since `becomeOwner`: messages about what it may not do name that user. */
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
 * Acts as that user until the function that it returns is called, which makes root of it again. Only for work that
 * starts no other program: one would be root.
 */
export function actAsOwner(place: CommandPlace): () => void {
  const owner = ownerToBecome(place)
  if (owner === undefined) return () => {}
  const groups = process.getgroups?.() ?? []
  process.setgroups?.([owner.gid])
  process.setegid?.(owner.gid)
  process.seteuid?.(owner.uid)
  return () => {
    // Root's own name first: nobody else may take the others back.
    process.seteuid?.(0)
    process.setegid?.(0)
    process.setgroups?.(groups)
  }
}

/** Undefined where nothing is to change: not root, no directory yet, or one of root's own. */
function ownerToBecome({ dataDir }: CommandPlace): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0 || process.geteuid?.() !== 0) return undefined
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  return owner === undefined || owner.uid === 0 ? undefined : owner
}

// They write settings, or live by their own whatever the machine's are.
const ownSettings = ['setup', 'quickstart', 'sandbox']
// They make the directory, or work without one.
const makers = ['init', 'setup', 'restore', 'quickstart', 'sandbox']
// They say something of the program alone.
const placeless = ['version', 'completions', 'man-page']

/** Refuses what was named and is not there, whatever the command reads: a mistyped name is told at once. */
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

/** What may not be looked at is told by what reads it. */
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
  /** A file that was copied may be copied once more. */
  { evenCopied = false }: { evenCopied?: boolean } = {},
): Promise<void> {
  const { dataDir } = place
  refuseHalfRestored(dataDir)
  if (!evenCopied) refuseCopied(place)
  if (isThere(applianceKeyFile(dataDir))) return
  // Only here: loading the database takes longer than all that a refusal needs.
  const { findDatabase } = await import('../store/index.js')
  const database = databaseOf(place)
  const { kind } = isThere(dataDir) ? await findDatabase(database) : { kind: 'missing' }
  const { keyMissing, unfinished } = await import('../app/own-database.js')
  if (kind === 'there') throw keyMissing(database)
  if (kind === 'unfinished') throw unfinished(database)
  throw noDataDir(dataDir)
}

/** A file whose rows were copied to a PostgreSQL: what is written there now is lost, and its mail is sent from the other. */
function refuseCopied(place: CommandPlace): void {
  const { dataDir } = place
  const note = copiedNote(dataDir)
  if (!isThere(note) || databaseOf(place).url !== undefined) return
  throw new OperatorError(
    `The database in ${dataDir} was copied to ${readFileSync(note, 'utf8')}, and its mail is sent from there: name that as store.url. Where that was the wrong one, 'posthorn database copy --again --to …' copies into another. 'posthorn serve --force' goes on with the file instead, which may send mail twice`,
    { status: exitStatus.misplaced },
  )
}

/** For who would make a new and empty database where a restore was about to put one. */
export function refuseHalfRestored(dataDir: string): void {
  if (!isHalfRestored(dataDir)) return
  throw new OperatorError(
    `A restore into ${dataDir} was broken off: run 'posthorn restore' again. To give it up, remove ${restoreScratch(dataDir)}`,
    { status: exitStatus.misplaced },
  )
}

/** A release is installed in a folder of its own, which goes with it; `current` leads to the one in use. */
export const lastingPath = (file: string): string =>
  file.replace(/^(\/usr\/lib\/posthorn)\/[^/]+\//, (found, folder: string) =>
    isThere(join(folder, 'current')) ? `${folder}/current/` : found,
  )

/** Throws where it may not look: settings that cannot be seen must not be passed over. */
const isThere = (file: string) => statSync(file, { throwIfNoEntry: false }) !== undefined
