import { runPeriodic } from '../app/periodic.js'
import { sendTlsReports } from '../tls-reports/index.js'

await runPeriodic('tls-reports', async ({ backlog, ring, ...ground }) => {
  const { summary, problems, figures } = await sendTlsReports({
    ...ground,
    ring(due) {
      backlog.change(due.length)
      ring(due)
    },
  })
  return { summary, problems, figures: { ...figures } }
})
