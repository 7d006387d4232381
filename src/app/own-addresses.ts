import { addressesHere, ownNames } from '../certificates/index.js'
import { allSourceAddresses, type Config, usualSourceOf } from '../config/index.js'
import { ownMechanisms, recordSettings } from '../domains/index.js'
import type { Log } from '../log/index.js'
import { claimAddresses, type Holding, tellRecords } from '../nodes/index.js'
import type { Store } from '../store/index.js'
import { foreignAddresses } from './foreign-addresses.js'

/**
 * Tells the other nodes which addresses this one sends from, and what it wants in the DNS and of certificates. Resolves
 * with the settings without addresses that it does not send from: another node's, and those that no interface of this
 * machine has. So all nodes may have one file of settings, and a pool may be one node's alone.
 */
export async function takeAddresses(
  { store, log }: { store: Store; log: Log },
  config: Config,
  held: Holding,
): Promise<Config> {
  const named = allSourceAddresses(config.outbound)
  const foreign = new Set(foreignAddresses(named))
  const here = named.filter((address) => !foreign.has(address))
  const { own, taken } = await claimAddresses(store, held, here)
  for (const { address, node } of taken)
    log.error(
      { address, node },
      'The address is that of another node, so that this one does not send from it: name each address at one node',
    )
  if (foreign.size > 0)
    log.warn({ addresses: [...foreign] }, 'Other machines have these addresses, and send from them')
  const kept = { ...config, outbound: withAddresses(config.outbound, new Set(own)) }
  await tellRecords(store, held, {
    spf: ownMechanisms(recordSettings(kept)),
    mx: config.inbound.enabled ? config.outbound.heloName : null,
    names: config.tls.acme ? ownNames(kept) : [],
    addresses: addressesHere(kept),
  })
  if (held.isFirst) {
    // Loaded only here, as all of outbound comes with it.
    const { nameUnnamed } = await import('../outbound/index.js')
    await store.write((tx) => nameUnnamed(tx, usualSourceOf(config)))
  }
  return kept
}

/** The settings of outgoing mail, with these addresses alone. */
function withAddresses(outbound: Config['outbound'], own: ReadonlySet<string>): Config['outbound'] {
  const pools = Object.entries(outbound.pools).map(([name, pool]) => {
    const sources = pool.sources.flatMap((source) => {
      const addresses = source.addresses.filter((address) => own.has(address))
      return addresses.length === 0 ? [] : [{ ...source, addresses }]
    })
    const elsewhere = pool.sources.flatMap(({ addresses }) =>
      addresses.filter((address) => !own.has(address)),
    )
    return [name, { ...pool, sources, elsewhere }] as const
  })
  return {
    ...outbound,
    pools: Object.fromEntries(pools),
    sourceAddresses: outbound.sourceAddresses.filter((address) => own.has(address)),
  }
}
