/**
 * What the world sees of this appliance, and the fix for what is wrong with it (`posthorn doctor`).
 * What must hold: every check ends within its time and none waits for another; names are asked of
 * the resolver alone; no answer is never taken for a good or a bad one, but told as 'could not ask';
 * the doctor changes nothing.
 */
export type { DoctorDeps } from './deps.js'
export { examine } from './examine.js'
export type { Finding } from './finding.js'
export { remindOfKeys } from './key-reminders.js'
export { tellBlocklists } from './tell-blocklists.js'
export { tellCertificates } from './tell-certificates.js'
export { tellFindings } from './tell-findings.js'
