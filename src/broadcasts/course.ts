import type { UpdateObject } from 'kysely'
import { type Clock, isRecent } from '../clock/index.js'
import {
  type Changes,
  campaignPaused,
  cancelWaiting,
  changeFitting,
  hold,
  type QueueFilter,
  release,
} from '../deliveries/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { eachApart, type Read, type Store, type Tables, type Tx } from '../store/index.js'
import type { BroadcastStatus } from './broadcast.js'
import { forgetLater } from './own-time.js'

/*
 * A pause, resume or cancel is the campaign's status, from its commit on: no mail of a paused or cancelled campaign
 * leaves (`outbound/attempt/departure.ts`). The waiting mail follows in slices:
 *
 *   status, course + 1, course_at = now ──▶ slices, each of which asks `course` ──▶ course_at = null
 *                                             │ another pause, resume or cancel: they end, and its own begin
 *                                             └ a kill: `finishCourses` begins them again, from whatever is left
 */

interface CourseDeps {
  store: Store
  clock: Clock
}

/** What the waiting mail of a campaign should follow. */
interface Course {
  id: string
  course: number
  status: BroadcastStatus
}

/** Changes the campaign in the deciding transaction, and returns what `followCourse` needs. */
export async function beginCourse(
  tx: Tx,
  id: string,
  change: UpdateObject<Tables, 'broadcasts'>,
  now: number,
): Promise<Course> {
  return await tx
    .updateTable('broadcasts')
    .set(change)
    .set((eb) => ({ course: eb('course', '+', 1), course_at: now }))
    .where('id', '=', id)
    .returning(['id', 'course', 'status'])
    .executeTakeFirstOrThrow()
}

export interface FollowOptions {
  onProgress?: ((seen: number) => void) | undefined
  /** Written once all of the mail has followed; not where another course has begun meanwhile. */
  alongside?: ((tx: Tx) => Promise<void>) | undefined
}

/**
 * Makes the waiting mail follow, in slices that end as soon as another course has begun. Mail in flight is left alone:
 * its campaign is checked before it leaves the next time.
 */
export async function followCourse(
  deps: CourseDeps,
  { id, course, status }: Course,
  { onProgress, alongside }: FollowOptions = {},
): Promise<Changes> {
  const { store } = deps
  const { filter, change } = wayOf(id, status)
  let fault: OperatorError | undefined
  const { changed, inFlight } = await changeFitting(
    deps,
    filter,
    async (tx, ids, now) =>
      (await noteCourse(tx, { id, course, at: now })) ? await change(tx, ids, now) : 'over',
    onProgress,
  ).catch((error: unknown) => {
    // All followed except a few that cannot be changed at all; a passing fault is another error, and is tried again.
    if (!(error instanceof OperatorError)) throw error
    fault = error
    return { changed: 0, inFlight: 0 }
  })
  if (status === 'cancelled') await forgetLater(store, id)
  await store.write(async (tx) => {
    if (await noteCourse(tx, { id, course, at: null })) await alongside?.(tx)
  })
  if (fault !== undefined) throw fault
  return { changed, inFlight }
}

/** Whether this is still the campaign's course; if so, notes the time at which some of its mail last followed. */
async function noteCourse(
  tx: Read,
  { id, course, at }: { id: string; course: number; at: number | null },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('broadcasts')
    .set({ course_at: at })
    .where('id', '=', id)
    .where('course', '=', course)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

interface Way {
  filter: QueueFilter
  change: (tx: Read, ids: readonly number[], now: number) => Promise<Changes>
}

/** What each status demands of the waiting mail. */
function wayOf(id: string, status: BroadcastStatus): Way {
  const reason = campaignPaused(id)
  if (status === 'paused') {
    return {
      filter: { broadcastId: id, held: false },
      change: (tx, ids, now) => hold(tx, ids, { reason, by: 'campaign', now }),
    }
  }
  if (status === 'cancelled') {
    return { filter: { broadcastId: id }, change: (tx, ids, now) => cancelSome(tx, id, ids, now) }
  }
  return {
    filter: { broadcastId: id, held: true, heldBy: 'campaign' },
    change: (tx, ids, now) => release(tx, ids, { now }),
  }
}

async function cancelSome(tx: Read, id: string, ids: readonly number[], now: number) {
  const changes = await cancelWaiting(tx, ids, now)
  await tx
    .updateTable('broadcasts')
    .set((eb) => ({
      waiting: eb('waiting', '-', changes.changed),
      cancelled: eb('cancelled', '+', changes.changed),
    }))
    .where('id', '=', id)
    .execute()
  return changes
}

// Longer than a slice and its rest take, however busy the machine: until then somebody is working on it.
const abandonedMs = 10_000

/**
 * Continues what a stop or a crash has broken off, of this process or of a command: courses without a new slice for
 * `idleMs`. Resolves with whether any is under way.
 */
export async function finishCourses(
  deps: CourseDeps & { log: Log },
  signal: AbortSignal,
  idleMs = abandonedMs,
): Promise<boolean> {
  const { store, clock, log } = deps
  const begun = await store.read
    .selectFrom('broadcasts')
    .select(['id', 'course', 'status', 'course_at as at'])
    .where('course_at', 'is not', null)
    .execute()
  const left = begun.filter(({ at }) => !isRecent(at ?? 0, clock.now(), idleMs))
  const finish = async (course: Course) => {
    if (signal.aborted) return
    const { changed } = await followCourse(deps, course)
    const fields = { broadcastId: course.id, status: course.status, mails: changed }
    if (changed > 0) log.info(fields, 'What was begun with a campaign is finished')
  }
  await eachApart(left, finish, ({ id }, error) =>
    log.error({ broadcastId: id, cause: messageOf(error) }, 'Mails of a campaign stay as they are'),
  )
  return begun.length > 0
}
