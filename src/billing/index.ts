/**
 * Plans, what each account has of them, and what it has used. What must hold: every write that accepts mail reads the
 * account's state, so that a change takes effect on the next one; mails are counted in the transaction that accepts
 * them, one small row an account and period (UTC month and UTC day), never by looking over the log; nobody passes a
 * cap, however many send at once.
 */

export {
  type ArrivalLimits,
  type ArrivalsLeft,
  type ArrivedMails,
  arrivalsLeft,
  countArrived,
  plansDay,
  readArrived,
} from './arrived.js'
export {
  type AccountBilling,
  type BillingState,
  contactCeiling,
  type PauseReason,
  readBilling,
  readBillings,
} from './billing.js'
export { refuseBeyondCeiling } from './ceilings.js'
export {
  addMails,
  countHandedIn,
  forgetHandedIn,
  type HandedInCount,
  type HandingKey,
  type HourOfAccount,
  setFresh,
  usualHour,
} from './handed-in.js'
export {
  type Ceilings,
  type EmailPlan,
  findPlan,
  type MarketingPlan,
  type Plans,
} from './plan.js'
export { loadPlans } from './plans-file.js'
export {
  countCampaignMails,
  countMails,
  countTogether,
  giveBack,
  giveBackCampaignMails,
  refuseCampaignMails,
} from './quota.js'
export { readHandedIn } from './read-handed-in.js'
export {
  type AccountRevision,
  changedAccounts,
  noteWoken,
  revisionOf,
} from './revision.js'
export {
  checkAdding,
  checkOpen,
  checkSending,
  type MailType,
  marketingStop,
  pausedMessage,
  pausesOf,
  stoppedAccounts,
  stoppedBy,
  stoppedForClient,
  suspendedMessage,
} from './stopped.js'
export { refuseBeyondStorage } from './storage.js'
export {
  clearPauses,
  findUnknownPlans,
  noteChange,
  openSubscription,
  pauseMarketing,
  pauseSending,
  refuseUnknownPlans,
  setBillingState,
  setMarketingPlan,
  setPlan,
  setSurge,
  suspend,
  unsuspend,
} from './subscription.js'
export { dayEndsAt, hourEndsAt, monthEndsAt, readUsage, readUsages, type Usage } from './usage.js'
