import { statfsSync } from 'node:fs'
import { type Clock, pause } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { databaseTrouble, isPassing } from '../store/index.js'
import type { SystemdNotifier } from './notify.js'
import { giveBackReserve } from './reserve.js'

export interface RoomOptions {
  dataDir: string
  /** The database is on a server, which may start later than this machine. */
  isOnServer?: boolean
  log: Log
  clock: Clock
  notifier: Pick<SystemdNotifier, 'status' | 'extendStart'>
  /** Ends the waiting. */
  signal: AbortSignal
}

const tryEveryMs = 5_000
// How long systemd goes on waiting after each word of ours, of which several may be lost.
const extendMs = 60_000
const logEveryTries = 60

/**
 * Starts, and while the disk is full waits for room and starts again. Starts that end would use up systemd's limit
 * within half a minute, and then nobody starts Posthorn when there is room. Undefined when `signal` ended the waiting;
 * any other failure of `start` is thrown at once.
 */
export async function startWhenRoom<T>(
  start: () => Promise<T>,
  { dataDir, isOnServer = false, log, clock, notifier, signal }: RoomOptions,
): Promise<T | undefined> {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      const started = await start()
      if (tries > 0) notifier.status('Running')
      return started
    } catch (error) {
      const isAway = isOnServer && causeIsPassing(error)
      if (!isAway && !isFull(error, dataDir)) throw error
      if (!isAway && giveBackReserve(dataDir)) {
        log.warn({ cause: messageOf(error) }, 'The disk is full: what was reserved is given back')
        continue
      }
      const what = isAway
        ? 'The database cannot be reached: Posthorn starts when it is there'
        : `The disk of ${dataDir} is full: Posthorn starts when there is room`
      if (tries % logEveryTries === 0) log.warn({ cause: messageOf(error) }, what)
      notifier.status(what)
      notifier.extendStart(extendMs)
      await pause(clock, tryEveryMs, signal)
    }
  }
  return undefined
}

function causeIsPassing(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (isPassing(one)) return true
  return false
}

const noRoomBytes = 1_048_576

/** Asks the system's error and, as SQLite does not always pass that on, the disk itself too. */
function isFull(error: unknown, dataDir: string): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    const code = 'code' in one ? String(one.code) : ''
    const trouble = databaseTrouble(one)
    if (code === 'ENOSPC' || code === 'EDQUOT' || trouble === 'full') return true
    if (trouble === 'failing' || trouble === 'denied') {
      const { bavail, bsize, files, ffree } = statfsSync(dataDir)
      return bavail * bsize < noRoomBytes || (files > 0 && ffree === 0)
    }
  }
  return false
}
