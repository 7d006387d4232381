import { openSync } from 'node:fs'
import { reportFault } from '../fault.js'
import type { OnFault } from '../trouble.js'
import type { WriteTurns } from '../turns.js'
import type { Write } from '../writing.js'
import type { RawDatabase } from './connection.js'
import { synced, syncFile } from './log-sync.js'

export interface CheckpointOptions {
  databaseFile: string
  /** Any connection; it writes nothing. */
  raw: RawDatabase
  busyTimeoutMs: number
  write: Write
  turns: Pick<WriteTurns, 'sharedFile'>
  onFault?: OnFault | undefined
}

/** How many pages the log has, and how many of them are copied, as far as this connection saw. */
interface Copied {
  log: number
  checkpointed: number
}

// 64 MB, half of the size at which the writers' own checkpoint begins.
const longLogPages = 16_000

/**
 * Makes the checkpoint of a thread that nobody waits for. SQLite's own checkpoint, by the thread that commits at 128
 * MB, would find little left to copy, but everything to sync: a checkpoint that does not reach the end of the log,
 * because somebody writes meanwhile, does not sync the database, and the log can begin anew only after one that did.
 * That took 50 to 130 ms in which nobody else wrote (Nov 2026). So the copied pages are synced here each time, and
 * the rest of a long log is copied while nobody may write: 2 to 4 ms.
 */
export function makeCheckpoint({
  databaseFile,
  raw,
  busyTimeoutMs,
  write,
  turns,
  onFault,
}: CheckpointOptions) {
  const copy = (): Copied => {
    const [copied] = raw.pragma('wal_checkpoint(passive)') as Copied[]
    return copied ?? { log: 0, checkpointed: 0 }
  }
  const copyAndSync = async () => {
    const copied = copy()
    // Never closed: closing it would end all locks that this process has on the database
    // (sqlite.org/howtocorrupt.html §2.2).
    const database = turns.sharedFile(() => openSync(databaseFile, 'r'))
    await synced(syncFile(database), onFault)
    return copied
  }
  return async ({ shrink = false }: { shrink?: boolean } = {}): Promise<void> => {
    try {
      let copied = await copyAndSync()
      if (copied.log >= longLogPages && isWhole(copied)) {
        // Copies what came meanwhile: the less is left, the shorter others wait.
        await copyAndSync()
        await write(async () => {
          copied = copy()
        })
      }
      if (shrink && isWhole(copied)) cutLog(raw, busyTimeoutMs)
    } catch (error) {
      reportFault(error, onFault)
      throw error
    }
  }
}

/** Whether nothing is left to copy; a reader, such as a backup, may keep some of the log from being copied. */
const isWhole = ({ log, checkpointed }: Copied) => log > 0 && log === checkpointed

/** Waits for readers with the writers' lock (sqlite.org/c3ref/wal_checkpoint_v2.html), so only for a moment. */
function cutLog(raw: RawDatabase, busyTimeoutMs: number): void {
  raw.pragma('busy_timeout = 50')
  try {
    raw.pragma('wal_checkpoint(truncate)')
  } finally {
    raw.pragma(`busy_timeout = ${busyTimeoutMs}`)
  }
}
