/*
 * Owns the leases: takes rows from the queue for what was admitted, some ahead of their turn, and makes
 * those due again that cannot leave after all. No row is ever in two claims.
 */
export { makeAhead } from './ahead.js'
export { claimApart } from './claim-apart.js'
