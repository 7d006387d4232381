import { isIP } from 'node:net'
import type { DnsAnswer, Resolver } from '../dns/index.js'
import type { DoctorDeps } from './finding.js'

/** An address that mail leaves from, and how the appliance greets from there. */
export interface SourceAddress {
  address: string
  heloName: string
}

/** As configured, with those of pools; else the addresses of the EHLO name. */
export async function findSources(
  deps: Pick<DoctorDeps, 'config' | 'resolver'>,
): Promise<SourceAddress[]> {
  const { heloName, ipFamily, sourceAddresses, pools } = deps.config.outbound
  const pooled = Object.values(pools).flatMap(({ sources }) =>
    sources.flatMap((source) =>
      source.addresses.map((address) => ({ address, heloName: source.heloName ?? heloName })),
    ),
  )
  if (sourceAddresses.length > 0) {
    return [...sourceAddresses.map((address) => ({ address, heloName })), ...pooled]
  }
  const family = { ipv4: 4, ipv6: 6, both: 0 }[ipFamily]
  const { addresses } = await addressesOf(deps.resolver, heloName)
  const usual = addresses.filter((address) => family === 0 || isIP(address) === family)
  return [...usual.map((address) => ({ address, heloName })), ...pooled]
}

/** A host's addresses of both families; `failed` when the DNS gave no answer for one of them. */
export async function addressesOf(
  resolver: Resolver,
  host: string,
): Promise<{ addresses: string[]; failed?: string }> {
  if (isIP(host) !== 0) return { addresses: [host] }
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)])
  const failed = answers.find((answer) => answer.kind === 'failed')
  return {
    addresses: answers.flatMap(recordsOf),
    ...(failed?.kind === 'failed' ? { failed: failed.cause } : {}),
  }
}

export const recordsOf = <T>(answer: DnsAnswer<T>): readonly T[] =>
  answer.kind === 'records' ? answer.records : []
