import { openResolver } from '../app/resolver.js'
import { runThread } from '../app/thread.js'
import { openCourier } from '../webhooks/index.js'

// Posts that are under way at the stop may still be answered in this time; others are sent again.
const graceMs = 5_000

// POSTs webhooks. It is a thread of its own because receivers may be slow and must not hold up mail.
await runThread('courier', async ({ data, store, clock, log, key, meter }) => {
  const resolver = openResolver(data.config.dns, clock)
  const { allow } = data.config.webhooks
  const courier = await openCourier({ store, clock, log, key, meter, resolver, allow })
  return { letGo: courier.letGo, stop: () => courier.close(graceMs) }
})
