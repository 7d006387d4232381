import type { UpdateResult } from 'kysely'
import { columnOf, type Ending, endingOf, endRuns, makeTally, type Tally } from '../runs/index.js'
import { cell, prepared, rowsOf, type Store, type Tx } from '../store/index.js'
import { blockedMark, holdLive } from './hold.js'
import { capsOf, countHourly } from './hourly-cap.js'
import { historyJson, readHistory, waitsJson } from './live.js'
import { insertMails, type MailDeps, refusedMails } from './mails.js'
import type { Batch, Plan, PlannedMail } from './plan.js'
import { appended, type HistoryEntry } from './run.js'
import { applyChanges, enqueueStepWebhooks } from './step-effects.js'
import { stillBlocked } from './wake-blocked.js'
import { advanced } from './walked.js'

export interface TakeDeps extends MailDeps {
  store: Pick<Store, 'write' | 'ids'>
}

/** What a write came to. */
export interface TakenSteps {
  mails: PlannedMail[]
  /** Runs that went on, stopped or ended. */
  moved: number
  /** What each step that was taken came to, as the metrics name it. */
  steps: { type: string; result: string }[]
  webhooks: boolean
}

// After a fault a run is tried again; after the last it has failed.
const retryMs = [60_000, 300_000, 1_800_000, 7_200_000, 28_800_000]
const maxReason = 300
// When a run is looked at again whose mail was refused in the write.
const refusedMs = 60_000
// And one whose mail the renderer had no room for.
const roomMs = 10_000

type Go = Extract<Plan, { kind: 'go' }>

/**
 * Writes what was planned, all of it or nothing: only of runs that still are as they were read, of
 * automations that were neither paused nor archived since, for which no event has come that the plan does
 * not know, and whose mail may still be sent. The others are left as they are, and planned anew.
 */
export async function takePlans(
  { store, ...deps }: TakeDeps,
  { gate, plans }: Batch,
  now: number,
): Promise<TakenSteps> {
  const { billing } = gate
  return await store.write(async (tx) => {
    const tally = makeTally()
    const current = await stillBlocked(tx, billing, await stillSame(tx, plans))
    const planned = current.filter((plan) => plan.kind === 'go')
    const { going: free, refused } = await stillTrue(tx, billing.accountId, planned)
    const going = await withinHour(tx, free, now)
    const mails = going.flatMap((plan) => plan.mails)
    await insertMails(tx, deps, billing, mails, now)
    await countHour(tx, going, now)
    for (const { walked, run } of going) {
      for (const action of walked.actions) {
        if (action.kind === 'update') await applyChanges(tx, run.row.contact_id, action.changes)
      }
    }
    const webhooks = await enqueueStepWebhooks(tx, billing.accountId, going, now)
    await writeNext(tx, going, now, tally)
    await writeOthers(tx, current, now, tally)
    const roomless = current.filter((plan) => plan.kind === 'later')
    const later = [
      ...refused.map(({ run }) => [run.row.id, now + refusedMs]),
      ...roomless.map(({ run }) => [run.row.id, now + roomMs]),
    ]
    if (later.length > 0) await putOff(tx, { json: JSON.stringify(later), now, faults: 0 })
    await tally.write(tx)
    const moved = going.length + current.filter((plan) => plan.kind !== 'go').length
    return { mails, moved, steps: going.flatMap(stepsOf), webhooks }
  })
}

/** Without what follows a colon, as a split's branches have the names that its author chose. */
function stepsOf({ run: { version }, walked }: Go): { type: string; result: string }[] {
  return walked.history.map(({ stepId, result }) => ({
    type: version.compiled.byId.get(stepId)?.step.type ?? 'unknown',
    result: result.replace(/:.*/s, ''),
  }))
}

/**
 * The plans of runs that still are as they were read, and of automations that are: one that was paused or
 * archived meanwhile takes no step, and one that was resumed holds no run.
 */
