import { type Clock, isRecent, pause } from '../../clock/index.js'
import { messageOf, OperatorError } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import { eachApart, type Store, type Tx } from '../../store/index.js'
import type { Automation } from '../definition/index.js'
import { pausedReason } from '../engine/index.js'
import { type HeldRelease, holdLive, releaseRuns } from '../runs/index.js'

interface PauseDeps {
  store: Store
  clock: Clock
}

/**
 * Pauses an automation: events go on to start runs and to end waits, but no step is taken. The engine
 * holds each run when it falls due. Paused already, it changes nothing.
 */
export async function pauseAutomation({ store, clock }: PauseDeps, { id, status }: Automation) {
  if (status === 'archived') throw new OperatorError('The automation is archived')
  await store.write((tx) =>
    tx
      .updateTable('automations')
      // Those that a resume has not released yet stay held until the next one.
      .set({ paused_at: clock.now(), releasing: null, releasing_at: null })
      .where('id', '=', id)
      .where('paused_at', 'is', null)
      .execute(),
  )
}

/**
 * Lets a paused automation go on, and releases its runs that a restore has held; resolves with how many
 * were held. What is killed on the way is finished by `finishReleases`, and a pause meanwhile ends it. Throws an
 * OperatorError where nothing was held.
 */
export async function resumeAutomation(
  deps: PauseDeps,
  { id }: Automation,
  how: HeldRelease,
): Promise<{ released: number }> {
  const { store, clock } = deps
  const { paused_at: pausedAt } = await store.read
    .selectFrom('automations')
    .select('paused_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  // Timers that have not run out stood still too. Each is held, and so shifted once, whatever is killed.
  if (pausedAt !== null && how === 'shift') await holdTimers(deps, id, pausedAt)
  // Those that a restore holds too.
  await store.write((tx) =>
    tx
      .updateTable('automations')
      .set({ paused_at: null, releasing: how, releasing_at: clock.now() })
      .where('id', '=', id)
      .where('paused_at', pausedAt === null ? 'is' : '=', pausedAt)
      .execute(),
  )
  const released = await releaseAll(deps, { id, how })
  if (pausedAt === null && released === 0) {
    throw new OperatorError('The automation is not paused, and none of its runs is held')
  }
  return { released }
}

/** Releases what is held, as long as nobody pauses the automation again or resumes it otherwise. */
async function releaseAll(
  deps: PauseDeps,
  { id, how }: { id: string; how: HeldRelease },
  signal = new AbortController().signal,
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
  const released = await releaseRuns(deps, { automationId: id }, how, { signal, isWanted })
  if (signal.aborted) return released
  await store.write((tx) => note(tx, { releasing: null, releasing_at: null }))
  return released
}

// Longer than a slice and its rest take, however busy the machine: until then somebody is at it.
const abandonedMs = 10_000

/** Goes on with releases that a stop or a crash has broken off, be it of this process or of a command. */
export async function finishReleases(
  deps: PauseDeps & { log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log } = deps
  const begun = await store.read
    .selectFrom('automations')
    .select(['id', 'releasing as how', 'releasing_at as at'])
    .where('releasing_at', 'is not', null)
    .execute()
  const left = begun.filter(({ at }) => !isRecent(at ?? 0, clock.now(), abandonedMs))
  const finish = async ({ id, how }: (typeof left)[number]) => {
    if (how !== null) await releaseAll(deps, { id, how }, signal)
  }
  await eachApart(left, finish, ({ id }, error) =>
    log.error({ automationId: id, cause: messageOf(error) }, 'Runs stay held after a resume'),
  )
}

// Runs a transaction, and the rest after it in which others write.
const perWrite = 200
const restMs = 20

/**
 * In slices with writes of others in between: an automation may have a million live runs. What is held already is passed over, so that it can be run again.
 */
async function holdTimers({ store, clock }: PauseDeps, id: string, since: number): Promise<void> {
  for (let after = ''; ; ) {
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
    if (last === undefined) return
    const json = JSON.stringify(rows.map((row) => [row.id, Math.max(since, row.updated_at)]))
    const held = { json, now: clock.now(), reason: pausedReason }
    const isPaused = await store.write(async (tx) => {
      // Another resume may have let it go on, and nothing would release these again.
      const { paused_at: at } = await tx
        .selectFrom('automations')
        .select('paused_at')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      if (at === since) await holdLive(tx, held)
      return at === since
    })
    if (!isPaused) return
    after = last.id
    await pause(clock, restMs)
  }
}
