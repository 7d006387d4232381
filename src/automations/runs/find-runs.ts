import { nextTurn } from '../../bounded/index.js'
import { prepared, type Read } from '../../store/index.js'
import { type EndKind, endKindOf } from './end-kinds.js'
import { blockedReason } from './hold.js'
import { idsByStatus, type RunsPage, runsOf } from './runs.js'
import { type ContactRun, runsOfContact } from './runs-of-contact.js'
import { endStatuses, liveStatuses, type RunStatus } from './status.js'

/** Which runs of an automation; a field that is left out does not matter. */
export interface RunsFilter {
  statuses?: readonly RunStatus[] | undefined
  /** Those that stand, or ended, at one of these steps. */
  stepIds?: readonly number[] | undefined
  /** How they ended. */
  end?: { kind: EndKind; exits: ReadonlySet<number> } | undefined
  /** Why they ended, with the one status by which they did. */
  reason?: string | undefined
  /** Live runs that do not go on by themselves: `held`, or why they are blocked. */
  wait?: string | undefined
  /** Runs of one contact; null: of nobody. */
  contactId?: string | null | undefined
}

interface Asked {
  limit: number
  /** Older than this run. */
  before?: string | undefined
}

/** Some runs by their ids, the newest first. */
export interface FoundIds {
  ids: string[]
  /** The run behind which the next page begins; undefined: there is no more. */
  next: string | undefined
}

/** A page of the runs that fit, newest first, by searches of an index, however rare they are. */
export async function findRuns(
  read: Read,
  automationId: string,
  filter: RunsFilter,
  asked: Asked,
): Promise<RunsPage> {
  const { ids, next } = await findRunIds(read, automationId, filter, asked)
  return { runs: await runsOf(read, ids), next }
}

/**
 * The same, by ids alone. Where no index has all that is asked for, a bounded number of runs is looked at, and a page
 * may have fewer, or none, though there are more.
 */
export async function findRunIds(
  read: Read,
  automationId: string,
  filter: RunsFilter,
  { limit, before }: Asked,
): Promise<FoundIds> {
  const { statuses, stepIds, reason, wait } = filter
  const fits = placeFits(filter)
  const at = stepIds && new Set(stepIds)
  const isPlaced = stepIds !== undefined || filter.end !== undefined
  if (stepIds?.length === 0 || filter.contactId === null) return { ids: [], next: undefined }
  if (filter.contactId !== undefined) {
    const theirs = await runsOfContact(read, automationId, filter.contactId)
    const ids = theirs.filter((row) => isAsked(row, filter)).map(({ id }) => id)
    return pageOfIds(ids, { limit, before })
  }
  if (wait !== undefined) {
    const isOfLive = statuses === undefined || liveStatuses.every((one) => statuses.includes(one))
    if (!isOfLive) return { ids: [], next: undefined }
    return await lookThrough(
      (below, size) => notGoingOn(read, wait, { below, size }),
      (row) =>
        row.automation_id === automationId &&
        (wait === 'held' || row.held_at === null) &&
        (at === undefined || at.has(row.step_id)),
      { limit, before },
    )
  }
  const end = endStatuses.find((one) => statuses?.length === 1 && statuses[0] === one)
  if (reason !== undefined) {
    if (end === undefined) return { ids: [], next: undefined }
    return await lookThrough(
      (below, size) => endedFor(read, { automationId, end, reason, below, size }),
      ({ step_id }) => fits({ status: end, step_id, reason }),
      { limit, before },
    )
  }
  const isLive = statuses !== undefined && liveStatuses.every((one) => statuses.includes(one))
  const isLiveAlone = isLive && statuses.length === liveStatuses.length
  if (stepIds !== undefined && isLiveAlone && stepIds.length <= mostVersions) {
    const ids = await atSteps(read, automationId, stepIds, { limit: limit + 1, before })
    const some = ids.slice(0, limit)
    return { ids: some, next: ids.length > limit ? some.at(-1) : undefined }
  }
  const asked = { statuses: statuses ?? [...liveStatuses, ...endStatuses], limit, before }
  return await idsByStatus(read, automationId, isPlaced ? { ...asked, fits } : asked)
}

interface Place {
  status: RunStatus
  step_id: number
  reason?: string | null
}

/** Whether a run stands, or ended, where it is asked for. */
function placeFits({ stepIds, end }: RunsFilter): (row: Place) => boolean {
  const at = stepIds && new Set(stepIds)
  return (row) =>
    (at === undefined || at.has(row.step_id)) &&
    (end === undefined || endKindOf(row, end.exits) === end.kind)
}

function pageOfIds(ids: readonly string[], { limit, before }: Asked): FoundIds {
  const below = ids.filter((id) => before === undefined || id < before)
  const some = below.slice(0, limit)
  return { ids: some, next: below.length > limit ? some.at(-1) : undefined }
}

// Where other automations' runs wait for the same reason, a page may end with fewer runs, or none.
const perLook = 1_000
const mostLookedAt = 10_000

