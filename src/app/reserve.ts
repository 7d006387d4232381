import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { type Clock, hourMs, isRecent } from '../clock/index.js'
import type { Backlog } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import {
  type DiskRoom,
  diskRoom,
  isOutOfRoom,
  reserveBytesOf,
  reservedBytes,
  reserveFile,
} from '../store/index.js'
import type { Calendar } from './calendar.js'
import type { Chore } from './housekeeping.js'

/*
 * A file that only takes room. On a disk that is wholly full SQLite can neither delete (the log grows by what is
 * deleted) nor copy its log into the database (which grows), so nothing ends by itself. Then the file goes: what it
 * took is for the log, results, reports, retention and mails to the operator. New mail is refused before that.
 *
 *   there ──less than half of it is free──▶ there, no mail is taken ──an eighth──▶ given back, no mail is taken
 *     ▲──────────── as much as it is free ────────────────┘                                    │
 *     ▲────────────────────────────── twice as much is free ───────────────────────────────────┘
 */
const MiB = 1_048_576
const lookEveryMs = 500
// By then what retention finds in a run is gone; more may have become old.
const makeRoomEveryMs = 600_000
// A file system that cannot give the room is asked again only after so long.
const tryAgainMs = hourMs

/** Gives the room back at once; answers whether there was any. Also for a start, which needs room itself. */
export function giveBackReserve(dataDir: string): boolean {
  try {
    rmSync(reserveFile(dataDir))
    return true
  } catch {
    return false
  }
}

export interface ReserveDeps {
  dataDir: string
  clock: Clock
  log: Log
  backlog: Pick<Backlog, 'outOfRoom' | 'setOutOfRoom'>
  runNow: Calendar['runNow']
  /** Tests: another disk. */
  roomOf?: (dataDir: string) => Promise<DiskRoom>
}

/** Keeps the reserve, gives it back when the disk is full, and says whether mail may be taken in. */
export function reserveChore(deps: ReserveDeps): Chore {
  const { dataDir, clock, log, backlog, roomOf = diskRoom } = deps
  const file = reserveFile(dataDir)
  let failedAt: number | undefined
  let madeRoomAt: number | undefined

  const keep = async (bytes: number) => {
    if (failedAt !== undefined && isRecent(failedAt, clock.now(), tryAgainMs)) return
    try {
      await makeReserve(file, bytes)
      failedAt = undefined
    } catch (error) {
      failedAt = clock.now()
      log.warn({ file, cause: messageOf(error) }, 'No room could be reserved on the disk')
    }
  }
  return {
    name: 'reserve of the disk',
    of: 'node',
    everyMs: lookEveryMs,
    async run() {
      const { freeBytes, totalBytes } = await roomOf(dataDir)
      const bytes = reserveBytesOf(totalBytes)
      let reserved = await reservedBytes(dataDir)
      if (reserved > 0 && freeBytes < bytes / 8) {
        giveBackReserve(dataDir)
      } else if (reserved < bytes / 2 && freeBytes >= 2 * bytes) {
        await keep(bytes)
        reserved = await reservedBytes(dataDir)
      }
      const isOut = isOutOfRoom({ freeBytes, totalBytes }, reserved, backlog.outOfRoom)
      if (isOut !== backlog.outOfRoom) {
        backlog.setOutOfRoom(isOut)
        const told = { freeBytes, reserved }
        if (isOut) log.error(told, `No mail is taken in: the disk of ${dataDir} is full`)
        else log.info(told, 'Mail is taken in again: the disk has room')
      }
      const isTime = madeRoomAt === undefined || !isRecent(madeRoomAt, clock.now(), makeRoomEveryMs)
      if (!isOut || !isTime) return
      madeRoomAt = clock.now()
      makeRoom(deps)
    },
  }
}

/** Retention deletes what may go, and then the file gives its free pages back to the disk. */
function makeRoom({ runNow, log }: Pick<ReserveDeps, 'runNow' | 'log'>): void {
  const begun = runNow('retention')
  if (begun?.kind !== 'started') return
  begun.ended.then(
    () => void runNow('optimize'),
    (error: unknown) => log.warn({ cause: messageOf(error) }, 'Retention could not make room'),
  )
}

/** Uses fallocate(1), which writes nothing, where there is such a program and the file system supports it. */
async function makeReserve(file: string, bytes: number): Promise<void> {
  await rm(file, { force: true })
  const handle = await open(file, 'wx', 0o600)
  try {
    if (await fallocate(file, bytes)) return
    // No file system stores random bytes in less room, as it may do with zeros.
    const chunk = randomBytes(MiB)
    for (let left = bytes; left > 0; left -= MiB) {
      await handle.writeFile(chunk.subarray(0, Math.min(left, MiB)))
    }
    await handle.sync()
  } catch (error) {
    await rm(file, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

const fallocate = (file: string, bytes: number) =>
  new Promise<boolean>((resolve) => {
    execFile('fallocate', ['--length', String(bytes), file], { timeout: 10_000 }, (error) =>
      resolve(error === null),
    )
  })
