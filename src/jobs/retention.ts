import { runPeriodic } from '../app/periodic.js'
import { runRetention } from '../retention/index.js'

await runPeriodic('retention', ({ config, signal, ...ground }) =>
  runRetention({ ...ground, ages: config.retention }, signal),
)
