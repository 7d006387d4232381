/**
 * Recipients that never leave the appliance and behave by their local part (`bounced@`, `complained@`, ... at
 * simulator.posthorn.test), through the real queue, real SMTP and the real listener. What must hold: it listens only
 * on loopback, and only once somebody mails it; no mail to it is ever looked up in the DNS; it reports only to this
 * appliance.
 */
export { behaviourOf, isSimulated, simulatorDomain } from './recipients.js'
export {
  makeSimulator,
  ownListener,
  type Simulator,
  type SimulatorDeps,
  type Submitted,
  submitReport,
  type Target,
} from './simulator.js'
export { type ReportSubject, writeBounce, writeComplaint } from './write-report.js'
