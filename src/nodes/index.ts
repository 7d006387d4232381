/**
 * Who holds a database that several appliances could open, as one on a server is. What must hold: one at a time takes and
 * sends mail; one that was held up for longer than its lease finds that out, and ends; a database that went back in time
 * is not gone on with before the operator has said how. README.md says how.
 */

export { beatEveryMs, readLastBeat, saysBack, wentBack, writeLastBeat } from './back-in-time.js'
export { type LatelyNotes, openLatelyNotes, readLatelyNotes, removeLatelyNotes } from './lately.js'
export {
  beat,
  type Holding,
  holderOf,
  lastBeatOf,
  leaseMs,
  type OtherNode,
  releaseDatabase,
  takeDatabase,
} from './lease.js'
