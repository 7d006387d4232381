import type { UpdateResult } from 'kysely'
import { columnOf, type Ending, endingOf, endRuns, type RunTally } from '../../runs/index.js'
import { cell, prepared, rowsOf, type Tx } from '../../store/index.js'
import { appended, type HistoryEntry } from '../definition/index.js'
import {
  advanced,
  blockedMark,
  historyJson,
  holdLive,
  readHistory,
  waitsJson,
} from '../runs/index.js'
import type { RunPlan } from './plan.js'

// The waits (ms) after each fault of a run: 1 and 5 minutes, half an hour, 2 and 8 hours. After one more fault the run
// has failed.
const retryMs = [60_000, 300_000, 1_800_000, 7_200_000, 28_800_000]

// Characters of a reason that are kept: the run is in lists.
const maxReason = 300

/** The plan of a run that nothing stops. */
export type ContinuingPlan = Extract<RunPlan, { kind: 'go' }>

/** Where runs wait now, and those that have ended. */
export async function writeNext(
  tx: Tx,
  plans: readonly ContinuingPlan[],
  now: number,
  tally: RunTally,
): Promise<void> {
  const rows: unknown[][] = []
  const endings: Ending[] = []
  // Runs that a step ends, with their automations.
  const byStep = new Map<string, string>()
  for (const plan of plans) {
    const { run, walked } = plan
    const { row } = run
    const { next } = walked
    const history = historyOf(plan)
    countSteps(plan, tally)
    if (next.kind === 'end') {
      const { stepId, status, reason } = next
      if (isByStep(plan, next)) byStep.set(row.id, row.automation_id)
      endings.push({
        id: row.id,
        stepId,
        status,
        reason: reason?.slice(0, maxReason) ?? null,
        history,
      })
      continue
    }
    const after = advanced(plan.state, walked, now)
    if (after === undefined) throw new Error('A run goes on that has ended')
    const status = next.kind === 'continue' ? 'running' : 'waiting'
    if (status !== row.status) {
      tally.run(row.automation_id, row.status, -1)
      tally.run(row.automation_id, status, 1)
    }
    const heard = Object.keys(after.heard).length === 0 ? null : JSON.stringify(after.heard)
    rows.push([
      row.id,
      after.stepId,
      after.dueAt,
      status,
      history,
      heard,
      waitsJson(after.waits),
      next.kind === 'park' ? next.waitEvent : null,
      after.enteredAt,
      next.kind === 'blocked' ? next.reason : null,
      after.steps,
      after.mails,
    ])
  }
  if (rows.length > 0) await moveLive(tx, { json: JSON.stringify(rows), now })
  const ended = await endRuns(tx, endings, { at: now, tally })
  for (const [id, automationId] of byStep) if (ended.has(id)) tally.run(automationId, 'by_step', 1)
}

/** Whether a drawn end has ended the run, or a wait that leads nowhere and timed out. */
const isByStep = (
  { run: { version } }: ContinuingPlan,
  { stepId, status, reason }: Extract<ContinuingPlan['walked']['next'], { kind: 'end' }>,
): boolean =>
  status === 'exited' &&
  (version.compiled.byId.get(stepId)?.step.type === 'exit' || reason === 'timed_out')

/** The run's history, each mail with its id. */
function historyOf({ run: { row }, walked, mails }: ContinuingPlan): string {
  const entries = walked.history.map(({ why: _, ...entry }, place): HistoryEntry => {
    const mail = mails.find((one) => one.entry === place)
    return mail === undefined ? entry : { ...entry, emailId: mail.id }
  })
  if (entries.length === 0) return row.history
  return historyJson(appended(readHistory(row.history, row.started_at), entries), row.started_at)
}

/** Each step that the run has left counts by its result, and each that it has come to as entered. */
function countSteps(
  { run: { row }, walked: { history, next }, mails }: ContinuingPlan,
  tally: RunTally,
): void {
  const left: number[] = []
  for (const { stepId, result } of history) {
    const column = columnOf(result)
    if (column === undefined) continue
    tally.step(stepId, column)
    left.push(stepId)
  }
  for (const { stepId } of mails) tally.step(stepId, 'mails')
  if (next.kind === 'end' && next.status === 'failed') tally.step(next.stepId, 'failed')
  // The first step was entered before; the last is the one in which the run is now.
  const visited = next.kind === 'end' && left.at(-1) === next.stepId ? left : [...left, next.stepId]
  for (const stepId of visited.slice(visited[0] === row.step_id ? 1 : 0)) {
    tally.step(stepId, 'entered')
  }
}

