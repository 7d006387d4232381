import { withOperatorPost } from '../app/operator.js'
import { runPeriodic } from '../app/periodic.js'
import { weeklyReport } from '../app/weekly-report.js'
import { tellDaily } from '../notices/index.js'

// The one mail a day to the operator. It is not sent when there is nothing to tell. The weekly
// report is made only if a report was asked for (`jobs/weekly-report.ts`), which is why it is
// handed over as a function.
await runPeriodic('operator-mail', async (deps) => {
  const report = async () => (await weeklyReport(deps)).annex
  const subject = await withOperatorPost(deps, (tell) => tellDaily(tell, report))
  if (subject === undefined)
    return { summary: 'There was nothing to tell, or the mail of today has left' }
  return { summary: `The operator is mailed: ${subject}` }
})
