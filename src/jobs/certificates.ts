import { runPeriodic } from '../app/periodic.js'
import { tellCertificates } from '../doctor/index.js'

await runPeriodic('certificates', async (deps) => {
  const { looked, told, soonestDays } = await tellCertificates(deps)
  const soonest: Record<string, number> = soonestDays === undefined ? {} : { soonestDays }
  return {
    summary: `Certificates looked at: ${looked}; the operator is told of ${told}`,
    figures: { looked, told, ...soonest },
  }
})
