import { isIP, isIPv6, type LookupFunction } from 'node:net'
import type { Resolver } from './resolver.js'

/** All addresses of a host, or why there are none; an address is its own. Whether to connect to them must still be judged. */
export async function hostAddresses(
  resolver: Pick<Resolver, 'a' | 'aaaa'>,
  host: string,
): Promise<{ addresses: string[] } | { failed: string }> {
  if (isIP(host) !== 0) return { addresses: [host] }
  // RFC 6761 §6.3: this machine, whatever the DNS says.
  if (/(^|\.)localhost$/.test(host)) return { addresses: ['127.0.0.1', '::1'] }
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)])
  const addresses = answers.flatMap((answer) => (answer.kind === 'records' ? answer.records : []))
  if (addresses.length > 0) return { addresses }
  const failure = answers.find((answer) => answer.kind === 'failed')
  return { failed: failure ? `address of ${host}: ${failure.cause}` : `${host} has no address` }
}

/** A look-up for `node:net` that knows only addresses that were judged. */
export const pinned =
  (addresses: readonly string[]): LookupFunction =>
  (_host, options, callback) =>
    answerLookup(addresses, options, callback)

/** Gives Node what it asked its look-up for: all addresses, or one. */
export function answerLookup(
  addresses: readonly string[],
  options: { all?: boolean | undefined },
  callback: Parameters<LookupFunction>[2],
): void {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  const [first] = all
  if (options.all === true) callback(null, all)
  else callback(null, first?.address ?? '', first?.family)
}
