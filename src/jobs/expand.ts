import { runJob } from '../app/job.js'
import { expandBroadcasts } from '../broadcasts/index.js'

// Writes the mails of campaigns that were started: up to a million rows. A thread of its own writes
// them, so that no client of the API waits. After a kill the next run goes on where this one was
// cut off.
await runJob('expand', async ({ signal, ...deps }) => {
  await expandBroadcasts(deps, signal)
})
