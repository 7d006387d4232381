import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { configFile } from '../app/files.js'
import { systemConfigDir, systemDataDir } from '../setup/index.js'
import { type CommandPlace, placeOf } from './place.js'

/** Where setup works, and whether it makes a service of the machine. */
export interface SetupPlace extends CommandPlace {
  configFile: string
  /** The file of settings exists already. */
  hasSettings: boolean
  /** Root sets up the service's own directories, with a user and a unit of systemd. */
  isSystem: boolean
}

/** As for other commands if a directory is named; otherwise the service's directory, for root. */
export function setupPlace(command: Command): SetupPlace {
  const given = placeOf(command)
  const { data } = command.optsWithGlobals<{ data?: string }>()
  const isRoot = process.getuid?.() === 0
  const isNamed = Boolean(data || process.env.POSTHORN_DATA)
  const dataDir = isRoot && !isNamed ? systemDataDir : given.dataDir
  const isSystem = isRoot && dataDir === systemDataDir
  const usual = isSystem ? join(systemConfigDir, 'posthorn.toml') : configFile(dataDir)
  const file = given.configNamed && given.configFile !== undefined ? given.configFile : usual
  return { ...given, dataDir, configFile: file, hasSettings: existsSync(file), isSystem }
}
