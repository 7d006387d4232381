import { constants, statfsSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { shownMegabytes } from '../../amounts/index.js'
import { pause, systemClock } from '../../clock/index.js'
import { OperatorError } from '../../errors/index.js'
import { openConnection } from './connection.js'
import { databaseFile, logFile } from './files.js'

export interface CopyOptions {
  signal?: AbortSignal | undefined
  /** How many bytes the log may grow meanwhile before the copy is given up. */
  maxLogGrowth?: number | undefined
  /** Called from time to time with the bytes of the database that are copied, and the size of its log. */
  onProgress?: ((copied: number, walBytes: number) => void) | undefined
}

const chunkBytes = 4 * 1_048_576
// How much is written between two looks at the log and the disk's room, and, where the kernel caches writes, between
// two syncs: the sync of a mail's commit does not wait for a backup's pages.
const stepBytes = 4 * chunkBytes
// The longest rest, however slow the disk is: the log grows meanwhile.
const longestRestMs = 1_000
// The room on the disk of the data directory that the log must leave while it is held back: mail goes first.
const reserveBytes = 512 * 1_048_576
// How much the log may grow in any case. A longer log makes each look into it and its checkpoint cost more. At full
// load it grew half as fast as the copy (34 of 70 MB/s, Nov 2026).
const leastLogGrowth = 4_096 * 1_048_576

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
  const most = walSize(file) + (maxLogGrowth ?? Math.max(leastLogGrowth, statSync(file).size))
  const opened: FileHandle[] = []
  const openFile: OpenFile = async (path, flags) => {
    const handle = await open(path, flags, 0o600)
    opened.push(handle)
    return handle
  }
  const reader = openConnection(file, { readonly: true, busyTimeoutMs: 10_000 })
  try {
    reader.exec('begin')
    // The snapshot begins with the first read.
    reader.prepare('select count(*) from sqlite_schema').get()
    const logBytes = walSize(file)
    const onStep = () => {
      signal?.throwIfAborted()
      keepRoom(dataDir)
      refuseGrown(walSize(file), most)
    }
    await copyPages(file, target, {
      openFile,
      onStep: (copied) => {
        onStep()
        onProgress?.(copied, walSize(file))
      },
    })
    await copyLog(logFile(file), logFile(target), { openFile, logBytes, onStep })
  } finally {
    // Closed before the files, or its locks would be gone while it reads.
    reader.close()
    for (const handle of opened) await handle.close()
  }
}

type OpenFile = (path: string, flags: number) => Promise<FileHandle>
const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_TRUNC, O_WRONLY } = constants
// Somebody who may write beside the copy could redirect it to another's file by a symlink.
const toMake = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
// Not every system has it.
const O_DIRECT: number | undefined = constants.O_DIRECT

const walSize = (file: string) => statSync(logFile(file), { throwIfNoEntry: false })?.size ?? 0

/**
 * Copies the database file around the kernel's page cache where the file system allows that: so a file of gigabytes
 * does not push out the pages that mail needs, and costs no processor time for the cache.
 */
async function copyPages(
  file: string,
  target: string,
  { openFile, onStep }: { openFile: OpenFile; onStep: (copied: number) => void },
): Promise<void> {
  const copyWith = async (flag: number) => {
    const source = await openFile(file, O_RDONLY | flag)
    await copyBytes(source, await openFile(target, toMake | flag), onStep)
  }
  if (O_DIRECT === undefined) return await copyWith(0)
  try {
    await copyWith(O_DIRECT)
  } catch (error) {
    // open(2): a file system without this says so at the first call.
    if (!(error instanceof Error && 'code' in error && error.code === 'EINVAL')) throw error
    await copyWith(0)
  }
}

/** Rests between two steps for as long as the last one took: half of the disk's time is mail's. */
async function copyBytes(
  from: FileHandle,
  to: FileHandle,
  onStep: (copied: number) => void,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const chunk = pageAligned(chunkBytes)
  for (let at = 0; ; ) {
    const began = performance.now()
    const end = at + stepBytes
    let bytesRead: number
    do {
      bytesRead = (await from.read(chunk, 0, Math.min(chunk.length, most - at), at)).bytesRead
      await writeAll(to, chunk.subarray(0, bytesRead), at)
      at += bytesRead
    } while (bytesRead > 0 && at < end)
    await to.datasync()
    onStep(at)
    if (bytesRead === 0) return
    await pause(systemClock, Math.min(performance.now() - began, longestRestMs))
  }
}

// Data that goes around the page cache must be aligned to the disk's blocks in memory too, and WebAssembly's memory
// is.
declare const WebAssembly: {
  Memory: new (size: { initial: number }) => { buffer: ArrayBuffer }
}

/**
 * For reads that go around the page cache (O_DIRECT), whose memory must be aligned to the disk's blocks.
 * WebAssembly's memory is aligned to 64 KiB.
 */
function pageAligned(bytes: number): Buffer {
  const page = 65_536
  return Buffer.from(new WebAssembly.Memory({ initial: bytes / page }).buffer)
}

/** One call may write fewer bytes. */
async function writeAll(to: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await to.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}

const logHeaderBytes = 32

/**
 * A log that is completely in the database may begin anew at any time: a copy that was read half before and half
 * after that must not replay old commits. The log begins anew with another salt in its header, at most once while the
 * snapshot is held. What was written after the snapshot, from `logBytes` on, belongs to later commits and is left
 * out: at full load the end of the log is hard to reach.
 */
async function copyLog(
  path: string,
  target: string,
  {
    openFile,
    logBytes,
    onStep,
  }: {
    openFile: OpenFile
    logBytes: number
    onStep: () => void
  },
): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return
  const log = await openFile(path, O_RDONLY)
  for (;;) {
    const before = await readHeader(log)
    const copy = await openFile(target, toMake)
    await copyBytes(log, copy, onStep, logBytes)
    if (before.equals(await readHeader(log))) return
  }
}

/**
 * The header of the log tells whether it began again since the last look: its salt changes then
 * (SQLite, WAL file format).
 */
async function readHeader(log: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await log.read(Buffer.alloc(logHeaderBytes), 0, logHeaderBytes, 0)
  return buffer.subarray(0, bytesRead)
}

/** A backup must never fill the disk, because then mail is refused. */
function keepRoom(dataDir: string): void {
  const { bavail, blocks, bsize } = statfsSync(dirname(databaseFile(dataDir)))
  if (bavail * bsize >= Math.min(reserveBytes, (blocks * bsize) / 20)) return
  throw new OperatorError(
    `The disk of ${dataDir} is nearly full: the backup was given up, as mail needs what is left. Make room, or back up to another disk`,
  )
}

/**
 * While a snapshot is read the log cannot begin again. It grows with every write, and each reader
 * has to look through all of it.
 */
function refuseGrown(logBytes: number, most: number): void {
  if (logBytes <= most) return
  throw new OperatorError(
    `The log of the database grew to ${shownMegabytes(logBytes)} while it was copied, and ${shownMegabytes(most)} is the most: the backup was given up, so that mail does not suffer. Try it when less is sent, or back up to a faster disk`,
  )
}
