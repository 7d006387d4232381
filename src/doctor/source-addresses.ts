import { isIP } from 'node:net'
import { seenAddress } from '../config/index.js'
import type { DnsAnswer, Resolver } from '../dns/index.js'
import type { DoctorDeps } from './finding.js'

/** An address that mail leaves from, and how the appliance greets from there. */
export interface SourceAddress {
  address: string
  heloName: string
}

/** The known addresses; `failed` says why there may be more: the DNS gave no answer for one family. */
export interface FoundSources {
  sources: SourceAddress[]
  failed?: string
}

/**
 * The configured addresses as the world sees them, pools included; otherwise the addresses of the EHLO
 * name.
 */
export async function findSources(
  deps: Pick<DoctorDeps, 'config' | 'resolver'>,
): Promise<FoundSources> {
  const { outbound } = deps.config
  const { heloName, ipFamily, sourceAddresses, pools } = outbound
  const seen = (address: string) => seenAddress(outbound, address)
  const pooled = Object.values(pools).flatMap(({ sources }) =>
    sources.flatMap((source) =>
      source.addresses.map((address) => ({
        address: seen(address),
        heloName: source.heloName ?? heloName,
      })),
    ),
  )
  if (sourceAddresses.length > 0) {
    const usual = sourceAddresses.map((address) => ({ address: seen(address), heloName }))
    return { sources: [...usual, ...pooled] }
  }
  const { addresses, ...rest } = await addressesOf(deps.resolver, heloName, ipFamily)
  return { sources: [...addresses.map((address) => ({ address, heloName })), ...pooled], ...rest }
}

/**
 * A host's addresses of both families, or of one; `failed` if the DNS gave no answer for one of the wanted families.
 */
export async function addressesOf(
  resolver: Resolver,
  host: string,
  ipFamily: 'ipv4' | 'ipv6' | 'both' = 'both',
): Promise<{ addresses: string[]; failed?: string }> {
  if (isIP(host) !== 0) return { addresses: [host] }
  const answers = await Promise.all([
    ...(ipFamily === 'ipv6' ? [] : [resolver.a(host)]),
    ...(ipFamily === 'ipv4' ? [] : [resolver.aaaa(host)]),
  ])
  const failed = answers.find((answer) => answer.kind === 'failed')
  return {
    addresses: answers.flatMap(recordsOf),
    ...(failed?.kind === 'failed' ? { failed: failed.cause } : {}),
  }
}

export const recordsOf = <T>(answer: DnsAnswer<T>): readonly T[] =>
  answer.kind === 'records' ? answer.records : []
