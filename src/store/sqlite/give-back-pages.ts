import { type FilePages, readPages } from '../running.js'
import type { Read } from '../schema/index.js'
import type { Write } from '../writing.js'
import { openConnection } from './connection.js'
import { execOn } from './driver.js'
import { databaseFile } from './files.js'

// Takes some 3 ms of the turn to write (Nov 2026).
const perWrite = 100
// The next day fills what one day deletes: a file that shrinks and grows every day writes its pages twice.
const keptShare = 0.1

/**
 * Gives free pages at the end of the file back to the file system, except for a tenth of the file, in small writes,
 * between which `signal` is checked. A file from before Posthorn set this up gives none back.
 */
export async function giveBackPages(
  { read, write }: { read: Read; write: Write },
  signal: AbortSignal,
): Promise<{ before: FilePages; after: FilePages }> {
  const before = await readPages(read)
  let now = before
  while (before.shrinks && !signal.aborted) {
    const excess = Math.floor(now.free - now.total * keptShare)
    if (excess <= 0) break
    const pages = Math.min(perWrite, excess)
    await write(async (tx) => execOn(tx, `pragma incremental_vacuum(${pages})`))
    const after = await readPages(read)
    if (after.free >= now.free) break
    now = after
  }
  return { before, after: now }
}

/**
 * Writes the whole file anew without its free pages; from then on it can shrink. Nobody else may have it open, and
 * the disk needs room for a second file. Returns the sizes in bytes.
 */
export function vacuumStore(dataDir: string): { beforeBytes: number; afterBytes: number } {
  const raw = openConnection(databaseFile(dataDir), { busyTimeoutMs: 10_000 })
  const bytes = () =>
    Number(raw.pragma('page_count', { simple: true })) *
    Number(raw.pragma('page_size', { simple: true }))
  try {
    const beforeBytes = bytes()
    // On a file that was made without this, it takes effect at the next `vacuum` of the same connection.
    raw.pragma('auto_vacuum = incremental')
    raw.exec('vacuum')
    raw.pragma('wal_checkpoint(truncate)')
    return { beforeBytes, afterBytes: bytes() }
  } finally {
    raw.close()
  }
}
