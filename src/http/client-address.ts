import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { OperatorError } from '../errors/index.js'

export type ClientAddress = (peer: string, forwardedFor: string | undefined) => string

/** Whether the peer is one of our own proxies, whose headers count. */
export function makeIsTrusted(trustedProxies: readonly string[]): (peer: string) => boolean {
  const trusted = new BlockList()
  for (const range of trustedProxies) trust(trusted, range)
  return (peer) => {
    const address = plainAddress(peer)
    return isIP(address) !== 0 && trusted.check(address, address.includes(':') ? 'ipv6' : 'ipv4')
  }
}

/**
 * The client's address: the peer or, if the peer is one of `trustedProxies` (addresses or CIDR ranges), the nearest
 * address in X-Forwarded-For that is none of them. The list is read from the right: only the end was appended by
 * our own proxies, and the client may have written the rest. proxy-addr 2.0 is not used. If a hop is no address, it
 * answers with that text (`unknown`, or a client's invention), which rate limits and logs would take for an
 * address; and it brings an older ipaddr.js beside ours.
 */
export function makeClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = new BlockList()
  for (const range of trustedProxies) trust(trusted, range)
  return (peer, forwardedFor) => {
    let address = plainAddress(peer)
    if (forwardedFor === undefined || trustedProxies.length === 0) return address
    const hops = forwardedFor.split(',')
    while (trusted.check(address, address.includes(':') ? 'ipv6' : 'ipv4')) {
      const hop = hops.pop()?.trim() ?? ''
      if (isIP(hop) === 0) break
      address = plainAddress(hop)
    }
    return address
  }
}

/** The part of an address that one client cannot change at will: an IPv6 client owns its /64. */
export function networkKey(address: string): string {
  if (!address.includes(':')) return address
  return beginningOf(address, 4)
}

/**
 * The address of the neighbourhood's network, without the part that names a household: `203.0.113.0`,
 * `2001:db8:1::`.
 */
export function neighbourhoodOf(address: string): string {
  return address.includes(':') ? beginningOf(address, 3) : address.replace(/\.\d+$/, '.0')
}

/** An IPv6 address with only its first `parts` of eight. */
function beginningOf(address: string, parts: number): string {
  const kept = ipaddr.IPv6.parse(address).parts.map((part, at) => (at < parts ? part : 0))
  return new ipaddr.IPv6(kept).toString()
}

/** An address in its one short form, an IPv4-mapped one as IPv4: uWS writes IPv6 out in full. */
export function plainAddress(address: string): string {
  return address.includes(':') ? ipaddr.process(address).toString() : address
}

function trust(list: BlockList, range: string): void {
  const [address = '', bits] = range.split('/')
  const version = isIP(address)
  if (version === 0) throw new OperatorError(`${range} is not an IP address or CIDR range`)
  const family = version === 6 ? 'ipv6' : 'ipv4'
  if (bits === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(bits), family)
}
