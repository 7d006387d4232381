import { existsSync } from 'node:fs'
import { openConnection } from './connection.js'
import { databaseFile } from './files.js'

/** The first migration. Numbers below it were of Posthorn before its first release, which no release reads. */
export const baseline = '0101-baseline'

/** How the schema of a database stands to the one that this release knows. */
export interface SchemaState {
  /**
   * `none`: no release has begun it; `unreleased`: it is of before the first release; `newer`: it has migrations that
   * this release does not know.
   */
  kind: 'none' | 'unreleased' | 'older' | 'same' | 'newer'
  /** The name of its last migration. */
  schema: string | undefined
  /** The version of the release that wrote it last; undefined where no release has got so far. */
  writtenBy: string | undefined
}

/** Whether a schema of that name is of before the first release. */
export const isUnreleased = (schema: string): boolean => schema < baseline

/** What is said of a database of before the first release. */
export const sayUnreleased = (dataDir: string): string =>
  `The database in ${dataDir} was made by Posthorn before its first release, and no release reads it: move that directory away, and make a new one ('posthorn setup' or 'posthorn init')`

/** Reads it and changes nothing. Throws SQLite's error where the file is no database. */
export function readSchemaState(dataDir: string, known: readonly string[]): SchemaState {
  const none: SchemaState = { kind: 'none', schema: undefined, writtenBy: undefined }
  const file = databaseFile(dataDir)
  if (!existsSync(file)) return none
  const raw = openConnection(file, { busyTimeoutMs: 10_000 })
  try {
    const pluck = (sql: string) => raw.prepare<[], string>(sql).pluck().all()
    const tables = pluck(
      "select name from sqlite_schema where name in ('kysely_migration', 'releases')",
    )
    if (!tables.includes('kysely_migration')) return none
    const executed = pluck('select name from kysely_migration order by name')
    const schema = executed.at(-1)
    // Whoever began it was killed before the first migration.
    if (schema === undefined) return none
    const [writtenBy] = tables.includes('releases')
      ? pluck('select version from releases order by id desc limit 1')
      : []
    return { kind: kindOf(executed, known), schema, writtenBy }
  } finally {
    raw.close()
  }
}

function kindOf(executed: readonly string[], known: readonly string[]): SchemaState['kind'] {
  if (isUnreleased(executed.at(-1) ?? '')) return 'unreleased'
  if (executed.some((name) => !known.includes(name))) return 'newer'
  return executed.length < known.length ? 'older' : 'same'
}
