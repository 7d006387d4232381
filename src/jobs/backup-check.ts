import { runPeriodic } from '../app/periodic.js'
import { scheduledCheck } from '../backup/index.js'

await runPeriodic('backup-check', scheduledCheck)
