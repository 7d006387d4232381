import { runPeriodic } from '../app/periodic.js'
import { checkDomainsAgain, recordSettings } from '../domains/index.js'

await runPeriodic('domain-checks', async ({ config, ...deps }) => {
  const settings = recordSettings(config)
  const { checked, unanswered, broken } = await checkDomainsAgain({ ...deps, settings })
  const summary = `Domains looked at: ${checked}; with records gone: ${broken.length}; where the DNS gave no answer: ${unanswered}`
  return { summary, figures: { checked, unanswered, broken: broken.length } }
})
