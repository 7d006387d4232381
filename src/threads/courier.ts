import { openResolver } from '../app/resolver.js'
import { runThread } from '../app/thread.js'
import { openCourier } from '../webhooks/index.js'

// What is under way at the stop may still be answered; what is not goes out again.
const graceMs = 5_000

// POSTs webhooks. In a thread of its own, as receivers may be slow and must not hold up mail.
await runThread('courier', async ({ data, store, clock, log, key, meter }) => {
  const resolver = openResolver(data.config.dns, clock)
  const { allow } = data.config.webhooks
  const courier = await openCourier({ store, clock, log, key, meter, resolver, allow })
  return { letGo: courier.letGo, stop: () => courier.close(graceMs) }
})