/** Goes through what an index has, piece by piece with turns for others in between, until a page is full. */
async function lookThrough<Row extends { id: string }>(
  piece: (below: string | undefined, size: number) => Promise<Row[]>,
  fits: (row: Row) => boolean,
  { limit, before }: Asked,
): Promise<FoundIds> {
  const ids: string[] = []
  let below = before
  // Mostly the first ones are a page already.
  let size = limit + 1
  for (let looked = 0; looked < mostLookedAt; looked += size, size = perLook) {
    if (looked > 0) await nextTurn()
    const rows = await piece(below, size)
    for (const row of rows) {
      if (!fits(row)) {
        below = row.id
        continue
      }
      if (ids.length === limit) return { ids, next: ids.at(-1) }
      ids.push(row.id)
      below = row.id
    }
    if (rows.length < size) return { ids, next: undefined }
  }
  return { ids, next: below }
}

/** Each step is a search of its own: an index has its runs in order. */
async function atSteps(
  read: Read,
  automationId: string,
  stepIds: readonly number[],
  { limit, before }: Asked,
): Promise<string[]> {
  const found: string[] = []
  for (const stepId of stepIds) {
    const rows = await read
      .selectFrom('automation_live')
      .select('id')
      .where('automation_id', '=', automationId)
      .where('step_id', '=', stepId)
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    found.push(...rows.map(({ id }) => id))
  }
  return found.sort().reverse().slice(0, limit)
}

async function endedFor(
  read: Read,
  {
    automationId,
    end,
    reason,
    below,
    size,
  }: {
    automationId: string
    end: (typeof endStatuses)[number]
    reason: string
    below: string | undefined
    size: number
  },
): Promise<{ id: string; step_id: number }[]> {
  return await read
    .selectFrom('automation_runs')
    .select(['id', 'step_id'])
    .where('automation_id', '=', automationId)
    .where('status', '=', end)
    .where('reason', '=', reason)
    .$if(below !== undefined, (query) => query.where('id', '<', below ?? ''))
    .orderBy('id', 'desc')
    .limit(size)
    .execute()
}

/** Runs that wait for a reason lie in an index by that reason, all accounts together. */
async function notGoingOn(
  read: Read,
  wait: string,
  { below, size }: { below: string | undefined; size: number },
) {
  const some = read
    .selectFrom('automation_live')
    .select(['id', 'automation_id', 'step_id', 'held_at', 'blocked'])
    .$if(below !== undefined, (query) => query.where('id', '<', below ?? ''))
    .orderBy('id', 'desc')
    .limit(size)
  if (wait === 'held') return await some.where('held_at', 'is not', null).execute()
  const marked = [wait, `skip ${wait}`]
  const each = await Promise.all(marked.map((mark) => some.where('blocked', '=', mark).execute()))
  return each
    .flat()
    .filter(({ blocked }) => blockedReason(blocked) === wait)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, size)
}

// What a form has room for.
const mostReasons = 30

/** Why runs of an automation have ended: a search of the index for each reason, however many runs there are. */
export async function endReasons(
  read: Read,
  automationId: string,
): Promise<{ status: (typeof endStatuses)[number]; reason: string }[]> {
  const found: { status: (typeof endStatuses)[number]; reason: string }[] = []
  for (const status of endStatuses) {
    for (let last = ''; found.length < mostReasons; ) {
      const [next] = await nextReason(read, { automationId, status, last })
      if (next === undefined || next.reason === null) break
      found.push({ status, reason: next.reason })
      last = next.reason
    }
  }
  return found
}

const nextReason = prepared<
  { automationId: string; status: (typeof endStatuses)[number]; last: string },
  { reason: string | null }
>((db, { automationId, status, last }) =>
  db
    .selectFrom('automation_runs')
    .select((eb) => eb.fn.min<string | null>('reason').as('reason'))
    .where('automation_id', '=', automationId)
    .where('status', '=', status)
    .where('reason', '>', last),
)

/** The numbers of the steps with a key, of one version or of all; without a key all those of a version. */
export async function stepIdsOf(
  read: Read,
  automationId: string,
  { key, version }: { key?: string | undefined; version?: number | undefined },
): Promise<number[]> {
  const rows = await read
    .selectFrom('automation_steps')
    .select('id')
    .where('automation_id', '=', automationId)
    .$if(key !== undefined, (query) => query.where('key', '=', key ?? ''))
    .$if(version !== undefined, (query) => query.where('version', '=', version ?? 0))
    .orderBy('id', 'desc')
    .limit(key === undefined ? mostSteps : mostVersions)
    .execute()
  return rows.map(({ id }) => id)
}

// A step of older versions is looked for in this many of them.
const mostVersions = 20
// As many as a version has.
const mostSteps = 100

/** Whether a run fits the filter: the same question that `findRunIds` asks of indexes. */
function isAsked(row: ContactRun, filter: RunsFilter): boolean {
  const { statuses, reason, wait } = filter
  if (!placeFits(filter)(row)) return false
  if (statuses !== undefined && !statuses.includes(row.status)) return false
  if (reason !== undefined && row.reason !== reason) return false
  if (wait === undefined) return true
  if (wait === 'held') return row.held_at !== null
  return row.held_at === null && blockedReason(row.blocked) === wait
}
