import { close, fdatasync, fsync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { messageOf } from '../../errors/index.js'
import type { OnFault } from '../trouble.js'
import { logFile } from './files.js'

/** Brings the write-ahead log to the disk without holding up the thread. */
export interface LogSync {
  /** Resolves when all that was committed before the call is on disk; rejects if that failed. */
  flush(): Promise<void>
  close(): Promise<void>
}

/**
 * With `synchronous = normal` SQLite writes a commit to the log and leaves the sync to us; its other syncs (before
 * and after checkpoints, a log that begins anew) stay. A crash of only the process loses nothing either way, because
 * the kernel has the log. The log must exist, which the first commit ensures, and keeps its inode as long as a
 * connection is open.
 *
 * If the file cannot be opened (too many are open), callers get a 503, and the next sync makes up for it. No later
 * sync makes up for a failed one: `onFault` is told.
 */
export function openLogSync(databaseFile: string, onFault?: OnFault): LogSync {
  let log: number | undefined
  const flush = sharing(async () => {
    if (log === undefined) {
      const file = openSync(logFile(databaseFile), 'r')
      try {
        // The file may be new: its name has to be on disk too.
        const directory = openSync(dirname(databaseFile), 'r')
        await synced(promisify(fsync)(directory), onFault).finally(() =>
          promisify(close)(directory),
        )
      } catch (error) {
        await promisify(close)(file)
        throw error
      }
      log = file
    }
    await synced(syncFile(log), onFault)
  })
  return {
    flush,
    async close() {
      const open = log
      // A second close would close whichever file has been given this number since.
      log = undefined
      if (open !== undefined) await promisify(close)(open)
    },
  }
}

/** Tells `onFault` when the sync fails, because no later one makes up for it. */
export function synced(sync: Promise<void>, onFault: OnFault | undefined): Promise<void> {
  return sync.catch((error) => {
    onFault?.({ kind: 'unsynced', message: messageOf(error) })
    throw error
  })
}

/** Brings what was written to a file to the disk. `promisify` would make a function each time. */
export const syncFile = (file: number): Promise<void> =>
  new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error ? reject(error) : resolve()))
  })

/** One sync at a time; callers that come while one is under way share the next. */
export function sharing(sync: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined
  let following: Promise<void> | undefined
  const begin = () => {
    underWay = sync().finally(() => {
      underWay = undefined
    })
    return underWay
  }
  return () => {
    if (underWay === undefined) return begin()
    // The sync under way may have begun before this caller's commit was written.
    following ??= underWay
      .catch(() => {})
      .then(() => {
        following = undefined
        return begin()
      })
    return following
  }
}
