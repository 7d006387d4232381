/** How many rows should be written at once. */
export interface BatchSize {
  readonly rows: number
  /** Tells how many rows were written, and how long that held the turn to write. */
  took(rows: number, ms: number): void
}

/**
 * As many rows as take no longer than `mostMs`, learned from the last writes: half as many after a write that took
 * longer, twice as many after one that took less than half of it.
 */
export function makeBatchSize(bounds: { least: number; most: number; mostMs: number }): BatchSize {
  const { least, most, mostMs } = bounds
  let size = most
  return {
    get rows() {
      return size
    },
    took(rows, ms) {
      if (ms > mostMs) size = Math.max(least, Math.min(size, Math.floor(rows / 2)))
      // The short last batch of a file tells nothing about larger ones.
      else if (ms < mostMs / 2 && rows >= size) size = Math.min(most, size * 2)
    },
  }
}
