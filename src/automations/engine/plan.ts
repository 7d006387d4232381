import type { Clock } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import { isPassing, type Read, type Store } from '../../store/index.js'
import type { Renderer } from '../../templates/index.js'
import {
  type BlockedReason,
  type FrozenVersion,
  type Obstacle,
  type RunState,
  render,
  type Versions,
} from '../definition/index.js'
import { checkLive, isSkipping, meetAudience, stateOf, type Walked, walk } from '../runs/index.js'
import {
  type DueRun,
  dueRuns,
  readSurroundings,
  runContactOf,
  type WalkSurroundings,
} from './due.js'
import { type GateDeps, openGate, type Prepared, type SendGate, type SendStep } from './gate.js'

/** What planning needs; it writes nothing. */
export interface PlanDeps extends Omit<GateDeps, 'read'> {
  store: Pick<Store, 'read' | 'ids'>
  renderer: Renderer
  versions: Versions
  clock: Clock
}

/** A mail that a run sends, ready to be written. */
export interface PlannedMail extends Prepared {
  id: string
  deliveryId: number
  stepId: number
  step: SendStep
  /** Which line of the walk's history the send has. */
  entry: number
  to: { email: string }
  subject: string
  /** JSON: what is merged when the mail leaves; null for nothing. */
  merged: string | null
}

/** What becomes of a run that is due. */
export type RunPlan =
  | { kind: 'go'; run: DueRun; state: RunState; walked: Walked; mails: PlannedMail[] }
  /** The automation was paused at `since`. */
  | { kind: 'hold'; run: DueRun; since: number }
  | { kind: 'cancel'; run: DueRun }
  /** The run's account takes no step at all: the run stays as it is, with this reason. */
  | { kind: 'wait'; run: DueRun; reason: BlockedReason; until: number }
  /** There was no room to render the run's mail, with which nothing is wrong. */
  | { kind: 'later'; run: DueRun }
  /** The run could not be planned, or its plan could not be written; perhaps not even its version can be read. */
  | { kind: 'fault'; run: Pick<DueRun, 'row'>; error: unknown }

/** The plans of one account, and the gate by which they were made. */
export interface RunBatch {
  gate: SendGate
  plans: RunPlan[]
}

/**
 * Reads the runs of an account that are due, and plans what becomes of each, without writing anything. A fault of one
 * run leaves the others alone.
 */
export async function planDue(
  deps: PlanDeps,
  accountId: string,
  { now, limit }: { now: number; limit: number },
): Promise<RunBatch | undefined> {
  const { read } = deps.store
  const rows = await dueRuns(read, { accountId, now, limit })
  if (rows.length === 0) return undefined
  const states = await standingsOf(read, [...new Set(rows.map((row) => row.automation_id))])
  const runs: DueRun[] = []
  const broken: RunPlan[] = []
  for (const row of rows) {
    try {
      const version = await deps.versions(read, row.automation_id, row.version)
      // Checked here, since what follows reads for all runs together.
      checkLive(row)
      runs.push({ row, contact: runContactOf(row), version })
    } catch (error) {
      if (isPassing(error)) throw error
      // What is stored of the run, its version or its contact is broken.
      broken.push({ kind: 'fault', run: { row }, error })
    }
  }
  await meetAudience(
    read,
    runs.flatMap(({ contact, version: { asks } }) =>
      contact === undefined ? [] : [{ contact, asks }],
    ),
  )
  const versions = [...new Set(runs.map(({ version }) => version))]
  const gate = await openGate({ ...deps, read }, accountId, versions, now)
  const { standstill } = gate
  const around = await readSurroundings(read, accountId, standstill === undefined ? runs : [])
  // Too many events have come for so many runs: fewer runs are looked at, down to one, which is always complete.
  if (!around.complete) {
    return await planDue(deps, accountId, { now, limit: Math.ceil(rows.length / 8) })
  }
  const plan = async (run: DueRun): Promise<RunPlan> => {
    const { status, pausedAt } = states.get(run.row.automation_id) ?? archived
    if (status === 'archived') return { kind: 'cancel', run }
    if (pausedAt !== null) return { kind: 'hold', run, since: pausedAt }
    if (standstill !== undefined) {
      return { kind: 'wait', run, reason: standstill.reason, until: standstill.until }
    }
    try {
      return { kind: 'go', run, ...(await planRun(deps, gate, around, run, now)) }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'service_unavailable') {
        return { kind: 'later', run }
      }
      return { kind: 'fault', run, error }
    }
  }
  const plans = broken
  for (let at = 0; at < runs.length; at += atOnce) {
    plans.push(...(await Promise.all(runs.slice(at, at + atOnce).map(plan))))
    if (deps.clock.now() - now > turnMs) break
  }
  return { gate, plans }
}

