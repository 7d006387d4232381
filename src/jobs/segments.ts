import { inJobThread } from '../app/job.js'
import { stayWithSegments } from '../segments/index.js'

// Keeps who is in which segment up to date. It is started when somebody has changed or a segment is made, stays for a
// minute after the last one, as changes come in bursts, and then ends, so that its memory is given back.
await inJobThread('segments', ({ store, clock, log, signal, rest }) =>
  stayWithSegments({ store, clock, log }, signal, rest),
)
