import { runJob } from '../app/job.js'
import { makeEngineMemory, runAutomations } from '../automations/index.js'

await runJob('automate', async ({ signal, rest, ...deps }) => {
  await runAutomations({ ...deps, ...makeEngineMemory() }, signal, rest)
})
