import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { keepNewest } from '../bounded/index.js'

/**
 * Whether a remote party may make us connect to `address`: it is on the public internet, or lies
 * in one of the `allowed` networks (`['10.0.0.0/8', 'fd00::/8']`). An IPv4 address inside an
 * IPv4-mapped or NAT64 form is judged as itself; 6to4 and Teredo are refused. Text that is not
 * a plain address (a name, `0x7f.1`, `2130706433`) is never public.
 */
export function isPublicAddress(address: string, allowed: readonly string[] = []): boolean {
  // ipaddr.js also reads the old inet_aton forms; a resolver never returns those.
  if (isIP(address) === 0) return false
  // RFC 4291 §2.5.5.1, deprecated; ipaddr.js takes it for the mapped form, but the system does not.
  if (/^::\d+\./.test(address)) return false
  return isGlobalUnicast(unwrap(ipaddr.parse(address))) || liesWithin(address, allowed)
}

/** Whether `address` lies in one of the networks. */
export function liesWithin(address: string, within: readonly string[]): boolean {
  const ip = unwrap(ipaddr.parse(address))
  return parseCidrs(within).some(([network, bits]) => {
    return ip.kind() === network.kind() && ip.match(network, bits)
  })
}

/** Reads `10.0.0.0/8`; a single address stands for itself. Throws on anything else. */
export function parseCidrs(texts: readonly string[]): Network[] {
  return texts.map((text) => {
    const known = networks.get(text)
    if (known !== undefined) return known
    const network = readNetwork(text)
    keepNewest(networks, text, network, maxNetworks)
    return network
  })
}

// Every connection asks about the same few networks, those of the configuration.
const networks = new Map<string, Network>()
const maxNetworks = 1_000

function readNetwork(text: string): Network {
  if (isIP(text) !== 0) return [ipaddr.parse(text), isIP(text) === 4 ? 32 : 128]
  if (!ipaddr.isValidCIDR(text) || isIP(text.slice(0, text.indexOf('/'))) === 0) {
    throw new Error(`'${text}' is not a network; expected an address or CIDR like 10.0.0.0/8`)
  }
  return ipaddr.parseCIDR(text)
}

/** An address without the forms that lead to the same place (`::ffff:192.0.2.1` is 192.0.2.1). */
export function canonicalAddress(address: string): string {
  return isIP(address) === 0 ? address : unwrap(ipaddr.parse(address)).toString()
}

/** The labels under which the DNS keeps an address: `1.2.0.192`, or the nibbles of an IPv6 one. */
export function reverseLabels(address: string): string {
  const ip = ipaddr.process(address)
  const bytes = ip.toByteArray().reverse()
  if (ip.kind() === 'ipv4') return bytes.join('.')
  return bytes.flatMap((byte) => [byte & 15, byte >> 4].map((n) => n.toString(16))).join('.')
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
// RFC 6052 §2.1: the well-known prefix. On a network with DNS64 every IPv4-only host has such an address.
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

function unwrap(ip: Address): Address {
  if (!(ip instanceof ipaddr.IPv6)) return ip
  if (ip.isIPv4MappedAddress()) return ip.toIPv4Address()
  return ip.match(nat64) ? new ipaddr.IPv4(ip.toByteArray().slice(12)) : ip
}

function isGlobalUnicast(ip: Address): boolean {
  // RFC 4291 §2.4, IANA: nothing outside 2000::/3 is allocated, so addresses for which ipaddr.js has no name (above all
  // the IPv4-compatible ::/96) stay out as well.
  if (ip instanceof ipaddr.IPv6 && !ip.match(globalUnicast)) return false
  return ip.range() === 'unicast'
}
