/**
 * Which contacts have changed since segments, and automations that begin on a date, last looked at them. What must
 * hold: a mark is written in the transaction of the change, so that whoever reads marks before contacts misses nothing.
 * An account with neither writes no marks, and pays two searches of an index.
 */
export { markAddresses, markChanged, markContacts, refillNaming } from './mark.js'
