/** A row of a log: ids rise in the order in which rows came. */
interface Dated {
  id: number
  at: number
}

const rowsAtOnce = 1_000

/**
 * Tells when each of some rows, in the order of their ids, was there at the latest. Of one that is dated ahead of `now`,
 * as by a clock that was ahead, the next one says so that is not; Infinity where there is none yet. `after`: the rows
 * behind an id.
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
