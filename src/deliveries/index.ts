/**
 * A delivery is one recipient of one email: a `queue` row while it waits, a `deliveries` row once it has ended, never
 * both. What must hold: the queue's cost does not depend on history; a claim never walks over rows that it cannot take;
 * an email's status follows from its counters in the same transaction as the delivery that changed them.
 */
export { type Adopting, adopt, type GoneNode, handOver } from './adopt.js'
export {
  type Backlog,
  depthUpTo,
  joinBacklog,
  makeBacklogMemory,
  measureDepth,
  type QueueDepth,
  showDepth,
  startCensus,
} from './backlog.js'
export {
  type Changed,
  changeWaiting,
  checkedReason,
  maxRetried,
  type QueueChangeName,
  queueChanges,
  usualReason,
} from './change.js'
export { changeHeld } from './change-held.js'
export {
  type Claimant,
  claim,
  type LostClaim,
  releaseLeases,
  releaseLost,
  unclaim,
} from './claim.js'
export { type ClaimFrom, makeClaimFrom } from './claim-from.js'
export {
  conversationOf,
  forgetDeferred,
  lastSaid,
  type PastAttempt,
  readTranscripts,
} from './deferred-transcripts.js'
export {
  type Claim,
  type Claimed,
  firstDue,
  nextDue,
  type StreamKey,
  stopOf,
  type WantedRows,
} from './due-rows.js'
export { cancelDeliveries, cancelWaiting, giveUp, recordSuppressed } from './end.js'
export {
  type AddressedMail,
  blockedAmong,
  blockedOfEach,
  enqueue,
  laneOf,
  type NewDelivery,
  testLane,
} from './enqueue.js'
export { expireOverdue } from './expire.js'
export {
  type Explained,
  explainAll,
  explainOne,
  explainWaiting,
  type GateOf,
  type LiveGate,
  type WhyWaiting,
} from './explain.js'
export {
  type Changes,
  campaignPaused,
  countHeldUpTo,
  hold,
  never,
  type RetriedLanes,
  release,
  retry,
} from './hold.js'
export {
  type ClassName,
  classNameOf,
  classNames,
  type DeliverySurroundings,
  type EndedDelivery,
  findDeliveries,
  listWaiting,
  surroundingsOf,
  type WaitingDelivery,
} from './inspect.js'
export { leaseOf } from './lease.js'
export { type LookedThrough, lookForWaiting, mostLookedAt } from './look.js'
export { holdOverdue, maxOverdueMs, type Overdue } from './overdue.js'
export {
  answeredAt,
  classOfMail,
  deliveriesOf,
  findPast,
  type MailKind,
  type Past,
} from './past.js'
export { type PutOff, putOffOf } from './put-off.js'
export { type RecipientStatus, readRecipients } from './recipients.js'
export {
  bounceLate,
  type Confirmation,
  confirmRelayed,
  forgetReported,
  type LateBounce,
  type ReportedDelivery,
  reportedOf,
  setReported,
} from './reported.js'
export { holdRestored, restoredReason } from './restored.js'
export { makeReturnPaths, type ReturnPaths } from './return-path.js'
export { changeFitting, laneNamed, lanesOf, type QueueFilter } from './select.js'
export { dueAfterSetBack } from './set-back.js'
export { holdsBack, isEnded, park, type Settlement, settle } from './settle.js'
export {
  isSentLately,
  type SentLately,
  sentLately,
  settleAnew,
  settledAnew,
} from './settle-anew.js'
export { type StreamDue, streamsAfter } from './streams.js'
export { type DeliveryStanding, type DueStream, type QueueSummary, summarise } from './summary.js'
export { makeTestOwner } from './test-owner.js'
export { streamsOfCampaign } from './waiting-lanes.js'
