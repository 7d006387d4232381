import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../config/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'

/** The files of a data directory beside the database (`store` names that one). */
export const applianceKeyFile = (dataDir: string) => join(dataDir, 'appliance.key')
export const configFile = (dataDir: string) => join(dataDir, 'posthorn.toml')
export const lockFile = (dataDir: string) => join(dataDir, 'posthorn.lock')

/** Names the PostgreSQL to which a copy was begun, or all was copied: then nothing starts on the file any more. */
export const copyingNote = (dataDir: string) => join(dataDir, 'database.copying')
export const copiedNote = (dataDir: string) => join(dataDir, 'database.copied')

/** Where the running appliance answers the commands of this data directory's owner. */
export const controlSocket = (dataDir: string) => join(dataDir, 'control.sock')

/** Whether a socket can have this name (unix(7): `sun_path`). Node 20 cuts a longer name, and listens elsewhere. */
export const isSocketPath = (path: string): boolean => Buffer.byteLength(path) <= 107

/** Where an HTTP server takes requests that came over TLS, from the thread in which TLS ends. */
export const httpsSocket = (dataDir: string, listener: 'public' | 'private') =>
  join(dataDir, `${listener}.sock`)

/** Where a backup is unpacked before it gets its place here. */
export const restoreScratch = (dataDir: string) => join(dataDir, 'restore.partial')

/** A restore was ended before it had put the database (`store` names it) in its place. */
export const isHalfRestored = (dataDir: string): boolean =>
  existsSync(restoreScratch(dataDir)) && !existsSync(join(dataDir, 'posthorn.db'))

/** What refusals mean: the rules that come with Posthorn and, over them, the operator's. */
export const bounceRuleFiles = (dataDir: string) => layered('bounce-rules.toml', dataDir)

/** Whose complaints count: the feedback loops that come with Posthorn and, over them, the operator's. */
export const feedbackLoopFiles = (dataDir: string) => layered('feedback-loops.toml', dataDir)

/** Who opens and clicks without reading: what comes with Posthorn and, over it, the operator's. */
export const trackingAgentFiles = (dataDir: string) => layered('tracking-agents.toml', dataDir)

/** The operator's plans where there are some, otherwise those that come with Posthorn. */
export const plansFile = (dataDir: string): string =>
  ownPlansFile(dataDir) ?? packageFile('config/plans.toml')

/** The operator's plans, where there are some. */
export const ownPlansFile = (dataDir: string): string | undefined =>
  [join(dataDir, 'plans.toml'), '/etc/posthorn/plans.toml'].find((file) => existsSync(file))

/** How fast mail goes to whom: the file that comes with Posthorn and, over it, the operator's. */
export const shapingFiles = (dataDir: string) => layered('shaping.toml', dataDir)

/** The rule files that an operator may write: all nodes are to go by the same ones. */
export const ruleFiles = [
  'plans.toml',
  'shaping.toml',
  'bounce-rules.toml',
  'feedback-loops.toml',
  'tracking-agents.toml',
] as const

/** The operator's own files of this name that exist, all of which are read. */
export const ownRuleFiles = (dataDir: string, name: (typeof ruleFiles)[number]): string[] =>
  ['/etc/posthorn', dataDir].map((dir) => join(dir, name)).filter((file) => existsSync(file))

/**
 * All rule files of each name that this machine reads. The plans are left out: nodes must have the same plans anyway.
 */
export const comparedFiles = (dataDir: string): Record<string, string[]> =>
  Object.fromEntries(
    ruleFiles
      .filter((name) => name !== 'plans.toml')
      .map((name) => [name, ownRuleFiles(dataDir, name)]),
  )

/** The file that comes with Posthorn, then the operator's own files that exist: the later ones win. */
function layered(name: string, dataDir: string): string[] {
  const own = [join('/etc/posthorn', name), join(dataDir, name)]
  return [packageFile(join('config', name)), ...own.filter((file) => existsSync(file))]
}

/** Reads a file that an operator has edited; a bad file changes nothing, and the log tells of it. */
export function readAgain<T>(log: Log, read: () => T, use: (value: T) => void): void {
  try {
    use(read())
  } catch (error) {
    log.error({ cause: messageOf(error) }, 'The new file is not used')
  }
}
