/**
 * How many connections a site takes, learned as Postfix's queue manager does it: 1/N more for each
 * success, 1/N less for each connection that fails. Upward a whole step has to be earned before it
 * is taken, downward it is taken at the first failure and then earned (its reversed hysteresis), and
 * a whole cohort of N failures with no success between them suspends the site.
 */
export interface Concurrency {
  connections: number
  /** Earned towards the next connection, in [0, 1). */
  credit: number
  /** What is left of the last one taken away before the next goes. */
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

// Ten tenths are a little less than one.
const almost = 1e-9

/** `inTheWay`: the limit was in use, so that there is a reason to raise it. */
export function succeed(state: Concurrency, most: number, inTheWay: boolean): void {
  state.failedCohorts = 0
  if (!inTheWay || state.connections >= most) return
  state.credit += 1 / state.connections
  if (state.credit < 1 - almost) return
  state.credit = 0
  state.debit = 0
  state.connections++
}

/** True when a whole cohort has failed. */
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
