import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../config/index.js'

/** The files of a data directory beside the database (`store` names that one). */
export const applianceKeyFile = (dataDir: string) => join(dataDir, 'appliance.key')
export const configFile = (dataDir: string) => join(dataDir, 'posthorn.toml')
export const lockFile = (dataDir: string) => join(dataDir, 'posthorn.lock')

/** The operator's plans where there are some, else those that come with Posthorn. */
export function plansFile(dataDir: string): string {
  const own = [join(dataDir, 'plans.toml'), '/etc/posthorn/plans.toml']
  return own.find((file) => existsSync(file)) ?? packageFile('config/plans.toml')
}
