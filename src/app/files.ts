import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../config/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'

/** The files of a data directory beside the database (`store` names that one). */
export const applianceKeyFile = (dataDir: string) => join(dataDir, 'appliance.key')
export const configFile = (dataDir: string) => join(dataDir, 'posthorn.toml')
export const lockFile = (dataDir: string) => join(dataDir, 'posthorn.lock')

/** Where the running appliance answers the commands of this data directory's owner. */
export const controlSocket = (dataDir: string) => join(dataDir, 'control.sock')

/** What refusals mean: the rules that come with Posthorn and, over them, the operator's. */
export function bounceRuleFiles(dataDir: string): string[] {
  const own = ['/etc/posthorn/bounce-rules.toml', join(dataDir, 'bounce-rules.toml')]
  return [packageFile('config/bounce-rules.toml'), ...own.filter((file) => existsSync(file))]
}

/** Who opens and clicks without reading: what comes with Posthorn and, over it, the operator's. */
export function trackingAgentFiles(dataDir: string): string[] {
  const own = ['/etc/posthorn/tracking-agents.toml', join(dataDir, 'tracking-agents.toml')]
  return [packageFile('config/tracking-agents.toml'), ...own.filter((file) => existsSync(file))]
}

/** The operator's plans where there are some, else those that come with Posthorn. */
export function plansFile(dataDir: string): string {
  const own = [join(dataDir, 'plans.toml'), '/etc/posthorn/plans.toml']
  return own.find((file) => existsSync(file)) ?? packageFile('config/plans.toml')
}

/** How fast mail goes to whom: the file that comes with Posthorn and, over it, the operator's. */
export function shapingFiles(dataDir: string): string[] {
  const own = ['/etc/posthorn/shaping.toml', join(dataDir, 'shaping.toml')]
  return [packageFile('config/shaping.toml'), ...own.filter((file) => existsSync(file))]
}

/** Reads a file that an operator has edited; a bad one changes nothing and is told. */
export function readAgain<T>(log: Log, read: () => T, use: (value: T) => void): void {
  try {
    use(read())
  } catch (error) {
    log.error({ cause: messageOf(error) }, 'The new file is not used')
  }
}
