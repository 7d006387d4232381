import type { UpdateResult } from 'kysely'
import { nextTurn } from '../../bounded/index.js'
import { type Clock, pause } from '../../clock/index.js'
import { maxOverdueMs, never } from '../../deliveries/index.js'
import {
  cell,
  prepared,
  type Read,
  rowsOf,
  type Store,
  type Tx,
  unindexed,
} from '../../store/index.js'
import { type BlockedReason, blockedReasons, type HistoryEntry } from '../definition/index.js'
import { historyJson, readHistory } from './live.js'

interface HoldDeps {
  store: Store
  clock: Clock
}

/**
 * Holds runs: they are not due until they are released, and keep the time at which they were. Given as a JSON array of
 * [id, since when they count as held]. Events that come meanwhile are kept for them.
 */
export const holdLive = prepared<{ json: string; now: number; reason: string }, UpdateResult>(
  (db, { json, now, reason }) =>
    db
      .updateTable('automation_live')
      .from(rowsOf(json))
      .set((eb) => ({
        held_at: cell(1, 'integer'),
        held_reason: reason,
        held_due_at: eb.ref('due_at'),
        due_at: never,
        seq: eb('seq', '+', 1),
        updated_at: now,
      }))
      .where('automation_live.id', '=', cell(0, 'text'))
      .where('held_at', 'is', null),
)

/** The reason of runs that were overdue at a start. */
export const overdueReason = 'overdue by more than an hour when Posthorn started'

// Runs in a transaction, and the rest after it in which others write.
const perWrite = 200
const restMs = 20

/**
 * At the start, before the engine: holds the runs that should have gone on more than an hour ago, because the database
 * was restored, copied or asleep. The operator releases them. Resolves with how many.
 */
export async function holdOverdueRuns(deps: HoldDeps): Promise<number> {
  return await holdDue(deps, { before: deps.clock.now() - maxOverdueMs, reason: overdueReason })
}

/**
 * At the start on a backup's copy: holds every run that should have gone on since the backup. Unless nothing ran since
 * then, that run did go on, and its mail is sent.
 */
export async function holdRestoredRuns(deps: HoldDeps, reason: string): Promise<number> {
  return await holdDue(deps, { before: deps.clock.now() + 1, reason })
}

/**
 * Runs that were overdue when the appliance had slept or was restored are held and not taken at once: a copy of last
 * month's database must not mail last month's sequences. The hold counts from the last sign of life that the database
 * has, as nothing happened after that.
 */
async function holdDue(
  { store, clock }: HoldDeps,
  { before, reason }: { before: number; reason: string },
): Promise<number> {
  const now = clock.now()
  // Signs of life are written once in a while, and events may have come after the last one.
  const lasts = await store.read
    .selectFrom('appliance')
    .select((eb) => eb.fn.max('alive_at').as('last'))
    .unionAll(store.read.selectFrom('automation_events').select((eb) => eb.fn.max('at').as('last')))
    .execute()
  const last = Math.max(...lasts.map((row) => row.last ?? 0))
  // No later than now: the clock may have been set back since then.
  const since = last === 0 ? now : Math.min(now, last)
  let held = 0
  for (const accountId of await accountsWithRuns(store.read)) {
    for (;;) {
      const rows = await store.read
        .selectFrom('automation_live')
        .select('id')
        .where('account_id', '=', accountId)
        .where('due_at', '<', before)
        .limit(perWrite)
        .execute()
      if (rows.length === 0) break
      const json = JSON.stringify(rows.map(({ id }) => [id, since]))
      await store.write((tx) => holdLive(tx, { json, now, reason }))
      held += rows.length
    }
  }
  return held
}

async function accountsWithRuns(read: Read): Promise<string[]> {
  const rows = await read.selectFrom('automations').select('account_id').distinct().execute()
  return rows.map((row) => row.account_id)
}

/**
 * What becomes of the steps that fell due while runs were held: `shift` moves their time by the length of the hold,
 * `now` takes them at once, `skip` takes them at once but makes no mail.
 */
