import { certificatesOf } from '../app/certificates.js'
import { makeEffects } from '../app/effects.js'
import { bounceRuleFiles, feedbackLoopFiles } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import { runThread } from '../app/thread.js'
import { dayMs } from '../clock/index.js'
import { makeReturnPaths } from '../deliveries/index.js'
import { openInbound } from '../inbound/index.js'

await runThread('inbound', async ({ data, store, clock, log, key, meter }) => {
  const { inbound: config, outbound } = data.config
  const { transactional, automation, campaign } = outbound.retry
  const maxAge = Math.max(transactional.maxAge, automation.maxAge, campaign.maxAge)
  const inbound = await openInbound({
    store,
    clock,
    log,
    meter,
    returnPaths: makeReturnPaths(key),
    certificates: certificatesOf('inbound', { ...data, log }),
    config: { ...config, port: data.listenPort ?? config.port },
    hosts: [
      outbound.heloName,
      ...(outbound.returnPathHost === '' ? [] : [outbound.returnPathHost]),
    ],
    // notes/mta.md §3: reports come up to 60 days after the last attempt. A scheduled mail leaves up
    // to 90 days after it was accepted.
    ruleFiles: () => bounceRuleFiles(data.dataDir),
    loopFiles: () => feedbackLoopFiles(data.dataDir),
    resolver: openResolver(data.config.dns, clock),
    land: makeEffects(data.config, data.dataDir),
    tokenLifeMs: maxAge + (60 + 90) * dayMs,
  })
  return { port: inbound.port, reload: inbound.reload, stop: () => inbound.close() }
})
