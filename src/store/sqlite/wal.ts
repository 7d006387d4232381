import { stat } from 'node:fs/promises'
import { openConnection } from './connection.js'
import { databaseFile, logFile } from './files.js'

/** The size of the write-ahead log; 0 where there is none. */
export async function walBytes(dataDir: string): Promise<number> {
  try {
    return (await stat(logFile(databaseFile(dataDir)))).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
}

/**
 * Copies all of the write-ahead log into the database and syncs that: for the start, before anything else has it
 * open. After a failed sync the log may be complete in memory and have a gap on the disk, which no later sync would
 * fill. Copied into the database, its pages are written anew.
 */
export function emptyWal(dataDir: string): void {
  const raw = openConnection(databaseFile(dataDir), { busyTimeoutMs: 10_000 })
  try {
    raw.pragma('wal_checkpoint(truncate)')
  } finally {
    raw.close()
  }
}
