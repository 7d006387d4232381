/**
 * DKIM signing (RFC 6376, RFC 8463) and the records that publish its keys. Pure: no DNS and no clock, except for the
 * threads that sign and make key pairs. Always relaxed/relaxed and without `l=`: every octet of the body is covered.
 * The fields that a reader sees are oversigned, so none can be added afterwards. Nothing may be changed in a message
 * once it is signed; only dot-stuffing comes later.
 */
export { hashBody, type RelaxedField, relaxHeader } from './canonical.js'
export { excessOf, headerOf } from './excess.js'
export { arePrintable, spaceBit, spacesAmong, wordsOf } from './four-octets.js'
export {
  type DkimAlgorithm,
  type DkimKey,
  makeDkimKey,
} from './key.js'
export { type DkimKeyPair, generateDkimKeyPair, serveKeyPair } from './key-pair.js'
export {
  type DkimPublicKey,
  type DkimRecord,
  dkimRecord,
  parseDkimRecord,
  publishesDkimKey,
} from './record.js'
export {
  type Signer,
  type SignOptions,
  signMessage,
  signMessageAsync,
  type ToSign,
} from './sign.js'
export { openSigner, serveSigning } from './signer.js'
