import { join } from 'node:path'

/** The files of a data directory beside the database (`store` names that one). */
export const applianceKeyFile = (dataDir: string) => join(dataDir, 'appliance.key')
export const configFile = (dataDir: string) => join(dataDir, 'posthorn.toml')
export const lockFile = (dataDir: string) => join(dataDir, 'posthorn.lock')
