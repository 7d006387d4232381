import { makeEffects } from '../app/effects.js'
import { openResolver } from '../app/resolver.js'
import { mailRulesOf, runThread } from '../app/thread.js'
import { usualSourceOf, usualTracking } from '../config/index.js'
import { joinBacklog, makeReturnPaths, makeTestOwner } from '../deliveries/index.js'
import { openLatelyNotes } from '../nodes/index.js'
import { openOutbound } from '../outbound/index.js'
import { makeTestInbox, publishedResolver } from '../sandbox/index.js'
import { makeSimulator, ownListener } from '../simulator/index.js'
import { openRenderer, type Renderer } from '../templates/index.js'

// The MTA: claims due deliveries and sends them. There are `outbound.threads` of these, over which
// recipient domains are spread by hash.
await runThread('outbound', async ({ data, store, clock, log, key, meter }) => {
  const { inboundPort, config } = data
  let rules = mailRulesOf(data)
  // The simulator's bounces and complaints come back by SMTP to our own listener, where there is
  // one.
  const inbound =
    inboundPort === undefined ? undefined : ownListener(config.inbound.host, inboundPort)
  const simulator = makeSimulator({ clock, log, inbound })
  // As in the sandbox, the DNS answers as if every domain's records were published. So the inbox shows what is wrong
  // with a mail, and nothing leaves the machine.
  const testInbox = makeTestInbox({
    store,
    clock,
    log,
    resolver: publishedResolver({ store, clock }, config.outbound),
    ownerOf: makeTestOwner(store.read, makeReturnPaths(key)),
    keepMessages: config.sandbox.keepMessages,
  })
  let renderer: Renderer | undefined
  const outbound = await openOutbound({
    store,
    clock,
    log,
    key,
    meter,
    backlog: joinBacklog(data.backlog),
    journal:
      data.config.store.url === '' ? undefined : openLatelyNotes(data.dataDir, data.index, clock),
    land: makeEffects(data.config, data.plans),
    config: data.config.outbound,
    shaping: rules.shaping,
    bounceRules: () => rules.bounceRules,
    publicUrl: data.publicUrl,
    // Links that recipients' browsers could not reach would break every mail: then nothing is
    // tracked.
    tracking: usualTracking(data.config),
    resolver: openResolver(data.config.dns, clock),
    ...(data.sandboxPort === undefined
      ? {}
      : { sandbox: { host: '127.0.0.1', port: data.sandboxPort } }),
    // Opened with the first template, because its thread costs memory that most appliances never need.
    renderer() {
      renderer ??= openRenderer({ log, clock })
      return renderer
    },
    simulator,
    testInbox,
    // For TLS reports. The sandbox is nobody's domain, so there is nothing to report about it.
    countTls: data.config.tlsReports.enabled && data.config.outbound.route !== 'sandbox',
    unnamedSource: usualSourceOf(data.config),
    thread: data.index,
    threads: data.config.outbound.threads,
    random: Math.random,
  })
  return {
    ring: (due) => outbound.ring(due),
    reload({ mailRules = rules }) {
      rules = mailRules
      outbound.reshape(rules.shaping)
    },
    gateOf: outbound.gateOf,
    standing: outbound.standing,
    retry: outbound.retry,
    async stop() {
      // Our own servers are closed second and the renderer last, because mail under way still needs them.
      await outbound.close(data.config.outbound.shutdownGrace)
      await simulator.close()
      await testInbox.close()
      await renderer?.close()
    },
  }
})
