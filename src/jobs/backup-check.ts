import { runPeriodic } from '../app/periodic.js'
import { scheduledCheck } from '../backup/index.js'

// A backup that nobody has ever unpacked is only a hope: this unpacks the newest one and reads all
// of it.
await runPeriodic('backup-check', scheduledCheck)
