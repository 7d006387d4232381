import ipaddr from 'ipaddr.js'
import { canonicalAddress } from '../dns/index.js'

/** One subscriber's: an IPv4 address, or a /64 (RFC 6177), however many addresses it has. */
export const sourceOf = (address: string) => prefixOf(address, 32, 64)

/**
 * What is let to one customer as a rule, who then has all of its addresses: an IPv4 /24, or an IPv6
 * /56. Shares are by network, so that renting more addresses gives no more room.
 */
export const networkOf = (address: string) => prefixOf(address, 24, 56)

function prefixOf(address: string, bits4: number, bits6: number): string {
  const plain = canonicalAddress(address).replace(/%.*$/, '')
  if (ipaddr.IPv6.isValid(plain)) {
    return `${ipaddr.IPv6.networkAddressFromCIDR(`${plain}/${bits6}`)}/${bits6}`
  }
  if (bits4 === 32 || !ipaddr.IPv4.isValidFourPartDecimal(plain)) return plain
  return `${ipaddr.IPv4.networkAddressFromCIDR(`${plain}/${bits4}`)}/${bits4}`
}
