import { openSync } from 'node:fs'
import { reportFault } from '../fault.js'
import type { OnFault } from '../trouble.js'
import type { WriteTurns } from '../turns.js'
import type { Write } from '../writing.js'
import type { RawDatabase } from './connection.js'
import { synced, syncFile } from './log-sync.js'

export interface CheckpointOptions {
  databaseFile: string
  /** Any connection will do: it writes nothing. */
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

// 64 MB, half of what the writers' own checkpoint waits for.
const longLogPages = 16_000

/**
 * Makes the checkpoint of a thread that nobody waits for. SQLite's own, of whoever commits at 128 MB, finds little left
 * to copy, but all to sync: one that does not reach the end of the log, as somebody writes meanwhile, does not sync the
 * database, and the log can only begin anew after one that did. That took 50 to 130 ms in which nobody else wrote (Nov
 * 2026). So what was copied is synced here each time, and the rest of a long log copied while nobody may write: 2 to 4 ms.
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
    // Never closed: with it would go all locks that this process has on the database (sqlite.org/howtocorrupt.html §2.2).
    const database = turns.sharedFile(() => openSync(databaseFile, 'r'))
    await synced(syncFile(database), onFault)
    return copied
  }
  return async ({ shrink = false }: { shrink?: boolean } = {}): Promise<void> => {
    try {
      let copied = await copyAndSync()
      if (copied.log >= longLogPages && isWhole(copied)) {
        // What came meanwhile: the less there is left, the shorter others wait.
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

/** Whether nothing is left to copy; a reader, such as a backup's, may keep some of the log from it. */
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
