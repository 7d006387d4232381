import { runPeriodic } from '../app/periodic.js'
import { runRetention } from '../retention/index.js'

// Deletes what is older than `[retention]` and the plans allow, every hour and in small batches, so
// that no run has much to do and mail goes on beside it.
await runPeriodic('retention', ({ config, signal, ...ground }) =>
  runRetention({ ...ground, ages: config.retention }, signal),
)
