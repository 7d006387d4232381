import { allSourceAddresses, type Config } from '../config/index.js'
import { hostAddresses, type Resolver } from '../dns/index.js'

/** The addresses that mail of ours leaves from; none where the settings name none and the DNS is silent. */
export async function ownAddresses(
  outbound: Config['outbound'],
  resolver: Resolver,
): Promise<readonly string[]> {
  const sources = allSourceAddresses(outbound)
  if (sources.length > 0) return sources
  // Without any the machine sends from whatever its EHLO name leads to.
  const found = await hostAddresses(resolver, outbound.heloName)
  return 'failed' in found ? [] : found.addresses
}
