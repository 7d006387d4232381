import { runPeriodic } from '../app/periodic.js'
import { tellCertificates } from '../doctor/index.js'

await runPeriodic('certificates', async (deps) => {
  const { looked, told, soonestDays } = await tellCertificates(deps)
  const soonest: Record<string, number> = soonestDays === undefined ? {} : { soonestDays }
  return {
    summary: `${looked} certificates were looked at, of ${told} the operator is told`,
    figures: { looked, told, ...soonest },
  }
})
