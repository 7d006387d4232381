import { runPeriodic } from '../app/periodic.js'
import { scheduledBackup } from '../backup/index.js'

await runPeriodic('backup', scheduledBackup)
