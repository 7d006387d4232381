import { networkInterfaces } from 'node:os'
import { canonicalAddress, liesWithin } from '../dns/index.js'

/** The addresses that no interface of this machine has. */
export function foreignAddresses(addresses: readonly string[]): string[] {
  const own = new Set(
    Object.values(networkInterfaces()).flatMap((all = []) =>
      all.map(({ address }) => canonicalAddress(address)),
    ),
  )
  // All of 127.0.0.0/8 is this machine (RFC 1122 §3.2.1.3).
  return addresses.filter(
    (address) => !own.has(canonicalAddress(address)) && !liesWithin(address, ['127.0.0.0/8']),
  )
}
