import { runPeriodic } from '../app/periodic.js'
import { renewCertificates } from '../certificates/index.js'
import { tellCertificates } from '../doctor/index.js'
import { holds } from '../nodes/index.js'

// Gets and renews the certificates of `[tls] acme`, then looks at all certificates, also at the operator's own files.
// This order spares the operator a warning about a certificate that was just renewed. Of several nodes the one with the
// calendar gets them; each node looks at those of its own listeners.
const nothing = { issued: [], failed: [], removed: [] }

await runPeriodic('certificates', async (deps) => {
  const { issued, failed, removed } = holds(deps.store.node, 'calendar')
    ? await renewCertificates({ ...deps, random: Math.random })
    : nothing
  const { looked, told, soonestDays } = await tellCertificates(deps)
  const soonest: Record<string, number> = soonestDays === undefined ? {} : { soonestDays }
  const came = issued.length === 0 ? '' : `; new: ${issued.join(', ')}`
  // Failures are no problems of this run: the notices of certificates tell what stays wrong.
  const not = failed.length === 0 ? '' : `; not got: ${failed.join('; ')}`
  return {
    summary: `Certificates looked at: ${looked}; the operator is told of ${told}${came}${not}`,
    figures: {
      looked,
      told,
      issued: issued.length,
      failed: failed.length,
      removed: removed.length,
      ...soonest,
    },
  }
})
