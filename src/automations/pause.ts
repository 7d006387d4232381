import { type Clock, pause } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import type { Store } from '../store/index.js'
import type { Automation } from './automation.js'
import { type HeldRelease, holdLive, releaseRuns } from './hold.js'
import { pausedReason } from './write-plans.js'

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
      .set({ paused_at: clock.now() })
      .where('id', '=', id)
      .where('paused_at', 'is', null)
      .execute(),
  )
}

/**
 * Lets a paused automation go on, and releases its runs that a restore has held; resolves with how many
 * were held. Throws an OperatorError where nothing was.
 */
export async function resumeAutomation(
  deps: PauseDeps,
  { id }: Automation,
  how: HeldRelease,
): Promise<{ released: number }> {
  const { store } = deps
  const { paused_at: pausedAt } = await store.read
    .selectFrom('automations')
    .select('paused_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  if (pausedAt !== null) {
    // Timers that have not run out stood still too. Each is held, and so shifted once, whatever is killed.
    if (how === 'shift') await holdTimers(deps, id, pausedAt)
    await store.write((tx) =>
      tx.updateTable('automations').set({ paused_at: null }).where('id', '=', id).execute(),
    )
  }
  // Those that a restore holds too; and one that was broken off is resumed again.
  const released = await releaseRuns(deps, { automationId: id }, how)
  if (pausedAt === null && released === 0) {
    throw new OperatorError('The automation is not paused, and none of its runs is held')
  }
  return { released }
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
    await store.write((tx) => holdLive(tx, held))
    after = last.id
    await pause(clock, restMs)
  }
}
