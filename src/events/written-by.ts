/** A row of a log: ids rise in the order in which rows came. */
interface Dated {
  id: number
  at: number
}

const rowsAtOnce = 1_000

/**
 * Tells for each of some rows, in the order of their ids, the time by which it existed. For a row dated after `now`,
 * because the clock was ahead, the next row that is not gives that time; Infinity if there is none yet. `after` gives
 * the rows after an id.
 */
export function makeWrittenBy(after: (id: number, limit: number) => Promise<readonly Dated[]>) {
  let next: Dated = { id: Number.NEGATIVE_INFINITY, at: Number.POSITIVE_INFINITY }

  const findNext = async (id: number, now: number): Promise<Dated> => {
    for (;;) {
      const rows = await after(id, rowsAtOnce)
      const found = rows.find(({ at }) => at <= now)
      if (found !== undefined) return found
      const last = rows.at(-1)
      if (last === undefined) {
        return { id: Number.POSITIVE_INFINITY, at: Number.POSITIVE_INFINITY }
      }
      id = last.id
    }
  }

  return async (rows: readonly Dated[], now: number): Promise<number[]> => {
    const last = rows.at(-1)
    if (last !== undefined && last.at > now && next.id <= last.id) {
      next = await findNext(last.id, now)
    }
    let by = next.at
    return rows
      .toReversed()
      .map(({ at }) => {
        if (at <= now) by = at
        return by
      })
      .toReversed()
  }
}
