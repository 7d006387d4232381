import { runPeriodic } from '../app/periodic.js'
import { remindOfKeys } from '../doctor/index.js'

// Only reminds: keys are changed by people, as a new DKIM key needs a DNS record first and a new
// API key a change of the program that sends.
await runPeriodic('key-rotation', ({ store, clock, config }) =>
  remindOfKeys(store.read, config.keys, clock.now()),
)
