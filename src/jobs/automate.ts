import { plansFile } from '../app/files.js'
import { runJob } from '../app/job.js'
import { makeEngineMemory, runAutomations } from '../automations/index.js'
import { loadPlans } from '../billing/index.js'
import { joinBacklog } from '../deliveries/index.js'
import { openRenderer } from '../templates/index.js'

await runJob('automate', async ({ data, store, clock, log, ring, rest, signal }) => {
  const renderer = openRenderer({ log, clock })
  const { maxQueued, retry } = data.config.outbound
  try {
    const plans = loadPlans(plansFile(data.dataDir))
    const backlog = joinBacklog(data.backlog)
    const deps = { store, clock, log, plans, backlog, maxQueued, retry, ring, renderer }
    await runAutomations({ ...deps, ...makeEngineMemory() }, signal, rest)
  } finally {
    await renderer.close()
  }
})
