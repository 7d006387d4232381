import { runPeriodic } from '../app/periodic.js'
import { sendTlsReports } from '../tls-reports/index.js'

// Sends yesterday's TLS reports (RFC 8460). Their mails go through our own queue: `ring` first
// counts them into the backlog, which bounds the queue, and then wakes the outbound threads.
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
