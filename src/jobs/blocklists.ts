import { runPeriodic } from '../app/periodic.js'
import { tellBlocklists } from '../doctor/index.js'

// Asks the DNS blocklists about our own addresses; a listing becomes a notice to the operator.
await runPeriodic('blocklists', async (deps) => {
  const { asked, unanswered, listed } = await tellBlocklists(deps)
  const summary = `Questions to blocklists: ${asked}; listings: ${listed}; without a good answer: ${unanswered}`
  return { summary, figures: { asked, unanswered, listed } }
})
