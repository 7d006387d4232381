import { type Clock, isRecent, pause } from '../../clock/index.js'
import { ApiError, messageOf } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import { eachApart, type Store, type Tx } from '../../store/index.js'
import {
  type Automation,
  findAutomation,
  nothing,
  refuseArchived,
  type WrittenAlongside,
} from '../definition/index.js'
import { pausedReason } from '../engine/index.js'
import { type HeldRelease, holdLive, isAnyHeld, releaseRuns } from '../runs/index.js'

interface PauseDeps {
  store: Store
  clock: Clock
}

/**
 * Pauses an automation: events go on to start runs and to end waits, but no step is taken. The engine holds each run
 * when it falls due. For an automation that is paused already it only stops a resume that is under way. Throws a 409
 * for an archived one.
 */
export async function pauseAutomation(
  { store, clock }: PauseDeps,
  { id, account_id }: Pick<Automation, 'id' | 'account_id'>,
  alongside: WrittenAlongside = nothing,
): Promise<Automation> {
  return await store.write(async (tx) => {
    const before = await findAutomation(tx, account_id, id)
    refuseArchived(before)
    await tx
      .updateTable('automations')
      // Runs that a resume has not released yet stay held until the next one.
      .set({ paused_at: before.paused_at ?? clock.now(), releasing: null, releasing_at: null })
      .where('id', '=', id)
      .execute()
    const paused = await findAutomation(tx, account_id, id)
    await alongside(tx, paused)
    return paused
  })
}

interface ResumeOptions {
  /** Until when (ms since 1970) the caller waits; the appliance does the rest. */
  until?: number
  alongside?: WrittenAlongside
}

/**
 * Lets a paused automation go on, and releases its runs that a restore has held; resolves with how many were released,
 * and whether those were all. `finishReleases` finishes what is left, or killed on the way; a pause meanwhile ends it.
 * Throws a 409 where nothing is held.
 */
export async function resumeAutomation(
  deps: PauseDeps,
  { id, account_id }: Pick<Automation, 'id' | 'account_id'>,
  how: HeldRelease,
  { until = Number.POSITIVE_INFINITY, alongside = nothing }: ResumeOptions = {},
): Promise<{ released: number; isDone: boolean }> {
  const { store, clock } = deps
  await store.write(async (tx) => {
    const before = await findAutomation(tx, account_id, id)
    refuseArchived(before)
    if (before.paused_at === null && !(await isAnyHeld(tx, id))) {
      const message = `“${before.name}” is not paused, and none of its runs is held`
      throw new ApiError('conflict', message, { is: 'notPaused', names: [before.name] })
    }
    await tx
      .updateTable('automations')
      .set({ releasing: how, releasing_at: clock.now() })
      .where('id', '=', id)
      .execute()
    await alongside(tx, await findAutomation(tx, account_id, id))
  })
  return await letGo(deps, { id, how }, { until })
}

/** The automation whose runs are released, and how. */
interface Release {
  id: string
  how: HeldRelease
}

/** How long the release may take, here. */
interface Patience {
  signal?: AbortSignal
  until?: number
}

/** Lets the automation go on and releases its held runs, as long as nobody pauses it again or resumes it otherwise. */
async function letGo(
  deps: PauseDeps,
  { id, how }: Release,
  { signal = new AbortController().signal, until = Number.POSITIVE_INFINITY }: Patience,
): Promise<{ released: number; isDone: boolean }> {
  const { store, clock } = deps
  const isOver = () => signal.aborted || clock.now() >= until
  const { paused_at: pausedAt } = await store.read
    .selectFrom('automations')
    .select('paused_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  if (pausedAt !== null) {
    // Timers that have not run out stood still too. Each run is held, and so shifted once, whatever is killed.
    if (how === 'shift' && !(await holdTimers(deps, { id, since: pausedAt }, isOver))) {
      return await handOver(deps, { id, how }, 0)
    }
    await store.write((tx) =>
      tx
        .updateTable('automations')
        .set({ paused_at: null, releasing_at: clock.now() })
        .where('id', '=', id)
        .where('paused_at', '=', pausedAt)
        .where('releasing', '=', how)
        .execute(),
    )
  }
  const released = await releaseAll(deps, { id, how }, isOver)
  return isOver() ? await handOver(deps, { id, how }, released) : { released, isDone: true }
}

