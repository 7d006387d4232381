/**
 * What the world sees of this appliance, and the fix for what is wrong with it (`posthorn doctor`).
 * What must hold: every check ends within its time and none waits for another; only the resolver is
 * asked for names; a missing answer counts as neither good nor bad, but as `unchecked`; the doctor
 * changes nothing.
 */

export { tellBlocklists } from './blocklists.js'
export { judgeDns } from './dns.js'
export { examine } from './examine.js'
export { type DoctorDeps, type Finding, findingsOf } from './finding.js'
export { remindOfKeys } from './key-reminders.js'
export { checkOutboundPort } from './outbound-port.js'
export type { MailFlow, Overview, Rates, Reason } from './overview.js'
export { readQueueClasses, readQueueFigures } from './queue-classes.js'
export { type ApplianceStatus, readStatus, statusWithout } from './status.js'
export { tellCertificates } from './tell-certificates.js'
export { readFindings, tellFindings } from './tell-findings.js'
export type { ListenerCertificate, Trouble, TroubledSite } from './troubles.js'
