/**
 * Surges: an account that hands in far more than it usually does, to people whom it never mailed, as whoever has stolen a
 * key does. What must hold: mail to whom an account has mailed before goes on whatever happens; nothing that was accepted
 * is lost, it is held; a surge stands until the operator or an owner decides, and a decision is carried out whoever dies
 * when; an account without one costs the acceptance one comparison. See README.md.
 */
export {
  type Braked,
  brakeSurge,
  type HeldMail,
  type SeenOfHour,
  type SurgeSettings,
} from './brake.js'
export { decideSurge, finishDecided, refuseOwnKey, type SurgeDecision } from './decide.js'
export {
  findAnySurge,
  findSurge,
  openSurges,
  type Surge,
  type SurgeSource,
  shownSurge,
  surgesOf,
} from './surge.js'
export { announceSurges, type SurgeMail } from './tell.js'
