/**
 * A delivery is one recipient of one email: a `queue` row while it waits, a `deliveries` row once it
 * has ended, never both. What must hold: the queue's cost does not depend on history; a claim never
 * walks over rows that it cannot take; an email's status follows from its counters in the same
 * transaction as the delivery that changed them.
 */
export { type Backlog, joinBacklog, makeBacklogMemory } from './backlog.js'
export { blockedAmong } from './blocked.js'
export { bounceLate, type LateBounce } from './bounce-late.js'
export { cancelDeliveries, cancelWaiting } from './cancel.js'
export { startCensus } from './census.js'
export {
  type Changed,
  changeWaiting,
  checkedReason,
  maxRetried,
  type QueueChangeName,
  queueChanges,
  usualReason,
} from './change.js'
export {
  type Claim,
  type Claimed,
  claim,
  firstDue,
  nextDue,
  releaseLeases,
  type StreamKey,
  stopOf,
  unclaim,
} from './claim.js'
export { type Confirmation, confirmRelayed } from './confirm-relayed.js'
export {
  conversationOf,
  forgetDeferred,
  type PastAttempt,
  readTranscripts,
} from './deferred-transcripts.js'
export { depthUpTo, measureDepth, type QueueDepth } from './depth.js'
export { recordSuppressed } from './end.js'
export { enqueue, enqueueTogether, type NewDelivery } from './enqueue.js'
export { expireOverdue } from './expire.js'
export { explainWaiting, type LiveGate, type WhyWaiting } from './explain.js'
export { type Explained, explainAll, explainOne, type GateOf } from './explain-all.js'
export { giveUp } from './give-up.js'
export { countHeldUpTo, never } from './held.js'
export { type Changes, hold, type RetriedLanes, release, retry } from './hold.js'
export {
  type ClassName,
  classNameOf,
  classNames,
  type Ended,
  findDeliveries,
  listWaiting,
  type Surroundings,
  surroundingsOf,
  type Waiting,
} from './inspect.js'
export { type Looked, lookForWaiting, mostLookedAt } from './look.js'
export { holdOverdue, maxOverdueMs, type Overdue } from './overdue.js'
export { park } from './park.js'
export { classOfMail, deliveriesOf, findPast, type MailKind, type Past } from './past.js'
export { type PutOff, putOffOf } from './put-off.js'
export { type RecipientStatus, readRecipients } from './recipients.js'
export { forgetReported, type Reported, reportedOf, setReported } from './reported.js'
export { holdRestored, isRestoredReason, restoredReason } from './restored.js'
export { makeReturnPaths, type ReturnPaths } from './return-path.js'
export { changeFitting, lanesOf, type QueueFilter } from './select.js'
export { type Settlement, settle } from './settle.js'
export { type StreamDue, streamsAfter } from './streams.js'
export { type DueStream, type QueueSummary, type Standing, summarise } from './summary.js'
