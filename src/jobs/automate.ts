import { runJob } from '../app/job.js'
import { makeEngineMemory, runAutomations } from '../automations/index.js'

// Makes the mails of automations whose next step is due. It is started when a run begins or falls
// due, stays for a minute after the last one in case more comes (`rest`), and then ends, so that
// its memory is given back.
await runJob('automate', async ({ signal, rest, ...deps }) => {
  await runAutomations({ ...deps, ...makeEngineMemory() }, signal, rest)
})
