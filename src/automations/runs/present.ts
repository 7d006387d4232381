import type { Selectable } from 'kysely'
import { type AutomationStepRow, prepared, type Read } from '../../store/index.js'
import type { Automation } from '../definition/index.js'
import { type CountedSlice, counted, countInSlices, liveIds } from './count-in-slices.js'
import { makeCountLately } from './count-lately.js'

/** A step of a version with what has happened there, and how many runs stand there now. */
export interface StepStanding {
  version: number
  key: string
  type: string
  /** Null: the version was never enabled, so that no run can have come to the step. */
  counts: Selectable<AutomationStepRow> | null
  present: number
  /** There are more; they are still being counted. */
  isMore?: true
}

/** How many live runs stand at each step that has any: one search of an index a step. */
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

/** So many are counted while a page waits, in some milliseconds. The rest is counted behind the page. */
export const whileOneWaits = { many: 20_000, patience: 60_000 }
const presentLately = makeCountLately<ReadonlyMap<number, number>>(whileOneWaits)

/**
 * The steps of one version, with what has happened there and how many are there; none for a version that was never
 * enabled.
 */
export async function stepsOfVersion(
  read: Read,
  { id }: Pick<Automation, 'id'>,
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
  const { value: present, isAll } = await presentLately(
    `${id} ${version}`,
    { now, nothing: new Map() },
    async (soFar) => {
      const least = new Map<number, number>()
      let all = 0
      return await presentAtSteps(read, id, ids, (stepId, runs) => {
        all += runs - (least.get(stepId) ?? 0)
        least.set(stepId, runs)
        soFar(least, all)
      })
    },
  )
  return rows.map((row) => {
    const { key, type } = row
    const here = present.get(row.id) ?? 0
    return { version, key, type, counts: row, present: here, ...(!isAll && { isMore: true }) }
  })
}
