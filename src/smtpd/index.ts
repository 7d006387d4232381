/**
 * What every SMTP listener of ours needs around `smtp-server`, whoever it listens to: who may be
 * connected and for how long, the room for mail that arrives, bounds on a session, replies with their
 * own enhanced codes, TLS files. What must hold: no client, however hostile, takes another's place for
 * long. It knows neither mail nor database.
 */
export { type Certificate, readCertificate } from './certificate.js'
export { coded, codeReplies } from './enhanced-code.js'
export { type Gate, makeGate } from './gate.js'
export { networkOf, sourceOf } from './network.js'
export { type CertificateFor, offerNow, sniOptions } from './offer.js'
export { makeQuota } from './quota.js'
export { guardListener, Refusal, refuseFor } from './refusal.js'
export { makeRoom, type Place, type Room } from './room.js'
export { boundSessions, type SessionConnection, wrapSessions } from './session-bounds.js'
