import type { MxHost, TlsaRecord, ValidatedAnswer, ValidatedResolver } from '../../dns/index.js'
import { isUsable, makeAnchors } from './dane-match.js'
import type { TlsDemand } from './demand.js'

/**
 * What DANE says about a domain. `none`: nothing is signed; `failed`: nobody can tell now, so nothing may be sent;
 * else what it demands of each host, undefined where it says nothing.
 */
export type Dane =
  | { kind: 'none' }
  | { kind: 'failed'; cause: string }
  | { kind: 'hosts'; byHost: ReadonlyMap<string, HostDane> }

/** What DANE says about one host; `failed`: the host must not be used now. */
export type HostDane = TlsDemand | { failed: string } | undefined

/** RFC 7672 §2.2. Only a domain whose MX is signed is asked about further. */
export async function lookUpDane(
  dns: ValidatedResolver,
  domain: string,
  hosts: readonly MxHost[],
  port: number,
): Promise<Dane> {
  const mx = await dns.mx(domain)
  // A forged answer looks like a broken one: to go on is what the forger wants (§2.1.1).
  if (mx.kind === 'failed') return { kind: 'failed', cause: `MX of ${domain}: ${mx.cause}` }
  if (!mx.secure) return { kind: 'none' }
  const named = mx.kind === 'records' ? mx.records.map((record) => record.exchange) : [domain]
  const found = await Promise.all(
    hosts.map(async ({ exchange }): Promise<[string, HostDane]> => {
      // The route may come from another resolver, whose answer nobody signed.
      if (!named.includes(exchange)) return [exchange, { failed: 'not among the signed MX' }]
      return [exchange, await hostDane(dns, domain, exchange, port)]
    }),
  )
  return { kind: 'hosts', byHost: new Map(found) }
}

/** Looks one host up: its address first, and its TLSA records only where the zone is signed. */
async function hostDane(
  dns: ValidatedResolver,
  domain: string,
  host: string,
  port: number,
): Promise<HostDane> {
  const address = await dns.a(host)
  if (address.kind === 'failed') return { failed: `address of ${host}: ${address.cause}` }
  // §2.2.2: name servers of unsigned zones that choke on TLSA are never asked for it.
  if (!address.secure) return undefined
  const target = address.name ?? host
  const tlsa = await tlsaOf(dns, target, host, port)
  if (tlsa.kind === 'failed') return { failed: `TLSA of ${host}: ${tlsa.cause}` }
  if (tlsa.kind !== 'records' || !tlsa.secure) return undefined
  const usable = tlsa.records.filter(isUsable)
  // §2.2: unusable records still promise TLS, though not who vouches for it.
  if (usable.length === 0) return { mode: 'require', by: 'DANE, no usable TLSA' }
  return { mode: 'require', verify: makeAnchors(usable, [domain, target]), by: 'DANE' }
}

/** §2.2.3: the records of an alias itself count only where its target has none. */
async function tlsaOf(
  dns: ValidatedResolver,
  target: string,
  host: string,
  port: number,
): Promise<ValidatedAnswer<TlsaRecord>> {
  const first = await dns.tlsa(`_${port}._tcp.${target}`)
  const settled = first.kind === 'failed' || (first.kind === 'records' && first.secure)
  return settled || target === host ? first : await dns.tlsa(`_${port}._tcp.${host}`)
}
