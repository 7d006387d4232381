/**
 * A delivery is one recipient of one email: a `queue` row while it waits, a `deliveries` row once it
 * has ended, never both. What must hold: the queue's cost does not depend on history; a claim never
 * walks over rows that it cannot take; an email's status follows from its counters in the same
 * transaction as the delivery that changed them.
 */
export { type Backlog, joinBacklog, makeBacklogMemory } from './backlog.js'
export { blockedAmong } from './blocked.js'
export { cancelDeliveries } from './cancel.js'
export {
  type Claimed,
  claim,
  type LaneDue,
  lanesAfter,
  nextDue,
  releaseLeases,
} from './claim.js'
export { recordSuppressed } from './end.js'
export { enqueue, type NewDelivery } from './enqueue.js'
export { type RecipientStatus, readRecipients } from './recipients.js'
export { makeReturnPaths, type ReturnPaths } from './return-path.js'
export { type Settlement, settle } from './settle.js'
