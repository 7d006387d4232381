import { isDueBy } from '../clock/index.js'
import { type Job, longestWaitMs } from './settle.js'

/**
 * The jobs in memory that wait for one endpoint: the oldest first, several at a time, those of one mail one after the
 * other (a retry holds up those after it), so that a receiver learns of a delivery after it learned of the sending.
 */
export interface EndpointLane {
  /** How many more jobs it would take. */
  readonly room: number
  /** The last job that it took. */
  readonly lastId: number
  /**
   * True when the database holds more for it than memory: that has to be read from `lastId` on, for `refill`. After
   * `clear` it has to be read from the beginning, but not while it is `busy`: jobs that end meanwhile would be sent
   * once more.
   */
  readonly behind: boolean
  /** True when something is under way. */
  readonly busy: boolean
  /** True when nothing waits or is under way, and the database holds nothing more for it. */
  readonly idle: boolean
  /** Takes a new job; without room for it the lane is `behind`. */
  offer(job: Job): void
  /** Takes what follows `lastId` in the database; `more` if that was not all. */
  refill(following: readonly Job[], more: boolean): void
  /** Begins the jobs that are due. */
  start(now: number): void
  /** Forgets the jobs that are not under way; afterwards all jobs in the database are read again. */
  clear(): void
}

/** How a lane sends, and what it calls back. */
export interface LaneOptions {
  /** One attempt, and its writing down; resolves with the job as it is then; undefined: it is gone. */
  deliver: (job: Job) => Promise<Job | undefined>
  /** An attempt has ended. */
  ended: () => void
}

// Connections to one endpoint. A dead endpoint takes no more than these, however much waits for it.
const maxInFlight = 10
// Jobs in memory; retries are among them, so a dead endpoint reads no further than this.
const maxWindow = 500

/** An empty lane, which is `behind` until it was filled from the database. */
export function makeLane({ deliver, ended }: LaneOptions): EndpointLane {
  // In the order of their ids, because they are only added at the end.
  const jobs = new Map<number, Job>()
  const inFlight = new Set<number>()
  let lastId = 0
  // Until it was read, nobody knows what the database holds.
  let behind = true
  // True when jobs were forgotten that are in the database before `lastId`.
  let cleared = false

  const run = async (job: Job) => {
    inFlight.add(job.id)
    const left = await deliver(job)
    inFlight.delete(job.id)
    // A job that was cleared meanwhile is read again from the database, which has its next attempt.
    if (left === undefined || cleared) jobs.delete(job.id)
    else if (jobs.has(job.id)) jobs.set(job.id, left)
    ended()
  }

  const offer = (job: Job) => {
    if (job.id <= lastId) return
    behind ||= jobs.size >= maxWindow
    if (behind) return
    lastId = job.id
    jobs.set(job.id, job)
  }

  return {
    get room() {
      return maxWindow - jobs.size
    },
    get lastId() {
      return lastId
    },
    get behind() {
      return behind
    },
    get busy() {
      return inFlight.size > 0
    },
    get idle() {
      return jobs.size === 0 && !behind
    },
    offer,
    refill(following, more) {
      behind = false
      cleared = false
      for (const job of following) offer(job)
      behind = more
    },
    start(now) {
      const held = new Set<string>()
      for (const job of jobs.values()) {
        if (inFlight.size >= maxInFlight) return
        // The first job of a mail holds its other ones, whether it is under way or waits for its
        // next attempt.
        const isHeld = held.has(job.email_id)
        held.add(job.email_id)
        if (!isHeld && !inFlight.has(job.id) && isDueBy(job.due_at, now, longestWaitMs)) {
          void run(job)
        }
      }
    },
    clear() {
      for (const id of jobs.keys()) if (!inFlight.has(id)) jobs.delete(id)
      lastId = 0
      behind = true
      cleared = true
    },
  }
}
