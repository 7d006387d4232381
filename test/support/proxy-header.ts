import ipaddr from 'ipaddr.js'

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex')

/** A header of the PROXY protocol, version 2, byte by byte; each part may be made wrong. */
export function proxyHeader(
  client: string | undefined,
  {
    port = 40_000,
    version = 2,
    command = client === undefined ? 0 : 1,
    family,
    more = Buffer.alloc(0),
    length,
  }: {
    port?: number
    version?: number
    command?: number
    family?: number
    /** TLVs after the addresses. */
    more?: Buffer
    /** The length that it claims. */
    length?: number
  } = {},
): Buffer {
  const address = client === undefined ? Buffer.alloc(0) : addresses(client, port)
  const usual = client === undefined ? 0x00 : client.includes(':') ? 0x21 : 0x11
  const block = Buffer.concat([address, more])
  const head = Buffer.from([(version << 4) | command, family ?? usual, 0, 0])
  head.writeUInt16BE(length ?? block.length, 2)
  return Buffer.concat([signature, head, block])
}

/** From the client, to ourselves. */
function addresses(client: string, port: number): Buffer {
  const from = Buffer.from(ipaddr.parse(client).toByteArray())
  const ports = Buffer.alloc(4)
  ports.writeUInt16BE(port)
  ports.writeUInt16BE(25, 2)
  return Buffer.concat([from, Buffer.alloc(from.length, 1), ports])
}
