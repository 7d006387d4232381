import { nextTurn } from '../../bounded/index.js'
import type { Read } from '../../store/index.js'

/** A few milliseconds of the thread. Runs of one account that is stopped may be a million. */
export const perSlice = 5_000

/** How many runs a slice has, and the last of them. */
export interface CountedSlice {
  runs: number
  last: string | null
}

/**
 * Counts all rows, slice by slice after the last id of the one before; in between others have their turn. `each` is
 * told the count so far.
 */
export async function countInSlices(
  slice: (after: string) => Promise<CountedSlice[]>,
  each: (runs: number) => void = () => {},
): Promise<number> {
  let runs = 0
  for (let after = ''; ; ) {
    const [found] = await slice(after)
    runs += found?.runs ?? 0
    each(runs)
    if (!found?.last || found.runs < perSlice) return runs
    after = found.last
    await nextTurn()
  }
}

export const liveIds = (db: Read) => db.selectFrom('automation_live').select('id')

/** The next rows behind one. */
export const counted = (db: Read, those: ReturnType<typeof liveIds>, after: string) =>
  db
    .selectFrom(those.where('id', '>', after).orderBy('id').limit(perSlice).as('some'))
    .select((eb) => [
      eb.fn.countAll<number>().as('runs'),
      eb.fn.max<string | null>('id').as('last'),
    ])
