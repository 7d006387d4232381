/**
 * Owns what the operator is told: one row a thing that is wrong, from when it is raised until it is settled,
 * and the mails that tell it. What must hold: at most one mail a day, and a bounded number at once of what
 * burns; each thing is told once, whoever dies when; what the queue cannot bring goes another way; nothing
 * that others named can become a line, a command or markup. See README.md.
 */

export { chooseBurning, chooseDaily, dayIn, type TellSettings } from './choose.js'
export { type Annex, composeOperatorMail, escaped, type OperatorMessage } from './compose.js'
export { makeDelivery, sendBy, type Way } from './deliver.js'
export { type EmergencyMemory, makeEmergencyMemory } from './memory.js'
export {
  type About,
  isNoticeKind,
  type NoticeKind,
  notice,
  noticeKinds,
  oneLine,
  openOfKind,
  type Raised,
  type Severity,
  settled,
  settleOthers,
} from './notice.js'
export {
  findOrphans,
  isOfNode,
  kindsOfNode,
  type NodeNotices,
  noticesOf,
  settleOrphans,
} from './of-node.js'
export {
  findNotice,
  type Notice,
  openNotices,
  operatorMails,
  pastNotices,
  silenceNotice,
  titleOf,
} from './read.js'
export {
  askForReport,
  noteTests,
  type TellDeps,
  type TestMail,
  tellBurning,
  tellDaily,
  watchTold,
} from './tell.js'
