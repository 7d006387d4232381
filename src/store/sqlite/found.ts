import { statSync } from 'node:fs'
import type { FoundDatabase } from '../place.js'
import { openConnection } from './connection.js'
import { databaseFile } from './files.js'

/**
 * Looks and makes nothing: SQLite would create a missing file, and delete the log beside an empty one. Throws
 * SQLite's error where the file is not a database.
 */
export function findSqlite(dataDir: string): FoundDatabase {
  const file = databaseFile(dataDir)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return { kind: 'missing' }
  if (found.size === 0) return { kind: 'empty' }
  const raw = openConnection(file, { busyTimeoutMs: 10_000 })
  try {
    const tables = raw
      .prepare<[], string>(
        "select name from sqlite_schema where type = 'table' and name in ('accounts', 'appliance')",
      )
      .pluck()
      .all()
    // A first start that was killed before it made the tables leaves such a file.
    if (!tables.includes('accounts')) return { kind: 'empty' }
    const keyCheck = tables.includes('appliance')
      ? raw.prepare<[], string>('select key_check from appliance').pluck().get()
      : undefined
    return { kind: 'there', keyCheck }
  } finally {
    raw.close()
  }
}
