import { runThread } from '../app/thread.js'
import { openSandboxReceiver, publishedResolver } from '../sandbox/index.js'

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