export type HeldRelease = 'shift' | 'now' | 'skip'
/** The ways to release, as the command line names them. */
export const releases: readonly HeldRelease[] = ['shift', 'now', 'skip']

/** Which held runs; all of them where no field is given. */
export interface HeldRuns {
  automationId?: string | undefined
  accountId?: string | undefined
  /** Held for this reason. */
  reason?: string | undefined
}

interface ReleaseOptions {
  signal?: AbortSignal
  /** Asked before each slice. */
  isOver?: () => boolean
  /** Asked in each slice's transaction: once it answers no, nothing more is released. */
  isWanted?: (tx: Tx) => Promise<boolean>
}

/** Releases held runs, in short transactions; resolves with how many. */
export async function releaseRuns(
  { store, clock }: HoldDeps,
  filter: HeldRuns,
  how: HeldRelease,
  {
    signal = new AbortController().signal,
    isOver = () => signal.aborted,
    isWanted = async () => true,
  }: ReleaseOptions = {},
): Promise<number> {
  let released = 0
  for (let after = ''; !isOver(); ) {
    const ids = await heldAfter(store.read, filter, after)
    const last = ids.at(-1)
    if (last === undefined) break
    const count = await store.write(async (tx) =>
      (await isWanted(tx)) ? await releaseSome(tx, ids, how, clock.now()) : undefined,
    )
    if (count === undefined) break
    released += count
    after = last
    await pause(clock, restMs, signal)
  }
  return released
}

/** Whether any run of an automation is held. */
export const isAnyHeld = async (read: Read, automationId: string): Promise<boolean> =>
  (await heldAfter(read, { automationId }, '', 1)).length > 0

/** Runs that are held, of one automation for one reason. */
export interface HeldCount {
  automationId: string
  name: string
  reason: string | null
  runs: number
  oldestDueAt: number | null
}

// Some milliseconds of the thread; a restore may hold a million runs.
const perCount = 2_000

/** How many runs are held, by automation and reason; counted slice by slice, with turns for others in between. */
export async function countHeld(read: Read, accountId?: string): Promise<HeldCount[]> {
  const counts = new Map<string, HeldCount>()
  for (let after: string | undefined = ''; after !== undefined; ) {
    const groups = await heldSlice(read, after, accountId)
    for (const { last, ...group } of groups) {
      const key = JSON.stringify([group.automationId, group.reason])
      const known = counts.get(key) ?? { ...group, runs: 0 }
      const dueAts = [known.oldestDueAt, group.oldestDueAt]
        .filter((at) => at !== null)
        .sort((a, b) => a - b)
      counts.set(key, { ...known, runs: known.runs + group.runs, oldestDueAt: dueAts[0] ?? null })
    }
    const runs = groups.reduce((sum, group) => sum + group.runs, 0)
    const lasts = groups.map(({ last }) => last).sort()
    after = runs < perCount ? undefined : lasts.at(-1)
    await nextTurn()
  }
  return [...counts.values()]
}

/** The next `perCount` held runs, grouped, each group with its last. */
const heldSlice = (read: Read, after: string, accountId: string | undefined) =>
  read
    .selectFrom((from) =>
      from
        .selectFrom('automation_live')
        .select(['id', 'automation_id', 'held_reason', 'held_due_at'])
        .where('held_at', 'is not', null)
        .where('id', '>', after)
        .$if(accountId !== undefined, (q) => q.where(unindexed('account_id'), '=', accountId ?? ''))
        .orderBy('id')
        .limit(perCount)
        .as('held'),
    )
    .innerJoin('automations', 'automations.id', 'held.automation_id')
    .select(['automation_id as automationId', 'automations.name', 'held_reason as reason'])
    .select((eb) => [
      eb.fn.countAll<number>().as('runs'),
      eb.fn.min('held_due_at').as('oldestDueAt'),
      eb.fn.max('held.id').as('last'),
    ])
    .groupBy(['automation_id', 'automations.name', 'held_reason'])
    .execute()

