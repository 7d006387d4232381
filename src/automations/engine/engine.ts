import { type Clock, isRecent, pause } from '../../clock/index.js'
import type { Backlog, StreamDue } from '../../deliveries/index.js'
import { ApiError, messageOf } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import type { Meter } from '../../metrics/index.js'
import { holdsPart } from '../../nodes/index.js'
import { isPassing, prepared, type Read, type Store } from '../../store/index.js'
import type { SeenOfHour } from '../../surges/index.js'
import { makeMailTemplates, makeVersions } from '../definition/index.js'
import { type MailDeps, ringOf } from './mails.js'
import { type PlanDeps, planDue, type RunBatch } from './plan.js'
import { takePlans } from './take.js'

/** What the engine needs; `ring` tells the outbound threads that there is new mail. */
export interface EngineDeps
  extends Omit<PlanDeps, 'store'>,
    Pick<MailDeps, 'retry' | 'surges' | 'hours'> {
  store: Store
  clock: Clock
  log: Log
  backlog: Backlog
  meter: Meter
  ring: (due: readonly StreamDue[]) => void
}

/** What an engine keeps of versions and templates, which it need not read for every run. */
export const makeEngineMemory = () => ({
  versions: makeVersions(),
  templates: makeMailTemplates(),
  hours: new Map<string, SeenOfHour>(),
})

/** Resolves when there may be something due: after so long, or sooner when somebody has rung. */
export type Rest = (atMostMs: number) => Promise<void>

// Runs that are read and planned together.
const perBatch = 200
// Runs in a write. It takes some two milliseconds, after which waiting clients have their turn. Where nobody waits, the
// store takes several slices in one transaction.
const perWrite = 20
// A job's thread takes 0.2 s to start (notes/stack.md §5), so that it stays for what comes soon.
const idleMs = 60_000
// The rest after a fault of the storage, which concerns all accounts.
const faultPauseMs = 1_000
// The rest of an account for whose runs no plan can be made.
const restMs = 60_000

/**
 * Runs what is due in all automations, accounts in turn, until nothing has been due for a minute nor
 * will be within another, or `signal` is aborted. A step is one transaction, so that a kill at any
 * point leaves each run before or behind it. An account that meets a fault of its own rests for a minute,
 * and the others go on.
 */
export async function runAutomations(
  deps: EngineDeps,
  signal: AbortSignal,
  rest: Rest,
): Promise<void> {
  const { clock, store, log } = deps
  /** Accounts at fault: since when they rest, and for how long. */
  const resting = new Map<string, { since: number; ms: number }>()
  const rests = (id: string) => {
    const { since, ms } = resting.get(id) ?? { since: 0, ms: 0 }
    return isRecent(since, clock.now(), ms)
  }
  /** Accounts whose last turn has moved nothing: an event came between, or a plan is never taken. */
  const still = new Set<string>()
  for (let idleSince = clock.now(); !signal.aborted; ) {
    const due = await dueAccounts(store, clock.now())
    const accounts = due.filter((id) => !rests(id))
    for (const accountId of accounts) {
      if (signal.aborted) return
      try {
        const { moved, refused } = await runTurn(deps, accountId)
        if (refused || (!moved && still.has(accountId))) {
          resting.set(accountId, { since: clock.now(), ms: faultPauseMs })
        } else resting.delete(accountId)
        if (moved) still.delete(accountId)
        else still.add(accountId)
      } catch (error) {
        if (isPassing(error)) throw error
        log.error({ accountId, error }, 'Automations of an account cannot go on; again in a minute')
        resting.set(accountId, { since: clock.now(), ms: restMs })
      }
      idleSince = clock.now()
    }
    if (accounts.length > 0) continue
    const now = clock.now()
    const next = await nextDueAt(store.read, (id) => holdsPart(store.node, 'automate', id))
    // The clock was set back: the minute begins anew.
    idleSince = Math.min(idleSince, now)
    const waitMs = Math.min(idleSince + idleMs - now, (next ?? Number.POSITIVE_INFINITY) - now)
    if (now - idleSince >= idleMs) return
    await rest(Math.max(resting.size > 0 ? faultPauseMs : 1, waitMs))
  }
}

/** An account's turn; resolves with whether anything has moved. */
export async function runSome(deps: EngineDeps, accountId: string): Promise<boolean> {
  return (await runTurn(deps, accountId)).moved
}

/** What a turn, or a write of it, came to. */
interface Turn {
  moved: boolean
  /** Some could not be written just now: a cap was reached since they were planned. */
  refused: boolean
}

