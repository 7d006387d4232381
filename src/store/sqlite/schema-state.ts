import { existsSync } from 'node:fs'
import { openConnection } from './connection.js'
import { databaseFile } from './files.js'

/** How the schema of a database stands to the one that this release knows. */
export interface SchemaState {
  /** `newer`: it has migrations that this release does not know; `none`: no release has begun it. */
  kind: 'none' | 'older' | 'same' | 'newer'
  /** The name of its last migration. */
  schema: string | undefined
  /** The version of the release that wrote it last; undefined for one of before 0060. */
  writtenBy: string | undefined
}

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
    const [writtenBy] = tables.includes('releases')
      ? pluck('select version from releases order by id desc limit 1')
      : []
    const isNewer = executed.some((name) => !known.includes(name))
    const kind = isNewer ? 'newer' : executed.length < known.length ? 'older' : 'same'
    return { kind, schema: executed.at(-1), writtenBy }
  } finally {
    raw.close()
  }
}