async function stillSame(tx: Tx, plans: readonly Plan[]): Promise<Plan[]> {
  const read = plans.map(({ run: { row } }) => [row.id, row.seq])
  const rows = await sameAs(tx, { json: JSON.stringify(read) })
  const found = new Map(rows.map((row) => [row.id, row]))
  return plans.filter(({ kind, run }) => {
    const row = found.get(run.row.id)
    if (row === undefined) return false
    // A run that cannot be read is put off, or fails in the end, whatever its automation is.
    if (kind === 'fault') return true
    if (row.status === 'archived') return kind === 'cancel'
    return row.pausedAt === null ? kind !== 'hold' && kind !== 'cancel' : kind === 'hold'
  })
}

interface Same {
  id: string
  status: string
  pausedAt: number | null
}

const sameAs = prepared<{ json: string }, Same>((db, { json }) =>
  db
    .selectFrom(rowsOf(json))
    .innerJoin('automation_live as live', (join) =>
      join.on('live.id', '=', cell<string>(0)).on('live.seq', '=', cell<number>(1)),
    )
    .innerJoin('automations', 'automations.id', 'live.automation_id')
    .where('live.held_at', 'is', null)
    .select(['live.id', 'automations.status', 'automations.paused_at as pausedAt']),
)

/**
 * Those that no event has overtaken since they were read; `refused` are those whose mail may not be
 * sent any more. What ends or skips them is seen when they are planned anew.
 */
async function stillTrue(
  tx: Tx,
  accountId: string,
  plans: readonly Go[],
): Promise<{ going: Go[]; refused: Go[] }> {
  const parked = plans.flatMap(({ run, walked: { next } }) =>
    next.kind === 'park' && next.waitEvent !== null
      ? [[run.row.id, run.row.contact_id, next.waitEvent, next.seen]]
      : [],
  )
  // Ingest writes too, so that it comes before this and is seen here, or after it and sees the row.
  const late = parked.length === 0 ? [] : await overtaken(tx, { json: JSON.stringify(parked) })
  const lateRuns = new Set(late.map(({ id }) => id))
  const blocked = await refusedMails(
    tx,
    accountId,
    plans.flatMap((plan) => plan.mails),
  )
  const going: Go[] = []
  const refused: Go[] = []
  for (const plan of plans) {
    if (plan.mails.some(({ id }) => blocked.has(id))) refused.push(plan)
    else if (!lateRuns.has(plan.run.row.id)) going.push(plan)
  }
  return { going, refused }
}

const overtaken = prepared<{ json: string }, { id: string }>((db, { json }) =>
  db
    .selectFrom(rowsOf(json))
    .innerJoin('automation_events as events', (join) =>
      join
        .on('events.contact_id', '=', cell<string>(1))
        .on('events.name', '=', cell<string>(2))
        .on('events.id', '>', cell<number>(3)),
    )
    .select(cell<string>(0).as('id'))
    .distinct(),
)

/** Those that fit into their automation's hour: another engine may have made mails since they were planned. */
async function withinHour(tx: Tx, plans: readonly Go[], now: number): Promise<Go[]> {
  const versions = new Set(plans.filter(isCapped).map(({ run }) => run.version))
  const caps = await capsOf(tx, [...versions], now)
  return plans.filter((plan) => {
    const cap = isCapped(plan) ? caps.get(plan.run.version.automationId) : undefined
    if (cap === undefined) return true
    if (cap.left < plan.mails.length) return false
    cap.left -= plan.mails.length
    return true
  })
}

const isCapped = ({ run, mails }: Go) =>
  mails.length > 0 && run.version.compiled.settings.maxPerHour !== undefined

async function countHour(tx: Tx, plans: readonly Go[], now: number): Promise<void> {
  const made = new Map<string, number>()
  for (const { run, mails } of plans.filter(isCapped)) {
    const { automationId } = run.version
    made.set(automationId, (made.get(automationId) ?? 0) + mails.length)
  }
  if (made.size > 0) await countHourly(tx, [...made], now)
}

