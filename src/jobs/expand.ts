import { runJob } from '../app/job.js'
import { expandBroadcasts } from '../broadcasts/index.js'

// Writes the mails of campaigns that were started: up to a million rows, which a thread of its own
// writes so that no client of the API waits for them. What a kill cuts off, the next run goes on
// with.
await runJob('expand', async ({ signal, ...deps }) => {
  await expandBroadcasts(deps, signal)
})
