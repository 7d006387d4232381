import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { OperatorError } from '../errors/index.js'
import { isJsonObject } from '../json/index.js'
import { isTable, parseToml, type Table, writeToml } from '../toml/index.js'
import { applianceKeyFile, ownRuleFiles, ruleFiles } from './files.js'

/** What a machine needs to be one more node. */
export interface NodeBundle {
  applianceKey: string
  /** The text of its file of settings. */
  settings: string
  /** The operator's rule files, by their names. */
  files: Readonly<Record<string, string>>
  /** Settings of the inviting machine that are left out, since each machine makes them for itself. */
  left: readonly string[]
}

/**
 * The settings that each machine makes for itself: its names, and where its own secrets lie. The addresses that mail
 * leaves from may be listed for all nodes: each uses its own of them. The bundle names the database with its password,
 * wherever that came from.
 */
const ownSettings = [
  'node.name',
  'node.address',
  'store.password_file',
  'outbound.helo_name',
  'outbound.threads',
]
/** These only where they name the address of one machine. */
const listened = ['http.private.host', 'http.public.host', 'inbound.host']

/** `settings` is the text of the file; `storeUrl` has the password in it. */
export function bundleOf(
  dataDir: string,
  { settings, file, storeUrl }: { settings: string; file: string; storeUrl: string },
): NodeBundle {
  const table = parseToml(settings, file)
  const left = [
    ...ownSettings.filter((name) => takeOut(table, name) !== undefined),
    ...listened.filter((name) => isOwnAddress(valueAt(table, name)) && takeOut(table, name)),
  ].filter((name) => name !== 'store.password_file')
  tableIn(table, 'store').url = storeUrl
  tableIn(table, 'node').join = true
  const files = ruleFiles.flatMap((name) => {
    // The file beside the data wins over that of the machine.
    const path = ownRuleFiles(dataDir, name).at(-1)
    return path === undefined ? [] : [[name, readFileSync(path, 'utf8')] as const]
  })
  const applianceKey = readFileSync(applianceKeyFile(dataDir), 'utf8').trim()
  return { applianceKey, settings: writeToml(table), files: Object.fromEntries(files), left }
}

/** Throws an OperatorError for a text that is no bundle. */
export function readBundle(text: string): NodeBundle {
  const found: unknown = JSON.parse(text)
  if (isJsonObject(found)) {
    const { applianceKey, settings, files, left } = found
    if (
      typeof applianceKey === 'string' &&
      typeof settings === 'string' &&
      isJsonObject(files) &&
      Array.isArray(left)
    ) {
      const known = ruleFiles.flatMap((name) => {
        const content = files[name]
        return typeof content === 'string' ? [[name, content] as const] : []
      })
      return { applianceKey, settings, files: Object.fromEntries(known), left: left.map(String) }
    }
  }
  throw new OperatorError(
    'The appliance that invites is of another version: give both the same one',
  )
}

/** Refuses a machine that has an appliance already, before anything is asked for. */
export function refuseOccupied(dataDir: string, settingsFile: string): void {
  const there = [
    applianceKeyFile(dataDir),
    join(dataDir, 'posthorn.db'),
    settingsFile,
    ...ruleFiles.map((name) => join(dataDir, name)),
  ].find((file) => existsSync(file))
  if (there === undefined) return
  throw new OperatorError(
    `${there} is there already, and nothing is written over: a machine joins with an empty data directory (--data), or move what is there away`,
  )
}

/** The bundle with settings of the new machine, by their names such as `node.name`; those are left out no more. */
export function withOwnSettings(
  bundle: NodeBundle,
  own: Readonly<Record<string, string>>,
): NodeBundle {
  const table = parseToml(bundle.settings, 'the settings of the code')
  for (const [name, value] of Object.entries(own)) {
    const path = name.split('.')
    const last = path.pop() ?? ''
    path.reduce(tableIn, table)[last] = value
  }
  const left = bundle.left.filter((name) => own[name] === undefined)
  return { ...bundle, settings: writeToml(table), left }
}

/** Makes the data directory and writes the settings, for their owner alone. */
export function placeSettings(dataDir: string, file: string, { settings }: NodeBundle): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  write(file, `# Written by 'posthorn node join', and yours to change.\n${settings}`)
}

/** Writes the other files into the data directory, for its owner alone. */
export function placeBundle(dataDir: string, { files, applianceKey }: NodeBundle): void {
  for (const [name, text] of Object.entries(files)) write(join(dataDir, name), text)
  // The key comes last: with it the directory is an appliance's.
  write(applianceKeyFile(dataDir), `${applianceKey}\n`)
}

const write = (file: string, text: string) =>
  writeFileSync(file, text, { flag: 'wx', mode: 0o600, flush: true })

const isOwnAddress = (value: unknown) =>
  typeof value === 'string' && isIP(value) !== 0 && !/^(0\.0\.0\.0|::|::1|127\..*)$/.test(value)

function valueAt(table: Table, name: string): unknown {
  return name.split('.').reduce<unknown>((at, key) => (isTable(at) ? at[key] : undefined), table)
}

/** Removes a setting from the table, and answers its value. */
function takeOut(table: Table, name: string): unknown {
  const path = name.split('.')
  const last = path.pop() ?? ''
  const at = path.length === 0 ? table : valueAt(table, path.join('.'))
  if (!isTable(at)) return undefined
  const value = at[last]
  delete at[last]
  return value
}

function tableIn(table: Table, name: string): Table {
  const found = table[name]
  if (isTable(found)) return found
  const made: Table = {}
  table[name] = made
  return made
}
