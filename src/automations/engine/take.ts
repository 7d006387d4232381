import { makeRunTally } from '../../runs/index.js'
import { cell, prepared, rowsOf, type Store, type Tx } from '../../store/index.js'
import { capOf, capsOf, countHourly } from './hourly-cap.js'
import { insertMails, type MailDeps, refusedMails } from './mails.js'
import type { PlannedMail, RunBatch, RunPlan } from './plan.js'
import { applyChanges, enqueueStepWebhooks } from './step-effects.js'
import { stillBlocked } from './wake-blocked.js'
import { type ContinuingPlan, putOff, writeNext, writeOthers } from './write-plans.js'

/** What writing plans needs. */
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

// When a run whose mail the write refused is looked at again.
const refusedMs = 60_000
// When a run for whose mail the renderer had no room is looked at again.
const roomMs = 10_000

/**
 * Writes what was planned, all of it or nothing. It writes only runs that still are as they were read, of automations
 * that were neither paused nor archived since, for which no event has come that the plan does not know, and whose mail
 * may still be sent. The others are left as they are, and planned anew.
 */
export async function takePlans(
  { store, ...deps }: TakeDeps,
  { gate, plans }: RunBatch,
  now: number,
): Promise<TakenSteps> {
  const { billing } = gate
  return await store.write(async (tx) => {
    const tally = makeRunTally()
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
    const webhooks = await enqueueStepWebhooks(tx, billing, going, now)
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
  }, billing.accountId)
}

/** Without what follows a colon: a split's branches have names that its author chose. */
function stepsOf({ run: { version }, walked }: ContinuingPlan): { type: string; result: string }[] {
  return walked.history.map(({ stepId, result }) => ({
    type: version.compiled.byId.get(stepId)?.step.type ?? 'unknown',
    result: result.replace(/:.*/s, ''),
  }))
}

/**
 * The plans of runs and automations that still are as they were read. An automation that was paused or archived
 * meanwhile takes no step, and one that was resumed holds no run.
 */
async function stillSame(tx: Tx, plans: readonly RunPlan[]): Promise<RunPlan[]> {
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

/** A run that is as it was read, with how its automation stands. */
interface Same {
  id: string
  status: string
  pausedAt: number | null
}

/**
 * Plans are made outside of the write. A run whose `seq` has moved since, or that was held, is left
 * out of the write: something has happened to it, and its plan may be wrong.
 */
const sameAs = prepared<{ json: string }, Same>((db, { json }) =>
  db
    .selectFrom(rowsOf(json))
    .innerJoin('automation_live as live', (join) =>
      join.on('live.id', '=', cell(0, 'text')).on('live.seq', '=', cell(1, 'integer')),
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
  plans: readonly ContinuingPlan[],
): Promise<{ going: ContinuingPlan[]; refused: ContinuingPlan[] }> {
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
  const going: ContinuingPlan[] = []
  const refused: ContinuingPlan[] = []
  for (const plan of plans) {
    if (plan.mails.some(({ id }) => blocked.has(id))) refused.push(plan)
    else if (!lateRuns.has(plan.run.row.id)) going.push(plan)
  }
  return { going, refused }
}

/**
 * Runs that are about to park on an event which has come since they were read. Ingest could not
 * wake them, as they were not parked yet, and the plan has not seen it: they would sleep until
 * their timeout.
 */
const overtaken = prepared<{ json: string }, { id: string }>((db, { json }) =>
  db
    .selectFrom(rowsOf(json))
    .innerJoin('automation_events as events', (join) =>
      join
        .on('events.contact_id', '=', cell(1, 'text'))
        .on('events.name', '=', cell(2, 'text'))
        .on('events.id', '>', cell(3, 'integer')),
    )
    .select(cell(0, 'text').as('id'))
    .distinct(),
)

/** Those that fit into their automation's hour: another engine may have made mails since they were planned. */
async function withinHour(
  tx: Tx,
  plans: readonly ContinuingPlan[],
  now: number,
): Promise<ContinuingPlan[]> {
  const versions = new Set(plans.filter(isCapped).map(({ run }) => run.version))
  const caps = await capsOf(tx, [...versions], now)
  return plans.filter((plan) => {
    const cap = isCapped(plan) ? capOf(caps, plan.run.version) : undefined
    if (cap === undefined) return true
    if (cap.own.left < plan.mails.length) return false
    for (const one of cap.uses) one.left -= plan.mails.length
    return true
  })
}

/** Whether a plan makes mails that count against a cap. */
const isCapped = ({ run, mails }: ContinuingPlan) =>
  mails.length > 0 && run.version.compiled.settings.maxPerHour !== undefined

/**
 * Counted when mails are made, not when they leave: how fast they leave is the business of shaping.
 */
async function countHour(tx: Tx, plans: readonly ContinuingPlan[], now: number): Promise<void> {
  const made = new Map<string, number>()
  for (const { run, mails } of plans.filter(isCapped)) {
    const { automationId } = run.version
    made.set(automationId, (made.get(automationId) ?? 0) + mails.length)
  }
  if (made.size > 0) await countHourly(tx, [...made], now)
}
