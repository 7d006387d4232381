import { makeEffects } from '../app/effects.js'
import { bounceRuleFiles, readAgain, shapingFiles } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import { runThread } from '../app/thread.js'
import { isReachable } from '../config/index.js'
import { joinBacklog } from '../deliveries/index.js'
import { loadShaping, openOutbound } from '../outbound/index.js'
import { loadBounceRules } from '../reports/index.js'
import { makeSimulator, ownListener } from '../simulator/index.js'
import { openRenderer, type Renderer } from '../templates/index.js'

await runThread('outbound', async ({ data, store, clock, log, key, meter }) => {
  const readShaping = () => loadShaping(shapingFiles(data.dataDir))
  const readRules = () => loadBounceRules(bounceRuleFiles(data.dataDir))
  let bounceRules = readRules()
  const { inboundPort, config } = data
  const inbound =
    inboundPort === undefined ? undefined : ownListener(config.inbound.host, inboundPort)
  const simulator = makeSimulator({ clock, log, inbound })
  let renderer: Renderer | undefined
  const outbound = await openOutbound({
    store,
    clock,
    log,
    key,
    meter,
    backlog: joinBacklog(data.backlog),
    land: makeEffects(data.config, data.dataDir),
    config: data.config.outbound,
    shaping: readShaping(),
    bounceRules: () => bounceRules,
    publicUrl: data.publicUrl,
    tracking: isReachable(data.config) ? data.config.tracking : undefined,
    resolver: openResolver(data.config.dns, clock),
    ...(data.sandboxPort === undefined
      ? {}
      : { sandbox: { host: '127.0.0.1', port: data.sandboxPort } }),
    renderer() {
      renderer ??= openRenderer({ log, clock })
      return renderer
    },
    simulator,
    countTls: data.config.tlsReports.enabled && data.config.outbound.route !== 'sandbox',
    thread: data.index,
    threads: data.config.outbound.threads,
    random: Math.random,
  })
  return {
    ring: (due) => outbound.ring(due),
    reload() {
      readAgain(log, readShaping, outbound.reshape)
      readAgain(log, readRules, (rules) => {
        bounceRules = rules
      })
    },
    gateOf: outbound.gateOf,
    standing: outbound.standing,
    retry: outbound.retry,
    async stop() {
      await outbound.close(data.config.outbound.shutdownGrace)
      await simulator.close()
      await renderer?.close()
    },
  }
})
