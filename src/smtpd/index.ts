/**
 * What every SMTP listener of ours needs around `smtp-server`: who may be connected and for how long, whom a proxy
 * speaks for, the room for mail that arrives, bounds on a session, replies with their own enhanced codes, TLS files.
 * What must hold: no client, however hostile, takes another's place for long. It knows neither mail nor database.
 */

export { isNextPiece, whenCutOff } from './arrival.js'
export { takeBarePaths } from './bare-paths.js'
export { makeProxyDoor, type ProxyDoor, speakFor, tellPeers } from './behind-proxies.js'
export { type ConnectionGate, makeGate, networkOf, sourceOf } from './gate.js'
export {
  type Certificate,
  type CertificateFor,
  offerNow,
  readCertificate,
  sniOptions,
} from './offer.js'
export { makeQuota } from './quota.js'
export { takeQuotedLocals } from './quoted-locals.js'
export { coded, codeReplies, guardListener, Refusal, refuseFor } from './refusal.js'
export { type ArrivalRoom, makeRoom, type RoomShare } from './room.js'
export { boundSessions, type SessionConnection, wrapSessions } from './session-bounds.js'
export { makeWaitingList, type UnreadMail } from './waiting-list.js'
