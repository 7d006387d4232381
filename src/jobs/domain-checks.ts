import { runPeriodic } from '../app/periodic.js'
import { checkDomainsAgain, recordSettings } from '../domains/index.js'

await runPeriodic('domain-checks', async ({ config, ...deps }) => {
  const settings = recordSettings(config)
  const { checked, unanswered, broken } = await checkDomainsAgain({ ...deps, settings })
  const summary = `${checked} domains were looked at, of ${broken.length} records are gone`
  return { summary, figures: { checked, unanswered, broken: broken.length } }
})
