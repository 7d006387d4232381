/**
 * Somebody's data (GDPR Art. 15, 17, 20): all that an account has of an address, in one file; or gone. What must hold:
 * an erasure ends though it is killed anywhere, figures stay, and the address is never mailed again, whoever brings it.
 */
export { downloadOf } from './download.js'
export {
  type Erasures,
  type ErasureTask,
  findErasure,
  makeErasures,
} from './tasks.js'
