/**
 * Somebody's data (GDPR Art. 15, 17, 20): all that an account has of an address, in one file, or erased. What must
 * hold: it is about an address, whether or not it is a contact's now; an erasure ends though it is killed anywhere;
 * figures stay; the address is never mailed again, whoever adds it.
 */
export { downloadAnswer, downloadOf, whatIsStored } from './download.js'
export { erasedSays, fileNameOf } from './overview.js'
export { countWaiting } from './pieces.js'
export { type Staying, stays, staysInPages } from './stays.js'
export {
  type Erasures,
  type ErasureTask,
  erasureAnswer,
  findErasure,
  makeErasures,
  wholeAddress,
} from './tasks.js'
