/*
 * Owns the SMTP sessions with recipients' servers and counts every socket of this thread. What must hold:
 * a socket counts from before it is opened until it is closed; a session carries another domain's mail
 * only if it meets that domain's TLS policy.
 */
export {
  type ConnectionSlot,
  type ConnectionSlots,
  makeConnectionSlots,
} from './connection-slots.js'
export { type Acquired, type Connections, openConnections } from './connections.js'
export type { NotAcquired, SessionTarget, SmtpSession, TriedHost } from './session.js'
export { openSessionPool, type PooledSession, type SessionPool } from './session-pool.js'
export { behindNextTime, isSpent, makeTrail, putOff, type Trail } from './trail.js'
