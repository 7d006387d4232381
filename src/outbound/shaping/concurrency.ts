/**
 * How many connections a site takes, learned as in Postfix's queue manager (its SCHEDULER_README). While the site has
 * N connections:
 *
 * - each success earns 1/N of one more; it is added when N successes have earned the whole of it;
 * - each connection that fails costs 1/N of one; a connection is taken away at the first failure already, and
 *   the next one only after N failures more have paid for that;
 * - a cohort, which is N failures with no success between them, suspends the site.
 */
export interface Concurrency {
  connections: number
  /** Earned towards the next connection, in [0, 1). */
  credit: number
  /** What failures may still use up of the last connection taken away, before the next one goes. */
  debit: number
  /** Failures since the last success, each counted 1/N. */
  failedCohorts: number
}

export const makeConcurrency = (connections: number): Concurrency => ({
  connections,
  credit: 0,
  debit: 0,
  failedCohorts: 0,
})

// Ten times 0.1 is a little less than 1 in floating point, and has to count as 1.
const almost = 1e-9

/**
 * Counts a success. `inTheWay`: all connections that the limit allows were in use. Where they were not, more
 * connections would change nothing, so none is earned.
 */
export function succeed(state: Concurrency, most: number, inTheWay: boolean): void {
  state.failedCohorts = 0
  if (!inTheWay || state.connections >= most) return
  state.credit += 1 / state.connections
  if (state.credit < 1 - almost) return
  state.credit = 0
  state.debit = 0
  state.connections++
}

/** Counts a connection that failed. True when a whole cohort has failed: the site is to be suspended. */
export function fail(state: Concurrency): boolean {
  const feedback = 1 / state.connections
  state.failedCohorts += feedback
  state.debit -= feedback
  if (state.debit < -almost) {
    state.credit = 0
    state.debit += 1
    state.connections = Math.max(1, state.connections - 1)
  }
  return state.failedCohorts >= 1 - almost
}
