import type { Selectable } from 'kysely'
import { nextTurn } from '../../bounded/index.js'
import { type AutomationStepRow, prepared, type Read } from '../../store/index.js'
import { type Automation, type BlockedReason, readDefinition } from '../definition/index.js'
import { blockedReason } from './hold.js'

/** A step of a version with what has happened there, and how many runs stand there now. */
export interface StepStanding {
  version: number
  key: string
  type: string
  /** Null: the version was never enabled, so that nobody can have come to it. */
  counts: Selectable<AutomationStepRow> | null
  present: number
}

/** Why live runs do not go on by themselves: held by an operator or a restore, or for want of something. */
export interface Waits {
  kind: 'held' | 'blocked'
  reason: string
  runs: number
}

/** How the runs of an automation stand, step by step: of its shown version, and of others with live runs. */
export async function automationStanding(
  read: Read,
  { id, version }: Pick<Automation, 'id' | 'version'>,
): Promise<{ steps: StepStanding[]; waits: Waits[] }> {
  const rows = await read
    .selectFrom('automation_steps')
    .selectAll()
    .where('automation_id', '=', id)
    .orderBy('id')
    .execute()
  const live = await liveBySteps(read, id)
  const present = new Map<number, number>()
  const waits = new Map<string, Waits>()
  for (const { step_id, blocked, held_reason, runs } of live) {
    present.set(step_id, (present.get(step_id) ?? 0) + runs)
    const kind = held_reason === null ? 'blocked' : 'held'
    const reason = held_reason ?? blockedReason(blocked)
    if (reason === undefined) continue
    const known = waits.get(`${kind} ${reason}`)
    waits.set(`${kind} ${reason}`, { kind, reason, runs: runs + (known?.runs ?? 0) })
  }
  const occupied = new Set(rows.filter((row) => present.has(row.id)).map((row) => row.version))
  const steps = rows
    .filter((row) => row.version === version || occupied.has(row.version))
    .map((row): StepStanding => {
      const { version, key, type } = row
      return { version, key, type, counts: row, present: present.get(row.id) ?? 0 }
    })
  const isDraft = !rows.some((row) => row.version === version)
  return {
    steps: isDraft ? [...steps, ...(await draftSteps(read, id, version))] : steps,
    waits: [...waits.values()],
  }
}

/** A version that was never enabled has no rows of steps yet; its definition names them. */
async function draftSteps(read: Read, id: string, version: number): Promise<StepStanding[]> {
  const { definition } = await readDefinition(read, id, version)
  return definition.steps.map(({ key, type }) => ({
    version,
    key,
    type,
    counts: null,
    present: 0,
  }))
}

/** One pass over the live runs for all steps and reasons, by an index that has these columns. */
async function liveBySteps(read: Read, automationId: string) {
  return await read
    .selectFrom('automation_live')
    .select(['step_id', 'blocked', 'held_reason'])
    .select((eb) => eb.fn.countAll<number>().as('runs'))
    .where('automation_id', '=', automationId)
    .groupBy(['step_id', 'blocked', 'held_reason'])
    .execute()
}

/** The live runs of all accounts: by status, and how many are blocked or held, by `reason`. */
export async function liveFigures(read: Read): Promise<{
  running: number
  waiting: number
  blocked: Map<BlockedReason | 'held', number>
}> {
  const { running, waiting } = await read
    .selectFrom('automations')
    .select((eb) => [
      eb.fn.sum<number | null>('running').as('running'),
      eb.fn.sum<number | null>('waiting').as('waiting'),
    ])
    .executeTakeFirstOrThrow()
  const counts = await countBlocked(read)
  const blocked = new Map<BlockedReason | 'held', number>()
  for (const [mark, runs] of counts) {
    const reason = blockedReason(mark)
    if (reason !== undefined) blocked.set(reason, runs + (blocked.get(reason) ?? 0))
  }
  blocked.set('held', await countInSlices((after) => heldSlice(read, { after })))
  return { running: running ?? 0, waiting: waiting ?? 0, blocked }
}

// A few milliseconds of the thread. Runs of one account that is stopped may be a million.
const perSlice = 5_000

/** By the mark of each reason. */
async function countBlocked(read: Read): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let last = ''; ; ) {
    const [next] = await nextMark(read, { last })
    if (next === undefined || next.mark === null) return counts
    const { mark } = next
    counts.set(mark, await countInSlices((after) => blockedSlice(read, { mark, after })))
    last = mark
  }
}

interface Slice {
  runs: number
  last: string | null
}

/** All of them, slice by slice after the last id of the one before; in between others have their turn. */
async function countInSlices(slice: (after: string) => Promise<Slice[]>): Promise<number> {
  let runs = 0
  for (let after = ''; ; ) {
    const [found] = await slice(after)
    runs += found?.runs ?? 0
    if (!found?.last || found.runs < perSlice) return runs
    after = found.last
    await nextTurn()
  }
}

// These read an index that has such rows alone.
const nextMark = prepared<{ last: string }, { mark: string | null }>((db, { last }) =>
  db
    .selectFrom('automation_live')
    .select((eb) => eb.fn.min('blocked').as('mark'))
    .where('blocked', '>', last),
)

const blockedSlice = prepared<{ mark: string; after: string }, Slice>((db, { mark, after }) =>
  counted(db, liveIds(db).where('blocked', '=', mark), after),
)

const heldSlice = prepared<{ after: string }, Slice>((db, { after }) =>
  counted(db, liveIds(db).where('held_at', 'is not', null), after),
)

const liveIds = (db: Read) => db.selectFrom('automation_live').select('id')

/** The next of those behind one. */
const counted = (db: Read, those: ReturnType<typeof liveIds>, after: string) =>
  db
    .selectFrom(those.where('id', '>', after).orderBy('id').limit(perSlice).as('some'))
    .select((eb) => [
      eb.fn.countAll<number>().as('runs'),
      eb.fn.max<string | null>('id').as('last'),
    ])
