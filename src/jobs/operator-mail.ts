import { withOperatorPost } from '../app/operator.js'
import { runPeriodic } from '../app/periodic.js'
import { weeklyReport } from '../app/weekly-report.js'
import { tellDaily } from '../notices/index.js'

await runPeriodic('operator-mail', async (deps) => {
  const report = async () => (await weeklyReport(deps)).annex
  const subject = await withOperatorPost(deps, (tell) => tellDaily(tell, report))
  if (subject === undefined)
    return { summary: 'There was nothing to tell, or the mail of today has left' }
  return { summary: `The operator is mailed: ${subject}` }
})
