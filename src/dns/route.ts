import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { canonicalAddress, isPublicAddress, liesWithin } from './address.js'
import { canonicalName, type DnsAnswer, type MxRecord, type Resolver } from './resolver.js'

export interface RouteOptions {
  /** For the shuffle of equals: `Math.random`, or a seeded one in tests. In [0, 1). */
  random: () => number
  /** Networks (or, with `true`, all) in which mail may go to a private address. */
  allowPrivate?: boolean | readonly string[]
  /** This machine's own addresses: a route to ourselves is a loop, unless allowed above. */
  ownAddresses?: readonly string[]
  ipFamily?: 'both' | 'ipv4' | 'ipv6'
  /** Different addresses, over all hosts together; without this each host has five at most, or four beside others. */
  maxAddresses?: number
}

export interface MxHost {
  exchange: string
  preference: number
  /** In the order to try; never empty. Another host of the route may have the same addresses, under other policies. */
  addresses: string[]
}

/** Where mail for a domain goes. `failed` is temporary, everything else but `hosts` permanent. */
export type MxRoute =
  /** `mx`: all hosts that are named, also those beyond the bounds of what is tried. */
  | { kind: 'hosts'; hosts: MxHost[]; mx: readonly MxRecord[]; implicit: boolean }
  /** RFC 7505: the domain says that it takes no mail (5.1.10). */
  | { kind: 'null-mx' }
  /** 5.1.2, once asked twice: registries do lose names for minutes. */
  | { kind: 'nxdomain' }
  /** The domain exists, but no host that takes its mail has an address (5.4.4). */
  | { kind: 'no-addresses'; cause: string }
  | { kind: 'failed'; cause: string }
  /** Only addresses that a stranger must not make us connect to (5.4.4). */
  | { kind: 'refused'; cause: string }

// RFC 5321 §5.1 wants two addresses tried; these numbers bound what a hostile domain makes us ask. The connecting code
// bounds how many are connected to: a policy may leave only the last host (RFC 8461 §5).
const maxHosts = 10
const hostsAtOnce = 3
// An attempt connects to five, so the second host is among them.
const maxOfOneHost = 5
const maxOfEachHost = 4

/** Finds the hosts that take mail for `domain`, best first (RFC 5321 §5.1). Never rejects. */
export async function routeToMx(
  resolver: Resolver,
  domain: string,
  options: RouteOptions,
): Promise<MxRoute> {
  const name = asciiName(domain)
  if (isLiteral(name)) return { kind: 'refused', cause: `${domain} is an address, not a domain` }
  if (name === '') return { kind: 'nxdomain' }
  const mx = await resolver.mx(name)
  if (mx.kind === 'failed') return { kind: 'failed', cause: `MX of ${name}: ${mx.cause}` }
  if (mx.kind === 'nxdomain') return { kind: 'nxdomain' }
  // RFC 5321 §5.1: the domain's own address counts only where there is no MX at all.
  if (mx.kind === 'none') {
    return locate(resolver, [{ exchange: name, preference: 0 }], true, options)
  }
  // A null MX beside real ones is a mistake (RFC 7505 §3); the real ones stand.
  const real = mx.records.filter((record) => record.exchange !== '')
  if (real.length === 0) return { kind: 'null-mx' }
  const named = real.filter((record) => !isLiteral(record.exchange))
  if (named.length === 0) {
    // RFC 5321 §5.1: an MX names a host; an address there is often an attempt to reach inside.
    return { kind: 'refused', cause: `MX of ${name} is an address, not a host name` }
  }
  return locate(resolver, byPreference(named, options.random), false, options)
}

