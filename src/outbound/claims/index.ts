/*
 * Owns the way of a delivery from the table `queue` to its attempt, and of its result back into the table: scans,
 * claims and their leases, attempts under way, results. What must hold: nothing is attempted without a lease, no row
 * is in two claims, every attempt ends in exactly one settlement.
 */
export { makeAhead } from './ahead.js'
export { makeClaimLoop } from './claim-loop.js'
export { makeQueueScan, shardOf } from './queue-scan.js'
export { makeReachability, type Reachability } from './reachability.js'
export { makeRuns } from './runs.js'
