import { runPeriodic } from '../app/periodic.js'
import { tellFindings } from '../doctor/index.js'

// Runs the checks of `posthorn doctor` each night: failures become notices, and notices of mended
// failures are settled.
await runPeriodic('doctor', async (deps) => {
  const { ok, warnings, failures, unchecked } = await tellFindings({ ...deps, random: Math.random })
  const summary = `Findings: ${ok} good, ${warnings} to look at, ${failures} to fix, ${unchecked} that could not be checked`
  return { summary, figures: { ok, warnings, failures, unchecked } }
})