/** Looks up addresses, best hosts first. */
async function locate(
  resolver: Resolver,
  candidates: MxRecord[],
  implicit: boolean,
  options: RouteOptions,
): Promise<MxRoute> {
  const { maxAddresses = Number.POSITIVE_INFINITY } = options
  const most = candidates.length > 1 ? maxOfEachHost : maxOfOneHost
  const hosts: MxHost[] = []
  const seen = new Set<string>()
  const troubles: { failed?: string; refused?: string } = {}
  for (
    let i = 0;
    i < Math.min(candidates.length, maxHosts) && seen.size < maxAddresses;
    i += hostsAtOnce
  ) {
    const asked = candidates.slice(i, Math.min(i + hostsAtOnce, maxHosts))
    const found = await Promise.all(
      asked.map((mx) => findAddresses(resolver, mx.exchange, options)),
    )
    for (const [j, { exchange, preference }] of asked.entries()) {
      const { addresses = [], failed } = found[j] ?? {}
      if (failed !== undefined) troubles.failed ??= `address of ${exchange}: ${failed}`
      const allowed = addresses.filter((address) => mayConnect(address, options))
      if (allowed.length < addresses.length) {
        troubles.refused ??= `${exchange} is at ${addresses.find((a) => !allowed.includes(a))}`
      }
      const some = allowed.slice(0, most).filter((address) => {
        if (seen.size < maxAddresses) seen.add(address)
        return seen.has(address)
      })
      if (some.length > 0) hosts.push({ exchange, preference, addresses: some })
    }
  }
  if (hosts.length > 0) return { kind: 'hosts', hosts, mx: candidates, implicit }
  // The host that failed may be the one good host: as long as one is unknown, nothing is final.
  if (troubles.failed !== undefined) return { kind: 'failed', cause: troubles.failed }
  if (troubles.refused !== undefined) return { kind: 'refused', cause: troubles.refused }
  const names = candidates.map((mx) => mx.exchange).slice(0, 3)
  return { kind: 'no-addresses', cause: `no address for ${names.join(', ')}` }
}

/** Both families in turn, IPv4 first: so a machine without a working IPv6 loses no attempt. */
async function findAddresses(resolver: Resolver, host: string, options: RouteOptions) {
  const { ipFamily = 'both', random } = options
  const nothing: DnsAnswer<string> = { kind: 'none' }
  const [a, aaaa] = await Promise.all([
    ipFamily === 'ipv6' ? nothing : resolver.a(host),
    ipFamily === 'ipv4' ? nothing : resolver.aaaa(host),
  ])
  const four = a.kind === 'records' ? shuffle(a.records, random) : []
  const six = aaaa.kind === 'records' ? shuffle(aaaa.records, random) : []
  const addresses: string[] = []
  for (let i = 0; i < Math.max(four.length, six.length); i++) {
    addresses.push(...[four[i], six[i]].filter((address) => address !== undefined))
  }
  const failed = a.kind === 'failed' ? a.cause : aaaa.kind === 'failed' ? aaaa.cause : undefined
  return { addresses, failed }
}

function mayConnect(address: string, { allowPrivate = [], ownAddresses = [] }: RouteOptions) {
  if (allowPrivate === true) return isIP(address) !== 0
  const allowed = allowPrivate === false ? [] : allowPrivate
  if (!isPublicAddress(address, allowed)) return false
  const canonical = canonicalAddress(address)
  const own = ownAddresses.some((mine) => canonicalAddress(mine) === canonical)
  return !own || liesWithin(address, allowed)
}

/** RFC 5321 §5.1: lowest preference first, equals in random order. A host that is named twice is tried once. */
function byPreference(records: readonly MxRecord[], random: () => number): MxRecord[] {
  const sorted = shuffle(records, random).sort((x, y) => x.preference - y.preference)
  return sorted.filter((mx, i) => sorted.findIndex((m) => m.exchange === mx.exchange) === i)
}

/** Fisher and Yates; the given list stays as it is. */
function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const left = [...items]
  const order: T[] = []
  while (left.length > 0) order.push(...left.splice(Math.floor(random() * left.length), 1))
  return order
}

/** `[192.0.2.1]`, `2001:db8::1`, and any name whose last label is a number (RFC 3696 §2). */
function isLiteral(name: string): boolean {
  return name.startsWith('[') || isIP(name) !== 0 || /(^|\.)(\d+|0x[\da-f]*)$/i.test(name)
}

/** The name by which the DNS knows a domain: A-labels, lower case; empty when there is none. */
export function asciiName(domain: string): string {
  // Only for names that need it: the URL parser would turn a plain `127.1` into an address.
  return canonicalName(/[^\x00-\x7f]/.test(domain) ? domainToASCII(domain) : domain)
}
