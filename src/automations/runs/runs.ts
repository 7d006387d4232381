import { nextTurn } from '../../bounded/index.js'
import { ApiError, OperatorError } from '../../errors/index.js'
import { idsIn, type Read } from '../../store/index.js'
import type { BlockedReason, HistoryEntry } from '../definition/index.js'
import { blockedReason } from './hold.js'
import { readHistory } from './live.js'
import { endStatuses, liveStatuses, type RunStatus } from './status.js'

/** A run as it is told, whether it is under way or has ended. */
export interface Run {
  id: string
  automationId: string
  version: number
  /** Null once the contact was deleted. */
  contactId: string | null
  email: string | null
  status: RunStatus
  reason: string | null
  /** The key of the step at which the run is or has ended. */
  currentStep: string | null
  startedAt: number
  updatedAt: number
  history: (Omit<HistoryEntry, 'stepId'> & { step: string | null })[]
  /** What the run waits for; null when it has ended, or goes on at once. */
  waitingFor: RunWait | null
}

/** What a run waits for, and until when. */
export interface RunWait {
  kind: 'event' | 'delay' | 'held' | 'retry' | BlockedReason
  /** The event's name; for a held run the reason. */
  event?: string
  reason?: string
  /** Null: until an operator releases it. */
  until: number | null
}

/** Which page of an automation's runs. */
export interface RunsAsked {
  statuses: readonly RunStatus[]
  limit: number
  /** Older than this run. */
  before?: string | undefined
  /** Whether a run that stands, or ended, at this step for this reason is asked for. */
  fits?: (row: RunPlace) => boolean
  /** The most runs that it looks at; default: `mostLookedAt`. */
  most?: number
}

/** Some of them, newest first. */
export interface RunsPage {
  runs: Run[]
  /** The run behind which the next page begins; undefined: there is no more. */
  next: string | undefined
}

/**
 * A status may be rare among a million runs: a page then ends with fewer runs, or none, and the next page goes on from
 * there.
 */
const mostLookedAt = 10_000
// A millisecond or so of the thread; in between others have their turn.
const perLook = 500

/** Runs of an automation, newest first, those under way and those that have ended in one order. */
export async function listRuns(
  read: Read,
  automationId: string,
  asked: RunsAsked,
): Promise<RunsPage> {
  const { ids, next } = await idsByStatus(read, automationId, asked)
  return { runs: await runsOf(read, ids), next }
}

/** The same by their ids alone. */
export async function idsByStatus(
  read: Read,
  automationId: string,
  { statuses, limit, before, fits = () => true, most = mostLookedAt }: RunsAsked,
): Promise<{ ids: string[]; next: string | undefined }> {
  const found: string[] = []
  let below = before
  // Mostly the first ones are a page already.
  let size = limit + 1
  for (let looked = 0; looked < most; looked += size, size = perLook) {
    if (looked > 0) await nextTurn()
    const { rows, more } = await newestRuns(read, automationId, { statuses, below, size })
    for (const row of rows) {
      const { id, status } = row
      // A run that ends between the two reads is in both tables.
      if (statuses.includes(status) && fits(row) && id !== found.at(-1)) {
        if (found.length === limit) return { ids: found, next: found.at(-1) }
        found.push(id)
      }
      below = id
    }
    if (!more) return { ids: found, next: undefined }
  }
  return { ids: found, next: below }
}

interface RunPlace {
  id: string
  status: RunStatus
  step_id: number
  /** The reason of a run that has ended. */
  reason?: string | null
}

/**
 * The next runs below one, at least `size` of them if there are `more`, from those tables that may have such statuses.
 */
async function newestRuns(
  read: Read,
  automationId: string,
  look: { statuses: readonly RunStatus[]; below: string | undefined; size: number },
): Promise<{ rows: RunPlace[]; more: boolean }> {
  const { statuses, below, size } = look
  const asks = (of: readonly RunStatus[]) => of.some((status) => statuses.includes(status))
  const each: RunPlace[][] = [
    asks(liveStatuses) ? await newestLive(read, automationId, { below, size }) : [],
    asks(endStatuses) ? await newestEnded(read, automationId, { below, size }) : [],
  ]
  // Where a table has more rows, nothing is known below its last one.
  const ends = each.flatMap((rows) => (rows.length < size ? [] : [rows.at(-1)?.id ?? '']))
  const through = ends.sort().at(-1) ?? ''
  const rows = each.flat().filter(({ id }) => id >= through)
  return { rows: rows.sort((a, b) => (a.id < b.id ? 1 : -1)), more: ends.length > 0 }
}

interface Below {
  below: string | undefined
  size: number
}

const newestLive = (read: Read, automationId: string, { below, size }: Below) =>
  read
    .selectFrom('automation_live')
    .select(['id', 'status', 'step_id'])
    .where('automation_id', '=', automationId)
    .$if(below !== undefined, (query) => query.where('id', '<', below ?? ''))
    .orderBy('id', 'desc')
    .limit(size)
    .execute()

const newestEnded = (read: Read, automationId: string, { below, size }: Below) =>
  read
    .selectFrom('automation_runs')
    .select(['id', 'status', 'step_id', 'reason'])
    .where('automation_id', '=', automationId)
    .$if(below !== undefined, (query) => query.where('id', '<', below ?? ''))
    .orderBy('id', 'desc')
    .limit(size)
    .execute()

