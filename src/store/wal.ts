import { stat } from 'node:fs/promises'
import { databaseFile } from './dialect.js'

/** The size of the write-ahead log; 0 where there is none. */
export async function walBytes(dataDir: string): Promise<number> {
  try {
    return (await stat(`${databaseFile(dataDir)}-wal`)).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
}
