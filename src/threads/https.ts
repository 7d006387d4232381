import { openHttps } from '../app/https.js'
import { runThread } from '../app/thread.js'

await runThread('https', openHttps)