/** Where runs wait now, and those that have ended. */
async function writeNext(tx: Tx, plans: readonly Go[], now: number, tally: Tally): Promise<void> {
  const rows: unknown[][] = []
  const endings: Ending[] = []
  for (const plan of plans) {
    const { run, walked } = plan
    const { row } = run
    const { next } = walked
    const history = historyOf(plan)
    countSteps(plan, tally)
    if (next.kind === 'end') {
      const { stepId, status, reason } = next
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
      ...[row.id, after.stepId, after.dueAt, status, history, heard, waitsJson(after.waits)],
      ...[next.kind === 'park' ? next.waitEvent : null, after.enteredAt],
      ...[next.kind === 'blocked' ? next.reason : null, after.steps, after.mails],
    ])
  }
  if (rows.length > 0) await moveLive(tx, { json: JSON.stringify(rows), now })
  await endRuns(tx, endings, { at: now, tally })
}

/** The run's history, each mail with its id. */
function historyOf({ run: { row }, walked, mails }: Go): string {
  const entries = walked.history.map(({ why: _, ...entry }, place): HistoryEntry => {
    const mail = mails.find((one) => one.entry === place)
    return mail === undefined ? entry : { ...entry, emailId: mail.id }
  })
  if (entries.length === 0) return row.history
  return historyJson(appended(readHistory(row.history, row.started_at), entries), row.started_at)
}

/** Each step that the run has left counts by its result, and each that it has come to as entered. */
function countSteps({ run: { row }, walked: { history, next }, mails }: Go, tally: Tally): void {
  const left: number[] = []
  for (const { stepId, result } of history) {
    const column = columnOf(result)
    if (column === undefined) continue
    tally.step(stepId, column)
    left.push(stepId)
  }
  for (const { stepId } of mails) tally.step(stepId, 'mails')
  if (next.kind === 'end' && next.status === 'failed') tally.step(next.stepId, 'failed')
  // The first was entered before; the last is the one in which the run is now.
  const visited = next.kind === 'end' && left.at(-1) === next.stepId ? left : [...left, next.stepId]
  for (const stepId of visited.slice(visited[0] === row.step_id ? 1 : 0)) {
    tally.step(stepId, 'entered')
  }
}

const moveLive = prepared<{ json: string; now: number }, UpdateResult>((db, { json, now }) =>
  db
    .updateTable('automation_live')
    .from(rowsOf(json))
    .set((eb) => ({
      step_id: cell<number>(1),
      due_at: cell<number>(2),
      status: cell<'running' | 'waiting'>(3),
      history: cell<string>(4),
      heard: cell<string | null>(5),
      waits: cell<string | null>(6),
      wait_event: cell<string | null>(7),
      entered_at: cell<number | null>(8),
      blocked: cell<string | null>(9),
      steps: cell<number>(10),
      mails: cell<number>(11),
      woken_by: null,
      attempts: 0,
      seq: eb('seq', '+', 1),
      updated_at: now,
    }))
    .where('automation_live.id', '=', cell<string>(0)),
)

/** Runs that did not go: of automations that are paused or archived, and those that broke. */
async function writeOthers(
  tx: Tx,
  plans: readonly Plan[],
  now: number,
  tally: Tally,
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

/** Where they are, with what woke them and with their marks: all of it counts once they go on. */
async function writeWaiting(
  tx: Tx,
  plans: readonly Extract<Plan, { kind: 'wait' }>[],
  now: number,
  tally: Tally,
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

const waitFor = prepared<{ json: string; now: number }, UpdateResult>((db, { json, now }) =>
  db
    .updateTable('automation_live')
    .from(rowsOf(json))
    .set((eb) => ({
      due_at: cell<number>(1),
      blocked: cell<string>(2),
      status: 'waiting' as const,
      seq: eb('seq', '+', 1),
      updated_at: now,
    }))
    .where('automation_live.id', '=', cell<string>(0)),
)

/** Why a run is held whose automation is paused. */
export const pausedReason = 'the automation is paused'

const putOff = prepared<{ json: string; now: number; faults: number }, UpdateResult>(
  (db, { json, now, faults }) =>
    db
      .updateTable('automation_live')
      .from(rowsOf(json))
      .set((eb) => ({
        due_at: cell<number>(1),
        attempts: eb('attempts', '+', faults),
        seq: eb('seq', '+', 1),
        updated_at: now,
      }))
      .where('automation_live.id', '=', cell<string>(0)),
)
