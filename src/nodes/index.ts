/**
 * The appliances over one database: one, unless it is on a server and all of them say that they join. What must hold:
 * work that an appliance begins after its epoch does not count; others take over what a dead appliance left; work to be
 * done once has one owner. An appliance that was held up for longer than its lease notices it, and ends. A database
 * that went back in time is used again only after the operator has decided how. README.md explains it.
 */

export {
  type AddressOwner,
  claimAddresses,
  disputedAddresses,
  type NodeRecords,
  ownersOf,
  recordsBeside,
  recordsOfOthers,
  type TakenAddress,
  tellRecords,
} from './addresses.js'
export {
  backInWords,
  beatEveryMs,
  markedLoss,
  markLoss,
  readLastBeat,
  saysBack,
  wentBack,
  writeLastBeat,
} from './back-in-time.js'
export { changeNode, type NodeChangeName, nodeChanges } from './change.js'
export {
  type DutyKind,
  type DutyName,
  type DutyShare,
  dutiesInWords,
  dutyKinds,
  dutyNames,
  giveBackDuty,
  holds,
  holdsAll,
  holdsPart,
  isClockOff,
  kindOfDuty,
  othersThan,
  partsHeld,
  shareDuties,
} from './duties.js'
export { type FileHashes, fileHashes, setFileHashes } from './files.js'
export { countTakenOver, endSilent, type LeavingNode, nodesThatLeave } from './gone.js'
export {
  forgetPast,
  type InviteCode,
  inviteMs,
  joinPath,
  keepInvite,
  makeInviteCode,
  readInviteCode,
} from './invite.js'
export { type LatelyNotes, openLatelyNotes, readLatelyNotes, removeLatelyNotes } from './lately.js'
export {
  beat,
  type Comer,
  type Holding,
  holderOf,
  isAnyAlive,
  lastBeatOf,
  leaseMs,
  type OtherNode,
  type OthersSeen,
  releaseDatabase,
  takeDatabase,
} from './lease.js'
export { differingFiles, listNodes, mostCounted, type NodeStanding, nodeNames } from './list.js'
export {
  findNode,
  isLivingEpoch,
  listPeers,
  type NodeWanted,
  type Peer,
  tellAddress,
  wakeNodes,
} from './peers.js'
export { makeRateExchange, type RateExchange } from './rates.js'
export { makeRingGate, openAnswer, type RingHead, sealAnswer, sealRing } from './ring-seal.js'
export { isHeldUp } from './standing.js'
export { threadsOf } from './threads.js'
