/**
 * Owns what the operator is told: one row for each fault, from when it is raised until it is settled, and
 * the mails about it. What must hold: at most one mail a day, and a bounded number of urgent ones; each
 * fault is told once, even if a process dies meanwhile; a mail that the queue cannot deliver goes another
 * way; no name that others chose can become a line, a command or markup. See README.md.
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
