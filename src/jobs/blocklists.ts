import { runPeriodic } from '../app/periodic.js'
import { tellBlocklists } from '../doctor/index.js'

await runPeriodic('blocklists', async (deps) => {
  const { asked, unanswered, listed } = await tellBlocklists(deps)
  const summary = `${asked} questions were asked, ${listed} answers were listings, ${unanswered} lists did not answer`
  return { summary, figures: { asked, unanswered, listed } }
})
