import { runPeriodic } from '../app/periodic.js'
import { checkDomainsAgain, recordSettingsOf } from '../domains/index.js'

// Looks whether the records of verified domains are still published: mail without them is refused
// or goes to the spam folder, and nobody would tell us.
await runPeriodic('domain-checks', async ({ config, ...deps }) => {
  const settings = await recordSettingsOf(deps.store.read, config)
  const { checked, unanswered, broken } = await checkDomainsAgain({ ...deps, settings })
  const summary = `Domains looked at: ${checked}; with records gone: ${broken.length}; where the DNS gave no answer: ${unanswered}`
  return { summary, figures: { checked, unanswered, broken: broken.length } }
})