/** The appliance takes the release on at once, where it is still wanted. */
async function handOver({ store }: PauseDeps, { id, how }: Release, released: number) {
  await store.write((tx) =>
    tx
      .updateTable('automations')
      .set({ releasing_at: 0 })
      .where('id', '=', id)
      .where('releasing', '=', how)
      .execute(),
  )
  return { released, isDone: false }
}

/** Releases what is held, as long as nobody pauses the automation again or resumes it otherwise. */
async function releaseAll(
  deps: PauseDeps,
  { id, how }: Release,
  isOver: () => boolean,
): Promise<number> {
  const { store, clock } = deps
  const note = async (tx: Tx, change: { releasing?: null; releasing_at: number | null }) => {
    const { numUpdatedRows } = await tx
      .updateTable('automations')
      .set(change)
      .where('id', '=', id)
      .where('releasing', '=', how)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  }
  const isWanted = (tx: Tx) => note(tx, { releasing_at: clock.now() })
  const released = await releaseRuns(deps, { automationId: id }, how, { isOver, isWanted })
  if (isOver()) return released
  await store.write((tx) => note(tx, { releasing: null, releasing_at: null }))
  return released
}

// Longer than a slice and its rest take, however busy the machine: until then somebody is working on it.
const abandonedMs = 10_000

/**
 * Goes on with releases that a stop or a crash has broken off, of this process or of a command. Resolves with whether
 * any is under way.
 */
export async function finishReleases(
  deps: PauseDeps & { log: Log },
  signal: AbortSignal,
): Promise<boolean> {
  const { store, clock, log } = deps
  const begun = await store.read
    .selectFrom('automations')
    .select(['id', 'releasing as how', 'releasing_at as at'])
    .where('releasing_at', 'is not', null)
    .execute()
  const left = begun.filter(({ at }) => !isRecent(at ?? 0, clock.now(), abandonedMs))
  const finish = async ({ id, how }: (typeof left)[number]) => {
    if (how !== null) await letGo(deps, { id, how }, { signal })
  }
  await eachApart(left, finish, ({ id }, error) =>
    log.error({ automationId: id, cause: messageOf(error) }, 'Runs stay held after a resume'),
  )
  return begun.length > 0
}

// Runs in a transaction, and the rest after it in which others write.
const perWrite = 200
const restMs = 20

/**
 * Works in slices with writes of others in between: an automation may have a million live runs. Runs that are held
 * already are passed over, so that it can be run again. Resolves with whether all are held and the pause is still the
 * same.
 */
async function holdTimers(
  { store, clock }: PauseDeps,
  { id, since }: { id: string; since: number },
  isOver: () => boolean,
): Promise<boolean> {
  for (let after = ''; !isOver(); ) {
    const rows = await store.read
      .selectFrom('automation_live')
      .select(['id', 'updated_at'])
      .where('automation_id', '=', id)
      .where('id', '>', after)
      .where('held_at', 'is', null)
      .orderBy('id')
      .limit(perWrite)
      .execute()
    const last = rows.at(-1)
    if (last === undefined) return true
    const json = JSON.stringify(rows.map((row) => [row.id, Math.max(since, row.updated_at)]))
    const held = { json, now: clock.now(), reason: pausedReason }
    const isWanted = await store.write(async (tx) => {
      // Another resume may have let the automation go on, and nothing would release these runs again. The time says
      // that somebody is working on it.
      const { numUpdatedRows } = await tx
        .updateTable('automations')
        .set({ releasing_at: clock.now() })
        .where('id', '=', id)
        .where('paused_at', '=', since)
        .where('releasing', '=', 'shift')
        .executeTakeFirstOrThrow()
      if (numUpdatedRows > 0n) await holdLive(tx, held)
      return numUpdatedRows > 0n
    })
    if (!isWanted) return false
    after = last.id
    await pause(clock, restMs)
  }
  return false
}
