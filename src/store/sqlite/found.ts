import { statSync } from 'node:fs'
import { openConnection } from './connection.js'
import { databaseFile } from './files.js'

/** What lies in a data directory before anything is opened or made there. */
export type FoundDatabase =
  | { kind: 'missing' | 'empty' }
  /** `keyCheck`: of the appliance key that it was made with; undefined until one was remembered. */
  | { kind: 'there'; keyCheck: string | undefined }

/**
 * Looks and makes nothing: SQLite would create the file that is missing, and delete the log beside one
 * that is empty. Throws SQLite's error where the file is no database.
 */
export function findDatabase(dataDir: string): FoundDatabase {
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
