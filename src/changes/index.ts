/**
 * Which contacts have changed since segments looked at them. What must hold: a mark is written in the transaction of
 * the change, so that whoever reads marks before contacts misses nothing; where an account has no segments nothing is
 * written, and it costs one search of an index.
 */
export { markAddresses, markChanged, markContacts, refillNaming } from './mark.js'
