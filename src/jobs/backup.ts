import { runPeriodic } from '../app/periodic.js'
import { scheduledBackup } from '../backup/index.js'

// Makes the nightly backup. The work is done in a process of its own (`backup-process.ts`).
await runPeriodic('backup', scheduledBackup)
