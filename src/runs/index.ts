/**
 * The rows of automations' runs as far as others end them: whoever suppresses an address or deletes a
 * contact does so here, in the same transaction, without knowing automations. What must hold: a run
 * that ends moves to the log with its reason; counters change with what they count; of a deleted
 * contact nothing is left but numbers.
 */
export { type Ending, type EndingRow, type EndStatus, endingOf, endRuns } from './end.js'
export { forgetContacts, forgetMore, hasForgotten, type LeaveReason, leaveRuns } from './leave.js'
export { columnOf, makeRunTally, type RunTally } from './tally.js'
