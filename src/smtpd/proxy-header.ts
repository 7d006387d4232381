import ipaddr from 'ipaddr.js'
import { canonicalAddress } from '../dns/index.js'

/**
 * The PROXY protocol, version 2, as load balancers write it before a client's first byte:
 * https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt §2.2. This is a parser of our own: the most used one of
 * npm (proxy-protocol-js 4.0.6, read on 30 Nov 2026) throws at an incomplete header, and returns TLVs and the client's
 * first bytes as one piece.
 *
 *   signature (12) | version, command | family, protocol | length (2) | addresses and ports | TLVs, which we skip
 */

/** The client behind a proxy. */
export interface ProxiedPeer {
  address: string
  port: number
}

/**
 * What the first bytes of a connection say. `more`: they are too few to know. `read`: the header has `bytes` bytes, and
 * the client's follow; without a `peer` the proxy speaks for itself (LOCAL, as its health checks do), or gives no
 * address.
 */
export type ProxyHeader =
  | { kind: 'more' }
  | { kind: 'read'; bytes: number; peer: ProxiedPeer | undefined }
  | { kind: 'broken'; why: string }

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')
const fixedBytes = 16
// Addresses take 36 at most; the rest is room for certificates' names and the like, which proxies may add.
const mostBytes = 2_048

/** The most bytes that a good header may have. */
export const longestProxyHeader = fixedBytes + mostBytes

const versions = 0x20
const commands = { local: 0, proxy: 1 }
// Family and protocol in one byte. AF_UNSPEC and AF_UNIX have no address that could be a client's.
const families = { unspecified: 0x00, tcp4: 0x11, tcp6: 0x21, unix: 0x31 }

/** Reads the header at the beginning of what has come. */
export function readProxyHeader(begun: Buffer): ProxyHeader {
  const seen = Math.min(begun.length, signature.length)
  if (!begun.subarray(0, seen).equals(signature.subarray(0, seen))) {
    const isOld = 'PROXY '.startsWith(begun.toString('latin1', 0, 6))
    return broken(isOld ? 'it is of version 1, and version 2 is needed' : 'there is none')
  }
  if (begun.length < fixedBytes) return { kind: 'more' }
  const version = begun.readUInt8(12)
  const family = begun.readUInt8(13)
  const length = begun.readUInt16BE(14)
  const command = version & 0x0f
  if ((version & 0xf0) !== versions) return broken('it is of an unknown version')
  // §2.2: "The receiver must drop connections presenting unexpected values here."
  if (command > commands.proxy) return broken('its command is unknown')
  if (length > mostBytes) return broken(`it is longer than ${mostBytes} bytes`)
  const bytes = fixedBytes + length
  if (begun.length < bytes) return { kind: 'more' }
  // §2.2: of LOCAL "the receiver must accept the connection, use the real endpoints and discard the protocol block".
  if (command === commands.local) return { kind: 'read', bytes, peer: undefined }
  const block = begun.subarray(fixedBytes, bytes)
  switch (family) {
    case families.unspecified:
    case families.unix:
      return { kind: 'read', bytes, peer: undefined }
    case families.tcp4:
      return addressesOf(block, 4, bytes)
    case families.tcp6:
      return addressesOf(block, 16, bytes)
    default:
      return broken('its family or protocol is none of TCP')
  }
}

/** Source address, destination address, source port, destination port. */
function addressesOf(block: Buffer, size: 4 | 16, bytes: number): ProxyHeader {
  if (block.length < 2 * size + 4) return broken('it is too short for its addresses')
  const address = ipaddr.fromByteArray([...block.subarray(0, size)]).toString()
  const port = block.readUInt16BE(2 * size)
  return { kind: 'read', bytes, peer: { address: canonicalAddress(address), port } }
}

const broken = (why: string): ProxyHeader => ({ kind: 'broken', why })
