/**
 * Surges: an account hands in far more than usual, to people whom it never mailed, as the thief of a key does. What
 * must hold: mail to people whom an account has mailed before goes on whatever happens; accepted mail is never lost, it
 * is held; a surge stands until the operator or an owner decides; a decision is carried out, whatever process dies
 * meanwhile; an account without a surge costs the acceptance one comparison. See README.md.
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
