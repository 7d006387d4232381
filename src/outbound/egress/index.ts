/*
 * Owns which way mail leaves: the primary one, straight to the recipients' servers, or, for the time of an incident
 * on it, by a smart host. What must hold: without a smart host there is one way; mail goes the other way only on
 * evidence or by the operator's word, and does not swing between them; what one thread finds out, all know within
 * seconds, and it outlives a restart; a smart host's word about itself never ends a mail; a password never leaves in
 * the clear.
 */
export type { ProbeOutcome } from './breaker.js'
export { type Egress, type EgressOptions, onlyPrimary, openEgress, type Probe } from './egress.js'
export { atNodes, wayInWords } from './in-words.js'
export { openSmartHost } from './open-smart-host.js'
export { makeRelays, type Relays } from './relays.js'
export {
  everything,
  leaveToEvidence,
  type Orders,
  orderScope,
  readAllScopes,
  type Scope,
  type ShownScope,
} from './scopes.js'
export { type Offered, openRelay, type Relay } from './smart-host.js'
export { openWays } from './ways.js'
