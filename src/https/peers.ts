import { randomFillSync } from 'node:crypto'

/*
 * The addresses of clients whose TLS has ended: a table in memory that the TLS thread shares with the server
 * behind. A connection tells that server only a token, in place of the address in a PROXY header (version
 * 2). uWS takes such a header before every request, even the client's own, so that an address could be made
 * up; a token of 12 random bytes cannot.
 */

// slot, secret | length, text
const tokenBytes = 16
const secretAt = 4
const lengthAt = 16
const textAt = 17
const rowBytes = 64
const maxText = rowBytes - textAt

/** https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt §2.2: version 2, TCP over IPv6, 36 bytes. */
const header = Buffer.from('0d0a0d0a000d0a515549540a21210024', 'hex')
const preambleBytes = header.length + 36

/**
 * The memory in which the TLS threads tell the others each connection's client; a row for each
 * connection.
 */
export function makePeerTable(connections: number): SharedArrayBuffer {
  return new SharedArrayBuffer(connections * rowBytes)
}

export interface Seat {
  /** What goes to the server before the client's first byte. */
  preamble: Buffer
  leave(): void
}

/** For the thread that ends TLS: notes a client's address until it leaves; undefined if no row is free. */
export function openSeats(table: SharedArrayBuffer): (address: string) => Seat | undefined {
  const rows = Buffer.from(table)
  const free = Array.from({ length: table.byteLength / rowBytes }, (_, slot) => slot).reverse()
  return (address) => {
    const slot = free.pop()
    if (slot === undefined) return undefined
    const row = rows.subarray(slot * rowBytes, (slot + 1) * rowBytes)
    // Written last, as look-ups compare it.
    row[lengthAt] = row.write(address, textAt, maxText, 'latin1')
    row.writeUInt32BE(slot)
    randomFillSync(row, secretAt, tokenBytes - secretAt)
    const preamble = Buffer.alloc(preambleBytes)
    header.copy(preamble)
    row.copy(preamble, header.length, 0, tokenBytes)
    return {
      preamble,
      leave() {
        row.fill(0, 0, tokenBytes)
        free.push(slot)
      },
    }
  }
}

/** For the server behind: the address that a token stands for; undefined when nobody there has it. */
export function makePeerLookup(
  table: SharedArrayBuffer,
): (token: ArrayBuffer) => string | undefined {
  const rows = Buffer.from(table)
  return (given) => {
    const token = Buffer.from(given)
    if (token.length !== tokenBytes) return undefined
    const at = token.readUInt32BE() * rowBytes
    const row = rows.subarray(at, at + rowBytes)
    if (row.length !== rowBytes || isEmpty(token) || !holds(row, token)) return undefined
    const text = row.toString('latin1', textAt, textAt + (row[lengthAt] ?? 0))
    // The client may have left meanwhile, and another may have its row.
    return holds(row, token) ? text : undefined
  }
}

const holds = (row: Buffer, token: Buffer) => token.equals(row.subarray(0, tokenBytes))

// A free row looks like this.
const isEmpty = (token: Buffer) => token.subarray(secretAt).every((byte) => byte === 0)