/** The runs of these ids, in their order; both tables are searched, as a run may have ended since. */
export async function runsOf(read: Read, ids: readonly string[]): Promise<Run[]> {
  const rows: RunColumns[] = [
    ...(await liveColumns(read).where('automation_live.id', 'in', idsIn(ids, 'text')).execute()),
    ...(await endedColumns(read).where('automation_runs.id', 'in', idsIn(ids, 'text')).execute()),
  ]
  const byId = new Map(rows.map((row) => [row.id, row]))
  return await withSteps(
    read,
    ids.flatMap((id) => byId.get(id) ?? []),
  )
}

/** A run of the account; throws a 404. */
export async function findRun(read: Read, accountId: string, id: string): Promise<Run> {
  const row =
    (await liveColumns(read)
      .where('automation_live.id', '=', id.toLowerCase())
      .where('automation_live.account_id', '=', accountId)
      .executeTakeFirst()) ??
    (await endedColumns(read)
      .where('automation_runs.id', '=', id.toLowerCase())
      .where('automation_runs.account_id', '=', accountId)
      .executeTakeFirst())
  const [run] = row === undefined ? [] : await withSteps(read, [row])
  if (run === undefined)
    throw new ApiError('not_found', 'The account has no automation run with this id', {
      is: 'noRun',
    })
  return run
}

/** A run of whichever account, for operators. */
export async function findAnyRun(read: Read, id: string): Promise<Run> {
  const row =
    (await liveColumns(read)
      .where('automation_live.id', '=', id.toLowerCase())
      .executeTakeFirst()) ??
    (await endedColumns(read).where('automation_runs.id', '=', id.toLowerCase()).executeTakeFirst())
  const [run] = row === undefined ? [] : await withSteps(read, [row])
  if (run !== undefined) return run
  throw new OperatorError(
    `No run ${id}; 'posthorn automation runs AUTOMATION' shows those of an automation`,
  )
}

/** A run of either table; what only one of them has is optional. */
interface RunColumns {
  id: string
  automation_id: string
  version: number
  contact_id: string | null
  email: string | null
  status: RunStatus
  step_id: number
  history: string
  started_at: number
  /** Only a run that has ended has these two. */
  reason?: string | null
  ended_at?: number
  /** Only a run that is under way has these. */
  updated_at?: number
  due_at?: number
  wait_event?: string | null
  blocked?: string | null
  attempts?: number
  held_reason?: string | null
  entered_at?: number | null
}

/** Runs that are under way. */
const liveColumns = (read: Read) =>
  read
    .selectFrom('automation_live')
    .leftJoin('contacts', 'contacts.id', 'automation_live.contact_id')
    .select(['automation_live.id', 'automation_id', 'version', 'contact_id', 'contacts.email'])
    .select(['status', 'step_id', 'history', 'started_at', 'updated_at'])
    .select(['due_at', 'wait_event', 'blocked', 'attempts', 'held_reason', 'entered_at'])

/** Runs that have ended. */
const endedColumns = (read: Read) =>
  read
    .selectFrom('automation_runs')
    .leftJoin('contacts', 'contacts.id', 'automation_runs.contact_id')
    .select(['automation_runs.id', 'automation_id', 'version', 'contact_id', 'contacts.email'])
    .select(['status', 'reason', 'step_id', 'history', 'started_at', 'ended_at'])

/** A broken history is shown as empty, so that the run can be found, and others be listed with it. */
function shownHistory(json: string, startedAt: number): HistoryEntry[] {
  try {
    return readHistory(json, startedAt)
  } catch {
    return []
  }
}

/** Runs with the keys of their steps in place of their ids: one query for all. */
async function withSteps(read: Read, rows: readonly RunColumns[]): Promise<Run[]> {
  const histories = rows.map((row) => shownHistory(row.history, row.started_at))
  const ids = new Set(rows.map((row) => row.step_id))
  for (const entry of histories.flat()) ids.add(entry.stepId)
  const steps =
    ids.size === 0
      ? []
      : await read
          .selectFrom('automation_steps')
          .select(['id', 'key'])
          .where('id', 'in', idsIn([...ids], 'integer'))
          .execute()
  const keys = new Map(steps.map(({ id, key }) => [id, key]))
  return rows.map((row, place) => ({
    id: row.id,
    automationId: row.automation_id,
    version: row.version,
    contactId: row.contact_id,
    email: row.email,
    status: row.status,
    reason: row.reason ?? null,
    currentStep: keys.get(row.step_id) ?? null,
    startedAt: row.started_at,
    updatedAt: row.ended_at ?? row.updated_at ?? row.started_at,
    history: (histories[place] ?? []).map(({ stepId, ...entry }) => ({
      step: keys.get(stepId) ?? null,
      ...entry,
    })),
    waitingFor: waitingOf(row),
  }))
}

/**
 * What a run waits for. Of several things it is the one that somebody can do something about: held before blocked,
 * blocked before the event or the timer.
 */
function waitingOf(row: RunColumns): RunWait | null {
  const { due_at: until, held_reason: held, blocked, wait_event: event, attempts = 0 } = row
  if (until === undefined) return null
  if (held != null) return { kind: 'held', reason: held, until: null }
  const reason = blockedReason(blocked ?? null)
  if (reason !== undefined) return { kind: reason, until }
  if (event != null) return { kind: 'event', event, until }
  if (attempts > 0) return { kind: 'retry', until }
  return row.entered_at == null ? null : { kind: 'delay', until }
}
