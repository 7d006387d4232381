import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type DkimKeyPair, generateDkimKeyPair } from '../../src/dkim/index.js'
import { databaseFile, migrateStore } from '../../src/store/index.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const folder = at('../../.templates')

/** Brings the database of a directory up to date; where there is none yet, by copying an empty one. */
export async function makeDatabase(dataDir: string): Promise<void> {
  if (existsSync(databaseFile(dataDir))) {
    await migrateStore({ dataDir })
    return
  }
  const template = templateOf('database')
  if (!template.isThere) {
    await migrateStore({ dataDir: template.dir })
    template.keep()
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  cpSync(databaseFile(template.whole), databaseFile(dataDir))
}

/**
 * A shared key pair for the domains of tests: new primes for each would take a tenth of the time of a test's
 * appliance.
 */
export async function rsaPair(): Promise<DkimKeyPair> {
  const template = templateOf('rsa-pair')
  const file = (dir: string) => join(dir, 'pair.json')
  if (!template.isThere) {
    writeFileSync(file(template.dir), JSON.stringify(await generateDkimKeyPair('rsa-sha256')))
    template.keep()
  }
  return JSON.parse(readFileSync(file(template.whole), 'utf8'))
}

/**
 * A directory that takes a while to make and is the same each time: the first test that needs it makes it in `dir`,
 * and keeps it for other tests of this build to copy from `whole`.
 */
export function templateOf(name: string) {
  const whole = join(folder, `${name}-${schemaHash()}`)
  if (existsSync(whole)) return { whole, isThere: true as const }
  mkdirSync(folder, { recursive: true })
  const dir = mkdtempSync(join(folder, `${name}-partial-`))
  const keep = () => {
    try {
      renameSync(dir, whole)
    } catch (error) {
      // Another test was first.
      if (!existsSync(whole)) throw error
      rmSync(dir, { recursive: true })
    }
  }
  return { whole, isThere: false as const, dir, keep }
}

let hash: string | undefined

/** An edited schema makes other templates, also where the old build was not removed. */
function schemaHash(): string {
  if (hash !== undefined) return hash
  const store = at('../../src/store')
  const sum = createHash('sha256')
  const tables = readdirSync(join(store, 'schema')).filter((name) => name.endsWith('.js'))
  for (const file of [...tables.sort().map((name) => join('schema', name)), 'migrate.js']) {
    sum.update(file).update(readFileSync(join(store, file)))
  }
  hash = sum.digest('hex').slice(0, 12)
  return hash
}
