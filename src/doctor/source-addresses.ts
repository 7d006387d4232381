import { isIP } from 'node:net'
import type { Answer, Resolver } from '../dns/index.js'
import type { DoctorDeps } from './deps.js'

/** The addresses that mail leaves from: as configured, else those of the EHLO name. */
export async function sourceAddresses(deps: DoctorDeps): Promise<readonly string[]> {
  const { heloName, ipFamily, sourceAddresses: configured } = deps.config.outbound
  if (configured.length > 0) return configured
  const family = { ipv4: 4, ipv6: 6, both: 0 }[ipFamily]
  const { addresses } = await addressesOf(deps.resolver, heloName)
  return addresses.filter((address) => family === 0 || isIP(address) === family)
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

export const recordsOf = <T>(answer: Answer<T>): readonly T[] =>
  answer.kind === 'records' ? answer.records : []