/**
 * Planned together and written in slices: planning reads much and must not hold the writer, and a
 * slice that fails takes only its own runs along.
 */
async function runTurn(deps: EngineDeps, accountId: string): Promise<Turn> {
  const now = deps.clock.now()
  const batch = await planDue(deps, accountId, { now, limit: perBatch })
  if (batch === undefined) return { moved: false, refused: false }
  const { gate, plans } = batch
  const slices: RunBatch[] = []
  for (let at = 0; at < plans.length; at += perWrite) {
    slices.push({ gate, plans: plans.slice(at, at + perWrite) })
  }
  return sum(await Promise.all(slices.map((slice) => takeSlice(deps, accountId, slice, now))))
}

/** Several turns as one. */
const sum = (turns: readonly Turn[]): Turn => ({
  moved: turns.some(({ moved }) => moved),
  refused: turns.some(({ refused }) => refused),
})

/** Writes each slice by itself: a fault of one leaves the others written. */
async function takeSlice(
  deps: EngineDeps,
  accountId: string,
  slice: RunBatch,
  now: number,
): Promise<Turn> {
  const { clock, log } = deps
  try {
    return { moved: await take(deps, accountId, slice, now), refused: false }
  } catch (error) {
    if (mayPass(error)) {
      log.warn({ accountId, reason: messageOf(error) }, 'Steps of automations wait')
      // A fault of the storage concerns all accounts, a cap this account alone.
      if (isPassing(error)) await pause(clock, faultPauseMs)
      return { moved: false, refused: true }
    }
    log.error({ accountId, error }, 'Steps of automations could not be written together')
    return await takeSingly(deps, accountId, slice, now)
  }
}

/**
 * Counts, backlog and the doorbell come after the commit. Before it, a rollback would have told of
 * mails that do not exist.
 */
async function take(
  { store, backlog, meter, ring, retry, plans, surges, hours }: EngineDeps,
  accountId: string,
  batch: RunBatch,
  now: number,
): Promise<boolean> {
  const writing = { store, ids: store.ids, retry, plans, surges, hours }
  const { mails, moved, steps } = await takePlans(writing, batch, now)
  for (const step of steps) meter.count('posthorn_automation_steps_total', step)
  backlog.change(mails.length)
  if (mails.length > 0) ring(ringOf(accountId, mails, now))
  return moved > 0
}

/** One run of a batch cannot be written: the others are written, and that one is tried again later. */
async function takeSingly(
  deps: EngineDeps,
  accountId: string,
  { gate, plans }: RunBatch,
  now: number,
): Promise<Turn> {
  const turns: Turn[] = []
  const takeOne = async (plan: RunBatch['plans'][number]) => {
    const moved = await take(deps, accountId, { gate, plans: [plan] }, now)
    turns.push({ moved, refused: false })
  }
  for (const plan of plans) {
    try {
      await takeOne(plan)
    } catch (error) {
      if (mayPass(error)) turns.push({ moved: false, refused: true })
      else await takeOne({ kind: 'fault', run: plan.run, error })
    }
  }
  return sum(turns)
}

// A cap that was reached since the plan was made, or a storage that cannot be written just now.
const mayPass = (error: unknown) => error instanceof ApiError || isPassing(error)

/** Accounts with something due, the longest due first: two searches of an index for each. */
async function dueAccounts(
  { read, node }: Pick<Store, 'read' | 'node'>,
  now: number,
): Promise<string[]> {
  return (await earliestOf(read, {}))
    .filter(({ accountId }) => holdsPart(node, 'automate', accountId))
    .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
    .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
    .map(({ accountId }) => accountId)
}

/** When the next run of any account, or of some accounts, falls due; undefined when all live runs are held. */
export async function nextDueAt(
  read: Read,
  isOurs: (accountId: string) => boolean = () => true,
): Promise<number | undefined> {
  const times = (await earliestOf(read, {})).flatMap(({ accountId, dueAt }) =>
    dueAt === null || !isOurs(accountId) ? [] : [dueAt],
  )
  return times.length === 0 ? undefined : Math.min(...times)
}

/**
 * One look into the index for each account (`account_id, due_at`), in place of a scan of all live
 * runs.
 */
const earliestOf = prepared<object, { accountId: string; dueAt: number | null }>((db) =>
  db
    .selectFrom(db.selectFrom('automations').select('account_id').distinct().as('accounts'))
    .select('account_id as accountId')
    .select((eb) =>
      eb
        .selectFrom('automation_live as live')
        .select((min) => min.fn.min('due_at').as('due'))
        .whereRef('live.account_id', '=', 'accounts.account_id')
        .as('dueAt'),
    ),
)
