import { openHttps } from '../app/https.js'
import { runThread } from '../app/thread.js'

// TLS of the HTTP listeners ends here, so that its handshakes cost the main thread nothing.
await runThread('https', openHttps, { answers: true })
