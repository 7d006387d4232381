import { runJob } from '../app/job.js'
import { expandBroadcasts } from '../broadcasts/index.js'

await runJob('expand', async ({ signal, ...deps }) => {
  await expandBroadcasts(deps, signal)
})