/** All runs of a slice in one update. `seq` goes up, so that other plans for them are void. */
const moveLive = prepared<{ json: string; now: number }, UpdateResult>((db, { json, now }) =>
  db
    .updateTable('automation_live')
    .from(rowsOf(json))
    .set((eb) => ({
      step_id: cell(1, 'integer'),
      due_at: cell(2, 'integer'),
      status: cell<'running' | 'waiting'>(3, 'text'),
      history: cell(4, 'text'),
      heard: cell<string | null>(5, 'text'),
      waits: cell<string | null>(6, 'text'),
      wait_event: cell<string | null>(7, 'text'),
      entered_at: cell<number | null>(8, 'integer'),
      blocked: cell<string | null>(9, 'text'),
      steps: cell(10, 'integer'),
      mails: cell(11, 'integer'),
      woken_by: null,
      attempts: 0,
      seq: eb('seq', '+', 1),
      updated_at: now,
    }))
    .where('automation_live.id', '=', cell(0, 'text')),
)

/** Writes runs that did not go on: those of paused or archived automations, and those at fault. */
export async function writeOthers(
  tx: Tx,
  plans: readonly RunPlan[],
  now: number,
  tally: RunTally,
): Promise<void> {
  const held = plans.flatMap((plan) =>
    plan.kind === 'hold' ? [[plan.run.row.id, plan.since]] : [],
  )
  if (held.length > 0) {
    await holdLive(tx, { json: JSON.stringify(held), now, reason: pausedReason })
  }
  const endings = plans
    .filter(({ kind }) => kind === 'cancel')
    .map(({ run }) => endingOf(run.row, 'cancelled', 'archived', now))
  const again: unknown[][] = []
  const waiting = plans.filter((plan) => plan.kind === 'wait')
  if (waiting.length > 0) await writeWaiting(tx, waiting, now, tally)
  for (const plan of plans) {
    if (plan.kind !== 'fault') continue
    const { row } = plan.run
    const wait = retryMs[row.attempts]
    const reason = plan.error instanceof Error ? plan.error.message : String(plan.error)
    if (wait !== undefined) again.push([row.id, now + wait])
    else endings.push(endingOf(row, 'failed', `fault: ${reason.slice(0, maxReason)}`, now))
  }
  if (again.length > 0) await putOff(tx, { json: JSON.stringify(again), now, faults: 1 })
  await endRuns(tx, endings, { at: now, tally })
}

/** The places of runs, with what woke them and with their marks, which count once the runs go on. */
async function writeWaiting(
  tx: Tx,
  plans: readonly Extract<RunPlan, { kind: 'wait' }>[],
  now: number,
  tally: RunTally,
): Promise<void> {
  const rows = plans.map(({ run: { row }, reason, until }) => {
    if (row.status === 'running') {
      tally.run(row.automation_id, 'running', -1)
      tally.run(row.automation_id, 'waiting', 1)
    }
    return [row.id, until, blockedMark(row.blocked, reason)]
  })
  await waitFor(tx, { json: JSON.stringify(rows), now })
}

/** Blocks a run, with the moment at which it is looked at again. */
const waitFor = prepared<{ json: string; now: number }, UpdateResult>((db, { json, now }) =>
  db
    .updateTable('automation_live')
    .from(rowsOf(json))
    .set((eb) => ({
      due_at: cell(1, 'integer'),
      blocked: cell(2, 'text'),
      status: 'waiting' as const,
      seq: eb('seq', '+', 1),
      updated_at: now,
    }))
    .where('automation_live.id', '=', cell(0, 'text')),
)

/** Why a run of a paused automation is held. */
export const pausedReason = 'the automation is paused'

/**
 * Runs that are looked at again later. A fault of the run's own is counted (`faults` is 1): after the last one the run
 * has failed. A run that only lacked room is not counted (`faults` is 0).
 */
export const putOff = prepared<{ json: string; now: number; faults: number }, UpdateResult>(
  (db, { json, now, faults }) =>
    db
      .updateTable('automation_live')
      .from(rowsOf(json))
      .set((eb) => ({
        due_at: cell(1, 'integer'),
        attempts: eb('attempts', '+', faults),
        seq: eb('seq', '+', 1),
        updated_at: now,
      }))
      .where('automation_live.id', '=', cell(0, 'text')),
)
