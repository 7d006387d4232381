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
  /** What the log may grow by meanwhile, in bytes; then the copy is given up. */
  maxLogGrowth?: number | undefined
  /** Told now and then how many bytes of the database are copied, and the size of its log. */
  onProgress?: ((copied: number, walBytes: number) => void) | undefined
}

const chunkBytes = 4 * 1_048_576
// So much is written between two looks at the log and the disk's room, and, where the kernel keeps what is written
// for later, between two syncs: the sync of a mail's commit does not wait for a backup's pages.
const stepBytes = 4 * chunkBytes
// However slow the disk is: the log grows meanwhile.
const longestRestMs = 1_000
// What the log may not take from the disk of the data directory while it is held back: mail goes first.
const reserveBytes = 512 * 1_048_576
// What the log may grow by in any case. A longer one costs each look into it, and its way back into the database.
// At full load it grew half as fast as the copy (34 of 70 MB/s, Nov 2026).
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
    // The snapshot begins with the first thing that is read.
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
    // Before the files are closed, or its locks would be gone while it reads.
    reader.close()
    for (const handle of opened) await handle.close()
  }
}

type OpenFile = (path: string, flags: number) => Promise<FileHandle>
const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_TRUNC, O_WRONLY } = constants
// Who may write beside the copy could lead it to a file of another's by a symlink.
const toMake = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW
// Not every system has it.
const O_DIRECT: number | undefined = constants.O_DIRECT

const walSize = (file: string) => statSync(logFile(file), { throwIfNoEntry: false })?.size ?? 0

/**
 * Copies the database file around the kernel's page cache where the file system allows that: a file of gigabytes
 * neither drives the pages out that mail needs, nor costs the processor time of passing through it.
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
    // open(2): a file system that cannot says so at the first call.
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

// What goes around the page cache lies at a multiple of the disk's blocks in memory too: WebAssembly's memory does.
declare const WebAssembly: {
  Memory: new (size: { initial: number }) => { buffer: ArrayBuffer }
}

/**
 * For reads that go past the page cache (O_DIRECT), which want their memory on a boundary of the
 * disk's blocks. Memory of WebAssembly begins on one of 64 KiB.
 */
function pageAligned(bytes: number): Buffer {
  const page = 65_536
  return Buffer.from(new WebAssembly.Memory({ initial: bytes / page }).buffer)
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
 * in its header, at most once while the snapshot is held. What was written after the snapshot, from `logBytes`
 * on, belongs to later commits and stays away: at full load the end of the log is hard to reach.
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

/** A backup must never be what fills the disk: mail is then refused. */
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