// Runs that are planned side by side, and how long (ms) a turn may last: a mail that needs the template engine may take
// 100 ms, and the other accounts wait for their turn.
const atOnce = 20
const turnMs = 500

// An automation that no longer exists is like an archived one: its run is cancelled.
const archived = { status: 'archived', pausedAt: null } as const

/**
 * Read with the plan and again with the write (`take.ts`): an automation that was paused in between
 * must not go on.
 */
async function standingsOf(read: Read, ids: readonly string[]) {
  const rows = await read
    .selectFrom('automations')
    .select(['id', 'status', 'paused_at'])
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map(({ id, status, paused_at: pausedAt }) => [id, { status, pausedAt }]))
}

/**
 * Decides everything and writes nothing, so that it may be thrown away: a fault of one run, or a
 * change that came in between, costs only the plan.
 */
async function planRun(
  deps: PlanDeps,
  gate: SendGate,
  around: WalkSurroundings,
  run: DueRun,
  now: number,
): Promise<{ state: RunState; walked: Walked; mails: PlannedMail[] }> {
  const { row, contact, version } = run
  const state = stateOf(row, around.events)
  const trigger = around.events.get(row.trigger_event)
  if (trigger === undefined) throw new Error('The event that started the run was deleted')
  /** What only the rendering has shown, by the step's key. */
  const faults = new Map<string, Obstacle>()
  const skips = isSkipping(row.blocked) ? passOver : undefined
  const { obstacle, takeBack } = gate.forRun()
  const walkOnce = () =>
    walk(
      version.compiled,
      state,
      {
        contact,
        trigger,
        departed: contact && around.departed(contact),
        nextEvent: (name, after) => around.nextEvent(row.contact_id, name, after),
        mail: (stepKey) => around.mail(row, version, stepKey),
        optedOut: (topicId) => contact !== undefined && around.optedOut(contact, topicId),
        obstacle: (step, variables) =>
          faults.get(step.key) ?? skips ?? obstacle(version, step, variables),
      },
      now,
    )
  // The next walk is told of each step that does not render, and ends there.
  try {
    for (;;) {
      const walked = walkOnce()
      const mails = await planMails(deps, gate, version, contact?.email ?? '', walked)
      if (!('fault' in mails)) return { state, walked, mails: mails.mails }
      takeBack()
      faults.set(mails.stepKey, { kind: 'failed', reason: mails.fault })
    }
  } catch (error) {
    takeBack()
    throw error
  }
}

/** For runs that an operator has released without their overdue mails. */
const passOver: Obstacle = { kind: 'skipped', reason: 'overdue' }

/** Rendered before the write: rendering waits for another thread, and a transaction may await nothing but queries. */
async function planMails(
  { store, renderer }: PlanDeps,
  gate: SendGate,
  version: FrozenVersion,
  email: string,
  { actions }: Walked,
): Promise<{ mails: PlannedMail[] } | { stepKey: string; fault: string }> {
  const mails: PlannedMail[] = []
  for (const action of actions) {
    if (action.kind !== 'mail') continue
    const { step, stepId, entry, variables } = action
    const prepared = gate.prepared(version, step)
    const filled = gate.filled(variables) ?? (await render(renderer, prepared.template, variables))
    if ('fault' in filled) return { stepKey: step.key, fault: filled.fault }
    const { subject, merged } = filled
    const id = store.ids.uuid()
    const deliveryId = store.ids.serial()
    mails.push({ ...prepared, id, deliveryId, stepId, step, entry, to: { email }, subject, merged })
  }
  return { mails }
}
