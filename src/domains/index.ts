/**
 * Sending domains: their DKIM keys, the DNS records that an operator publishes, and whether they
 * are there. What must hold: nobody sends from a domain that is not verified for the account;
 * private keys are sealed at rest; a DNS that gives no answer changes nothing.
 */
export { deletedDomain, shownCheck, shownDomain, toPublish } from './answers.js'
export { type CheckAgainDeps, checkDomainsAgain, checkNewDomains } from './check-again.js'
export { deleteDomain, refuseDomainInUse } from './delete.js'
export {
  addDomain,
  checkedName,
  type Domain,
  type DomainKey,
  domainById,
  findDomain,
  listDomains,
  sealPurpose,
} from './domain.js'
export { type DomainLook, lastLook, readRecords } from './look.js'
export { publishedRecords } from './published.js'
export { receiverAt, setReceivingHost } from './receiving-host.js'
export {
  type DnsRecord,
  dmarcMailbox,
  domainRecords,
  type OldRecord,
  oldRecords,
  ownMechanisms,
  type RecordCheck,
  type RecordSettings,
  recordSettings,
  recordSettingsOf,
  returnPathHost,
  spfMechanisms,
  tlsReportMailbox,
  zoneFile,
  zoneLine,
} from './records.js'
export { checkRotations, rotateDomain } from './rotate.js'
export {
  domainsAbove,
  findSenderDomain,
  hasVerifiedDomain,
  isReturnPathHost,
  oldestVerifiedDomain,
  signingKeyIds,
  signingKeys,
  verifiedDomains,
} from './sending.js'
export { choiceOf, flagOf, type SwitchChoice, switchChoices } from './switch.js'
export { setTrackingHost, type TrackingHost, trackingHosts } from './tracking-host.js'
export { checkRecords, distrustDomain, type Verification, verifyDomain } from './verify.js'
