import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { applianceKeyFile, configFile, isHalfRestored, restoreScratch } from '../app/files.js'
import { type Config, loadConfig } from '../config/index.js'
import { exitStatus, OperatorError } from '../errors/index.js'

/** Where a command works: which data directory, which settings, and how it answers. */
export interface Place {
  dataDir: string
  /** The file of settings that was named or found; undefined: defaults and environment alone. */
  configFile: string | undefined
  /** It was named by option or environment, not found. */
  configNamed: boolean
  json: boolean
}

const systemConfigFile = '/etc/posthorn/posthorn.toml'

/** Reads the global options, given before or after the sub-command, and the environment. */
export function placeOf(command: Command): Place {
  const options = command.optsWithGlobals<{ config?: string; data?: string; json?: boolean }>()
  const { env } = process
  // systemd.exec(5): several state directories are separated by colons.
  const stateDir = env.STATE_DIRECTORY?.split(':')[0]
  const dataDir = resolve(options.data || env.POSTHORN_DATA || stateDir || 'data')
  const named = options.config || env.POSTHORN_CONFIG
  const found = [configFile(dataDir), systemConfigFile].find(isThere)
  return {
    dataDir,
    configFile: named ? resolve(named) : found,
    configNamed: Boolean(named),
    json: options.json === true,
  }
}

/** The settings of the place; OperatorError with every problem when they are wrong. */
export function settingsOf({ configFile: file }: Place): Config {
  return loadConfig({ env: process.env, ...(file === undefined ? {} : { file }) })
}

/**
 * Becomes the user that the data directory belongs to, when root runs the command for a service of
 * another name: whatever is then created there (the database's -wal and -shm too) is that user's,
 * and no link that this user might have laid out leads root to a file of the system. Settings are
 * read before, as they may be root's alone.
 */
export function becomeOwner({ dataDir }: Place): void {
  if (process.getuid?.() !== 0 || process.geteuid?.() !== 0) return
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  if (owner === undefined || owner.uid === 0) return
  process.setgroups?.([owner.gid])
  process.setegid?.(owner.gid)
  process.seteuid?.(owner.uid)
}

/** Refuses a directory that `posthorn init` has not made, or that has lost its key. */
export async function requireDataDir({ dataDir }: Place): Promise<void> {
  refuseHalfRestored(dataDir)
  if (isThere(applianceKeyFile(dataDir))) return
  // Only here: loading the database takes longer than all that a refusal needs.
  const { findDatabase } = await import('../store/index.js')
  if (isThere(dataDir) && findDatabase(dataDir).kind === 'there') {
    throw (await import('../app/own-database.js')).keyMissing(dataDir)
  }
  throw new OperatorError(
    `${dataDir} is no data directory of Posthorn yet. 'posthorn init' makes one; --data or POSTHORN_DATA names another`,
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

/** Throws where it may not look: settings that cannot be seen must not be passed over. */
const isThere = (file: string) => statSync(file, { throwIfNoEntry: false }) !== undefined
