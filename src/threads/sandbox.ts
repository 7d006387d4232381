import { runThread } from '../app/thread.js'
import { openSandboxReceiver, publishedResolver } from '../sandbox/index.js'

// The built-in inbox of sandbox mode. DNS answers as if every domain's records were published: mail that is tried out
// on a laptop passes SPF, DKIM and DMARC as it would with the records in place.
await runThread('sandbox', async ({ data, store, clock, log }) => {
  const { sandbox, outbound } = data.config
  const receiver = await openSandboxReceiver({
    store,
    clock,
    log,
    resolver: publishedResolver({ store, clock }, outbound),
    config: { port: data.listenPort ?? sandbox.smtpPort, keepMessages: sandbox.keepMessages },
  })
  return { port: receiver.port, stop: () => receiver.close() }
})
