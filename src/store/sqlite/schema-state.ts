import { existsSync } from 'node:fs'
import { type KnownSchema, type SchemaState, stateOf } from '../schema-state.js'
import { openConnection } from './connection.js'
import { databaseFile } from './files.js'

/**
 * Reads how the file's schema relates to a release with the migrations `known`. Throws SQLite's error where it is not
 * a database.
 */
export function readSchemaState(dataDir: string, known: KnownSchema): SchemaState {
  const file = databaseFile(dataDir)
  if (!existsSync(file)) return stateOf({ executed: [], writtenBy: undefined }, known)
  const raw = openConnection(file, { busyTimeoutMs: 10_000 })
  try {
    const pluck = (sql: string) => raw.prepare<[], string>(sql).pluck().all()
    const tables = pluck(
      "select name from sqlite_schema where name in ('kysely_migration', 'releases')",
    )
    const executed = tables.includes('kysely_migration')
      ? pluck('select name from kysely_migration order by name')
      : []
    const [writtenBy] = tables.includes('releases')
      ? pluck('select version from releases order by id desc limit 1')
      : []
    return stateOf({ executed, writtenBy }, known)
  } finally {
    raw.close()
  }
}
