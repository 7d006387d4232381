import { runPeriodic } from '../app/periodic.js'
import { remindOfKeys } from '../doctor/index.js'

await runPeriodic('key-rotation', ({ store, clock, config }) =>
  remindOfKeys(store.read, config.keys, clock.now()),
)
