import type { Selectable } from 'kysely'
import { keepNewest } from '../../bounded/index.js'
import { isRecent } from '../../clock/index.js'
import { type AutomationStepRow, prepared, type Read } from '../../store/index.js'
import type { Automation } from '../definition/index.js'
import { type CountedSlice, counted, countInSlices, liveIds } from './count-in-slices.js'

/** A step of a version with what has happened there, and how many runs stand there now. */
export interface StepStanding {
  version: number
  key: string
  type: string
  /** Null: the version was never enabled, so that nobody can have come to it. */
  counts: Selectable<AutomationStepRow> | null
  present: number
  /** There are more; they are still being counted. */
  isMore?: true
}

/** How many live runs stand at each step, of those where any do: one search of an index a step. */
export async function presentAtSteps(
  read: Read,
  automationId: string,
  stepIds: readonly number[],
  each: (stepId: number, runs: number) => void = () => {},
): Promise<ReadonlyMap<number, number>> {
  const present = new Map<number, number>()
  for (const stepId of stepIds) {
    const slice = (after: string) => stepSlice(read, { automationId, stepId, after })
    const runs = await countInSlices(slice, (so) => each(stepId, so))
    if (runs > 0) present.set(stepId, runs)
  }
  return present
}

const stepSlice = prepared<{ automationId: string; stepId: number; after: string }, CountedSlice>(
  (db, { automationId, stepId, after }) =>
    counted(
      db,
      liveIds(db).where('automation_id', '=', automationId).where('step_id', '=', stepId),
      after,
    ),
)

// Counted anew at most that often where that takes longer: a page of an automation of a million is looked at again and again.
const countEveryMs = 5_000
const manyRuns = 20_000
// So many are counted while a page waits: some milliseconds. What is left is counted behind it.
const patience = 60_000
const mostKept = 200

/** What is known of who stands where. */
interface Known {
  at: number
  present: ReadonlyMap<number, number>
}

const lately = new Map<string, Known>()
const counting = new Map<string, Promise<void>>()

/** The steps of one version, with what has happened there and who is there; none of a version that was never enabled. */
export async function stepsOfVersion(
  read: Read,
  { id, running, waiting }: Pick<Automation, 'id' | 'running' | 'waiting'>,
  version: number,
  now: number,
): Promise<StepStanding[]> {
  const rows = await read
    .selectFrom('automation_steps')
    .selectAll()
    .where('automation_id', '=', id)
    .where('version', '=', version)
    .execute()
  const ids = rows.map((row) => row.id)
  const { present, isAll } =
    running + waiting > manyRuns
      ? await presentLately(read, `${id} ${version}`, { id, ids, now })
      : { present: await presentAtSteps(read, id, ids), isAll: true }
  return rows.map((row) => {
    const { key, type } = row
    const here = present.get(row.id) ?? 0
    return { version, key, type, counts: row, present: here, ...(!isAll && { isMore: true }) }
  })
}

/**
 * Of very many: what was counted in the last seconds, or what can be counted while somebody waits. Else what was known before,
 * and the count goes on behind the page; where nothing was, at least so many are there.
 */
async function presentLately(
  read: Read,
  name: string,
  { id, ids, now }: { id: string; ids: readonly number[]; now: number },
): Promise<{ present: ReadonlyMap<number, number>; isAll: boolean }> {
  const known = lately.get(name)
  if (known !== undefined && isRecent(known.at, now, countEveryMs)) {
    return { present: known.present, isAll: true }
  }
  if (counting.has(name))
    return { present: known?.present ?? new Map(), isAll: known !== undefined }
  const least = new Map<number, number>()
  let all = 0
  let wait: () => void = () => {}
  const patient = new Promise<void>((resolve) => {
    wait = resolve
  })
  const count = presentAtSteps(read, id, ids, (stepId, runs) => {
    all += runs - (least.get(stepId) ?? 0)
    least.set(stepId, runs)
    if (all >= patience) wait()
  }).then((present) => {
    keepNewest(lately, name, { at: now, present }, mostKept)
  })
  // What fails behind a page is counted anew for the next one.
  const over = count.finally(() => counting.delete(name)).catch(() => {})
  counting.set(name, over)
  await Promise.race([count, patient])
  const fresh = lately.get(name)
  if (fresh !== undefined && fresh !== known) return { present: fresh.present, isAll: true }
  return { present: known?.present ?? least, isAll: known !== undefined }
}
