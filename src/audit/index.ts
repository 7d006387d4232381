/**
 * Who changed what, when and by which way: pages, commands and the API alike. What must hold: a change and its row are
 * in one transaction wherever possible; a row is never changed; no row has a secret. `protection_audit` has what the
 * appliance itself did to accounts.
 */
export { type Actor, type Change, noteAudit } from './note.js'
export {
  type ChangeFilter,
  type LoggedChange,
  type LoggedDeed,
  lastChangeOf,
  lastDeed,
  readChanges,
} from './read.js'
