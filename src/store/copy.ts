import { statfsSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { OperatorError } from '../errors/index.js'
import { databaseFile, openConnection } from './dialect.js'

export interface CopyOptions {
  signal?: AbortSignal | undefined
  /** What the log may grow by meanwhile, in bytes; then the copy is given up. */
  maxLogGrowth?: number | undefined
  /** Told now and then how many bytes of the database are copied, and the size of its log. */
  onProgress?: ((copied: number, walBytes: number) => void) | undefined
}

// So much is read at a time, and so much written between two syncs: the disk is never so far behind that
// the sync of a mail's commit waits for a backup's pages.
const chunkBytes = 1_048_576
const bytesPerSync = 16 * chunkBytes
// What the log may not take from the disk of the data directory while it is held back: mail goes first.
const reserveBytes = 512 * 1_048_576
// What the log may grow by in any case. A longer one costs each look into it, and its way back into the database.
const leastLogGrowth = 1_024 * 1_048_576

/**
 * Copies the database of a data directory, while an appliance writes to it, into `target` and
 * `target`-wal, which together are a consistent snapshot: SQLite makes one file of them when it opens the
 * copy. README.md, 'Copying a database in use', says why this way.
 *
 * A connection that reads holds a snapshot meanwhile. No checkpoint writes what is newer than that
 * snapshot into the database file, and the log, which has the rest, does not begin anew. So the two
 * files, copied in this order, are what a crash at that moment would have left.
 *
 * Only for a process that has no other connection to this database: closing a file ends all of the
 * process's POSIX locks on it, SQLite's as well (sqlite.org/howtocorrupt.html §2.2).
 */
export async function copyDatabase(
  dataDir: string,
  target: string,
  { signal, onProgress, maxLogGrowth }: CopyOptions = {},
): Promise<void> {
  const file = databaseFile(dataDir)
  const most = walSize(file) + (maxLogGrowth ?? Math.max(leastLogGrowth, statSync(file).size / 4))
  const opened: FileHandle[] = []
  const openFile = async (path: string, flags: string) => {
    const handle = await open(path, flags, 0o600)
    opened.push(handle)
    return handle
  }
  const reader = openConnection(file, { readonly: true, busyTimeoutMs: 10_000 })
  try {
    reader.exec('begin')
    // The snapshot begins with the first thing that is read.
    reader.prepare('select count(*) from sqlite_schema').get()
    const source = await openFile(file, 'r')
    const copy = await openFile(target, 'w')
    await copyBytes(source, copy, (copied) => {
      signal?.throwIfAborted()
      keepRoom(dataDir)
      refuseGrown(walSize(file), most)
      onProgress?.(copied, walSize(file))
    })
    await copyLog(`${file}-wal`, `${target}-wal`, {
      openFile,
      onSync: () => {
        signal?.throwIfAborted()
        keepRoom(dataDir)
        refuseGrown(walSize(file), most)
      },
    })
  } finally {
    // Before the files are closed, or its locks would be gone while it reads.
    reader.close()
    for (const handle of opened) await handle.close()
  }
}

const walSize = (file: string) => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0

async function copyBytes(from: FileHandle, to: FileHandle, onSync: (copied: number) => void) {
  const chunk = Buffer.alloc(chunkBytes)
  let unsynced = 0
  for (let at = 0; ; ) {
    const { bytesRead } = await from.read(chunk, 0, chunk.length, at)
    await writeAll(to, chunk.subarray(0, bytesRead), at)
    at += bytesRead
    unsynced += bytesRead
    if (unsynced >= bytesPerSync || bytesRead === 0) {
      await to.datasync()
      onSync(at)
      unsynced = 0
    }
    if (bytesRead === 0) return
  }
}

/** One call may write fewer. */
async function writeAll(to: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await to.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}

const logHeaderBytes = 32

/**
 * A log all of which is in the database already may begin anew at any time: its old commits must not be
 * replayed from a copy that was read half before and half after that. It begins anew with another salt
 * in its header, at most once while the snapshot is held.
 */
async function copyLog(
  path: string,
  target: string,
  {
    openFile,
    onSync,
  }: { openFile: (path: string, flags: string) => Promise<FileHandle>; onSync: () => void },
): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return
  const log = await openFile(path, 'r')
  for (;;) {
    const before = await readHeader(log)
    const copy = await openFile(target, 'w')
    await copyBytes(log, copy, onSync)
    if (before.equals(await readHeader(log))) return
  }
}

async function readHeader(log: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await log.read(Buffer.alloc(logHeaderBytes), 0, logHeaderBytes, 0)
  return buffer.subarray(0, bytesRead)
}

function keepRoom(dataDir: string): void {
  const { bavail, blocks, bsize } = statfsSync(dirname(databaseFile(dataDir)))
  if (bavail * bsize >= Math.min(reserveBytes, (blocks * bsize) / 20)) return
  throw new OperatorError(
    `The disk of ${dataDir} is nearly full: the backup was given up, as mail needs what is left. Make room, or back up to another disk`,
  )
}

function refuseGrown(logBytes: number, most: number): void {
  if (logBytes <= most) return
  const megabytes = (bytes: number) => Math.round(bytes / 1_000_000).toLocaleString('en-GB')
  throw new OperatorError(
    `The log of the database grew to ${megabytes(logBytes)} MB while it was copied, and ${megabytes(most)} MB is the most: the backup was given up, so that mail does not suffer. Try it when less is sent, or back up to a faster disk`,
  )
}
