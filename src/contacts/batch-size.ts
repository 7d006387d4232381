/** How many rows are to be written at once. */
export interface BatchSize {
  readonly rows: number
  /** Tells how many rows were written, and for how long they held the turn to write. */
  took(rows: number, ms: number): void
}

/**
 * As many rows as take no longer than `mostMs`, found by what the last ones took: half as many after a write that
 * took longer, and twice as many after one that took less than half of it.
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
      // The last ones of a file say nothing of more.
      else if (ms < mostMs / 2 && rows >= size) size = Math.min(most, size * 2)
    },
  }
}
