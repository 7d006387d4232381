import type { ConnectionSlots } from '../connections/index.js'
import type { OutboundDeps } from '../deps.js'
import { type Egress, onlyPrimary, openEgress } from './egress.js'
import { makeRelays, type Relays } from './relays.js'
import { openRelay } from './smart-host.js'

/** The ways out of this thread; without a smart host, or with the sandbox route, there is only one. */
export async function openWays(
  deps: OutboundDeps,
  connectionSlots: ConnectionSlots,
  onChange: () => void,
): Promise<{ egress: Egress; relays: Relays | undefined; close(): Promise<void> }> {
  const { config, thread } = deps
  const { smartHosts, sites, window } = config.failover
  if (smartHosts.length === 0 || config.route === 'sandbox') {
    return { egress: onlyPrimary, relays: undefined, close: async () => {} }
  }
  const { heloName } = config
  const options = { ...deps, connectionSlots, heloName, env: process.env }
  const relays = makeRelays(smartHosts.map((host) => openRelay(host, options)))
  const egress = await openEgress({
    ...deps,
    sites,
    windowMs: window,
    onChange,
    shown: thread === 0,
  })
  return { egress, relays, close: () => egress.close() }
}