/** By id after a cursor, because releases change `held_at` and a page by number would pass rows over. */
async function heldAfter(
  read: Read,
  { automationId, accountId, reason }: HeldRuns,
  after: string,
  limit = perWrite,
): Promise<string[]> {
  const rows = await read
    .selectFrom('automation_live')
    .select('id')
    .where('held_at', 'is not', null)
    .where('id', '>', after)
    .$if(automationId !== undefined, (q) => q.where('automation_id', '=', automationId ?? ''))
    .$if(accountId !== undefined, (q) => q.where('account_id', '=', accountId ?? ''))
    .$if(reason !== undefined, (q) => q.where('held_reason', '=', reason ?? ''))
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

// What `blocked` says of a run whose mails are passed over until it waits again. A second word may say why the run
// cannot go on even so.
const skipping = 'skip'

/** Whether a run passes over its mails until it waits again. */
export const isSkipping = (blocked: string | null): boolean =>
  blocked !== null && blocked.split(' ')[0] === skipping

/** The mark of a run that waits for a reason; a run that passes over its mails keeps doing so. */
export const blockedMark = (blocked: string | null, reason: BlockedReason): string =>
  isSkipping(blocked) ? `${skipping} ${reason}` : reason

/** Why a run waits, by its mark; undefined where it does not. */
export const blockedReason = (blocked: string | null): BlockedReason | undefined =>
  blockedReasons.find((reason) => blocked?.split(' ').includes(reason))

/**
 * What becomes of a timer that ran out while the run was held: `shift` adds the length of the hold,
 * `now` takes the step at once, `skip` goes on without the mails that the overdue steps would make.
 */
async function releaseSome(tx: Read, ids: readonly string[], how: HeldRelease, now: number) {
  const json = JSON.stringify(ids.map((id) => [id]))
  const rows = await heldAmong(tx, { json })
  const changes = rows.map((row) => {
    const { id, history, started_at, step_id, woken_by } = row
    const dueAt = row.held_due_at ?? now
    // A run that an event has woken goes on at once, and a blocked run is only looked at again.
    const isShifted = how === 'shift' && woken_by === null && row.blocked === null
    const next = isShifted
      ? Math.max(now, dueAt + (now - (row.held_at ?? now)))
      : Math.max(now, dueAt)
    const mark = how === 'skip' && dueAt <= now ? skipping : row.blocked
    const line = { stepId: step_id, at: now, result: `released:${how}` }
    return [id, next, withLine(history, line, started_at), mark]
  })
  await release(tx, { json: JSON.stringify(changes), now })
  return changes.length
}

/** A broken history is left as it is: its run is released with the others, and fails by itself. */
function withLine(history: string, line: HistoryEntry, startedAt: number): string {
  try {
    return historyJson([...readHistory(history, startedAt), line], startedAt)
  } catch {
    return history
  }
}

/** What a release needs of a run. */
interface Held {
  id: string
  history: string
  started_at: number
  step_id: number
  woken_by: number | null
  held_at: number | null
  held_due_at: number | null
  blocked: string | null
}

/** Read again within the write: an operator may have released some of them in the meantime. */
const heldAmong = prepared<{ json: string }, Held>((db, { json }) =>
  db
    .selectFrom(rowsOf(json))
    .innerJoin('automation_live as live', (join) => join.on('live.id', '=', cell(0, 'text')))
    .select(['live.id', 'history', 'started_at', 'step_id', 'woken_by', 'blocked'])
    .select(['held_at', 'held_due_at'])
    .where('held_at', 'is not', null),
)

/**
 * `seq` goes up with every change of a run, so that a plan which was made before finds out and is
 * thrown away (`take.ts`).
 */
const release = prepared<{ json: string; now: number }, UpdateResult>((db, { json, now }) =>
  db
    .updateTable('automation_live')
    .from(rowsOf(json))
    .set((eb) => ({
      due_at: cell(1, 'integer'),
      history: cell(2, 'text'),
      blocked: cell<string | null>(3, 'text'),
      held_at: null,
      held_reason: null,
      held_due_at: null,
      seq: eb('seq', '+', 1),
      updated_at: now,
    }))
    .where('automation_live.id', '=', cell(0, 'text')),
)
