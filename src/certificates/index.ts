/**
 * The certificates of this machine's listeners: which there are, which one a client is offered, and (with `[tls] acme`)
 * how they are got and renewed. What must hold: a listener always has the best certificate that ever existed, whatever
 * the directory does; nobody else gets a private key; a directory is never asked for what it would refuse, nor faster
 * than it wants.
 */

export { accountRow, acmeAccountPurpose } from './account.js'
export { isByDns } from './dns-challenge.js'
export { tryUpdates } from './dns-update.js'
export {
  type CertificateFiles,
  type Certificates,
  type CertificatesOptions,
  type HeldCertificate,
  openCertificates,
  stampOf,
} from './held.js'
export {
  askForRenewal,
  type CertificateStanding,
  countCertificates,
  listCertificates,
  urgencyOf,
} from './list.js'
export { addressesHere, ownNames, type WantedName, wantedNames } from './names.js'
export {
  areCertificatesDue,
  certificatePurpose,
  type RenewDeps,
  type Renewed,
  renewCertificates,
} from './renew.js'
export { answerTo, bringCertificates, certificateFilePurpose } from './shared.js'
export { certificatesAfterSetBack } from './state.js'
export { exchange } from './transport.js'
