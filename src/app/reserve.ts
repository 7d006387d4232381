import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../clock/index.js'
import type { Backlog } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type DiskRoom, diskRoom } from '../store/index.js'
import type { Calendar } from './calendar.js'
import type { Chore } from './housekeeping.js'

/*
 * A file that only takes room. On a disk that is wholly full SQLite can neither delete (the log grows by what is
 * deleted) nor copy its log into the database (which grows), so nothing ends by itself. Then the file goes, and
 * what it took is for results, reports, retention and the mails to the operator: new mail is refused until there is
 * room again.
 *
 *   there ──less than an eighth of it is free──▶ given back ──twice its size is free──▶ there
 *                                                    └ less than its size is free: no mail is taken
 */
const reserveName = 'posthorn.reserve'

const MiB = 1_048_576
// The log is copied before it is that long, unless somebody reads for minutes.
const mostBytes = 64 * MiB
const shareOfDisk = 16
const lookEveryMs = 2_000
// What retention finds in a run is gone then; more may have become old.
const makeRoomEveryMs = 600_000
// A file system that cannot give the room is not asked with each look.
const tryAgainMs = 3_600_000

/** Below so much no mail is taken in, where the reserve is gone; a disk that is small keeps less. */
export const reserveBytesOf = ({ totalBytes }: Pick<DiskRoom, 'totalBytes'>): number =>
  Math.min(mostBytes, Math.floor(totalBytes / shareOfDisk))

/** Gives the room back at once; whether there was any to give. */
export function giveBackReserve(dataDir: string): boolean {
  const file = join(dataDir, reserveName)
  try {
    rmSync(file)
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
  const file = join(dataDir, reserveName)
  let failedAt: number | undefined
  let madeRoomAt: number | undefined

  const keep = async (bytes: number) => {
    if (failedAt !== undefined && Math.abs(clock.now() - failedAt) < tryAgainMs) return
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
    everyMs: lookEveryMs,
    async run() {
      const room = await roomOf(dataDir)
      const bytes = reserveBytesOf(room)
      let { freeBytes } = room
      let reserved = await sizeOf(file)
      if (reserved > 0 && freeBytes < bytes / 8 && giveBackReserve(dataDir)) {
        log.error(
          { freeBytes, givenBack: reserved },
          `The disk of ${dataDir} is full: what was reserved is given back, for all but new mail`,
        )
        freeBytes += reserved
        reserved = 0
      } else if (reserved < bytes / 2 && freeBytes >= 2 * bytes) {
        await keep(bytes)
        reserved = await sizeOf(file)
      }
      const isOut = reserved === 0 && freeBytes < bytes
      if (isOut !== backlog.outOfRoom) {
        backlog.setOutOfRoom(isOut)
        if (isOut) log.error({ freeBytes }, 'No mail is taken: the disk is full')
        else log.info({ freeBytes }, 'Mail is taken again: the disk has room')
      }
      const isTime =
        madeRoomAt === undefined || Math.abs(clock.now() - madeRoomAt) >= makeRoomEveryMs
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

const sizeOf = async (file: string): Promise<number> =>
  await stat(file).then(
    ({ size }) => size,
    () => 0,
  )

/** By fallocate(1), which writes nothing, where there is such a program and the file system knows of it. */
async function makeReserve(file: string, bytes: number): Promise<void> {
  await rm(file, { force: true })
  const handle = await open(file, 'wx', 0o600)
  try {
    if (await fallocate(file, bytes)) return
    // No file system makes less of it, as of zeros.
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
