/**
 * What is counted while the appliance runs. Code that counts gets a `Meter`; each thread keeps its
 * own tally and sends it to the main thread's ledger, which `app` shows to Prometheus. Must hold:
 * counting awaits nothing and never fails; the number of series is bounded whatever recipients,
 * clients and receivers do; a thread that dies takes its gauges with it, not its counts.
 */
export { type LabelsOf, metricNames, type NameOf } from './catalogue.js'
export { type Ledger, makeLedger, type Series } from './ledger.js'
export { type Meter, makeTally, type Snapshot, silentMeter, type Tally } from './tally.js'
