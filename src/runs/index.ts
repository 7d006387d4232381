/**
 * The rows of automations' runs, for code that ends them without knowing automations: whoever suppresses an address or
 * deletes a contact does it here, in the same transaction. What must hold: a run that ends moves to the log with its
 * reason; counters change with what they count; only numbers are left of a deleted contact.
 */
export { type Ending, type EndingRow, type EndStatus, endingOf, endRuns } from './end.js'
export { forgetContacts, forgetMore, hasForgotten, type LeaveReason, leaveRuns } from './leave.js'
export { columnOf, makeRunTally, type RunTally } from './tally.js'
