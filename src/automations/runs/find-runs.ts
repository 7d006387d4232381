import { nextTurn } from '../../bounded/index.js'
import { prepared, type Read } from '../../store/index.js'
import { blockedReason } from './hold.js'
import { listRuns, type RunsPage, runsOf } from './runs.js'
import { endStatuses, type RunStatus } from './status.js'

/** Which runs of an automation: those at a step, those that ended for a reason, those that are held or blocked, or any. */
export type RunsFilter =
  | { by: 'status'; statuses: readonly RunStatus[] }
  /** Live ones that stand at one of these steps. */
  | { by: 'step'; stepIds: readonly number[] }
  | { by: 'end'; status: (typeof endStatuses)[number]; reason: string }
  /** Live ones that do not go on by themselves; `held`, or why they are blocked. */
  | { by: 'wait'; reason: string }

interface Asked {
  limit: number
  /** Older than this run. */
  before?: string | undefined
}

/** A page of the runs that fit, newest first, by searches of an index alone, however rare they are. */
export async function findRuns(
  read: Read,
  automationId: string,
  filter: RunsFilter,
  { limit, before }: Asked,
): Promise<RunsPage> {
  switch (filter.by) {
    case 'status':
      return await listRuns(read, automationId, { statuses: filter.statuses, limit, before })
    case 'step': {
      const ids = await atSteps(read, automationId, filter.stepIds, { limit: limit + 1, before })
      return await pageOf(read, ids, limit)
    }
    case 'end': {
      const { status, reason } = filter
      const rows = await read
        .selectFrom('automation_runs')
        .select('id')
        .where('automation_id', '=', automationId)
        .where('status', '=', status)
        .where('reason', '=', reason)
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute()
      return await pageOf(
        read,
        rows.map(({ id }) => id),
        limit,
      )
    }
    case 'wait':
      return await waiting(read, automationId, filter.reason, { limit, before })
  }
}

async function pageOf(read: Read, ids: readonly string[], limit: number): Promise<RunsPage> {
  const some = ids.slice(0, limit)
  return { runs: await runsOf(read, some), next: ids.length > limit ? some.at(-1) : undefined }
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

// A page may end with fewer, or none, where others' runs wait for the same.
const perLook = 1_000
const mostLookedAt = 10_000

/** Those that wait for want of something lie in an index by that, those of all accounts together. */
async function waiting(
  read: Read,
  automationId: string,
  reason: string,
  { limit, before }: Asked,
): Promise<RunsPage> {
  const found: string[] = []
  let below = before
  for (let looked = 0; looked < mostLookedAt; looked += perLook) {
    if (looked > 0) await nextTurn()
    const rows = await notGoingOn(read, reason, below)
    for (const row of rows) {
      below = row.id
      if (row.automation_id !== automationId) continue
      if (reason !== 'held' && row.held_at !== null) continue
      found.push(row.id)
      if (found.length > limit) return await pageOf(read, found, limit)
    }
    if (rows.length < perLook) return await pageOf(read, found, limit)
  }
  return { runs: await runsOf(read, found), next: below }
}

async function notGoingOn(read: Read, reason: string, below: string | undefined) {
  const some = read
    .selectFrom('automation_live')
    .select(['id', 'automation_id', 'held_at', 'blocked'])
    .$if(below !== undefined, (query) => query.where('id', '<', below ?? ''))
    .orderBy('id', 'desc')
    .limit(perLook)
  if (reason === 'held') return await some.where('held_at', 'is not', null).execute()
  const marked = [reason, `skip ${reason}`]
  const each = await Promise.all(marked.map((mark) => some.where('blocked', '=', mark).execute()))
  return each
    .flat()
    .filter(({ blocked }) => blockedReason(blocked) === reason)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, perLook)
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

/** The numbers of the steps with a key, of one version or of all. */
export async function stepIdsOf(
  read: Read,
  automationId: string,
  { key, version }: { key: string; version?: number | undefined },
): Promise<number[]> {
  const rows = await read
    .selectFrom('automation_steps')
    .select('id')
    .where('automation_id', '=', automationId)
    .where('key', '=', key)
    .$if(version !== undefined, (query) => query.where('version', '=', version ?? 0))
    .orderBy('id', 'desc')
    .limit(mostVersions)
    .execute()
  return rows.map(({ id }) => id)
}

// A step of older versions is looked for in so many of them.
const mostVersions = 20
