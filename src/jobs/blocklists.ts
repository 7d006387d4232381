import { runPeriodic } from '../app/periodic.js'
import { tellBlocklists } from '../doctor/index.js'

await runPeriodic('blocklists', async (deps) => {
  const { asked, unanswered, listed } = await tellBlocklists(deps)
  const summary = `Questions to blocklists: ${asked}; listings: ${listed}; without a good answer: ${unanswered}`
  return { summary, figures: { asked, unanswered, listed } }
})
