import { certificatesOf } from '../app/certificates.js'
import { makeEffects } from '../app/effects.js'
import { openResolver } from '../app/resolver.js'
import { mailRulesOf, runThread } from '../app/thread.js'
import { dayMs } from '../clock/index.js'
import { makeReturnPaths } from '../deliveries/index.js'
import { openInbound } from '../inbound/index.js'

// Listens for bounces, complaints and the operator's mail. Anybody may talk to it, so a crash here must cost only
// this thread.
await runThread('inbound', async ({ data, store, clock, log, key, meter, ring }) => {
  const { inbound: config, outbound } = data.config
  const { transactional, automation, campaign } = outbound.retry
  const maxAge = Math.max(transactional.maxAge, automation.maxAge, campaign.maxAge)
  let rules = mailRulesOf(data)
  const inbound = await openInbound({
    store,
    clock,
    log,
    meter,
    // Checks that a bounce came to an address that we made: the appliance's key signs it.
    returnPaths: makeReturnPaths(key),
    certificates: certificatesOf('inbound', { ...data, log }),
    config: { ...config, port: data.listenPort ?? config.port },
    hosts: [
      outbound.heloName,
      ...(outbound.returnPathHost === '' ? [] : [outbound.returnPathHost]),
    ],
    judging: () => rules,
    resolver: openResolver(data.config.dns, clock),
    land: makeEffects(data.config, data.plans),
    plans: data.plans,
    key,
    retry: outbound.retry,
    ring,
    // How long a return path is good: reports come up to 60 days after the last attempt
    // (notes/mta.md §3), and a scheduled mail may leave up to 90 days after it was accepted.
    tokenLifeMs: maxAge + (60 + 90) * dayMs,
  })
  return {
    port: inbound.port,
    // This node has taken over another node's mail.
    ring: () => inbound.readAnew(),
    reload({ mailRules = rules }) {
      rules = mailRules
      inbound.reload()
    },
    stop: () => inbound.close(),
  }
})
