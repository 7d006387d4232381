import { withOperatorPost } from '../app/operator.js'
import { runPeriodic } from '../app/periodic.js'
import { weeklyReport } from '../app/weekly-report.js'
import { askForReport } from '../notices/index.js'

// Sends nothing itself: it marks that the figures of the week belong into the next mail of the day,
// which `jobs/operator-mail.ts` sends.
await runPeriodic('weekly-report', async (deps) => {
  await withOperatorPost(deps, askForReport)
  const { figures } = await weeklyReport(deps)
  return { summary: 'The next mail of the day has the figures of the week', figures }
})
