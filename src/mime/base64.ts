// RFC 2045 §6.8: lines of 76, which 57 bytes fill.
const lineChars = 76
const lineBytes = 57

/** Base64 in lines, without a line end after the last. */
export function encodeBase64(bytes: Buffer): Buffer {
  const text = bytes.toString('base64')
  const encoded = Buffer.allocUnsafe(base64Size(bytes.length))
  for (let from = 0, at = 0; from < text.length; from += lineChars) {
    if (from > 0) at += encoded.write('\r\n', at, 'latin1')
    at += encoded.write(text.slice(from, from + lineChars), at, 'latin1')
  }
  return encoded
}

/** The same of bytes in pieces of any size: together they give what they would give in one. */
export async function* base64Lines(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let open: Buffer = Buffer.alloc(0)
  let isFirst = true
  for await (const piece of pieces) {
    const bytes = open.length === 0 ? piece : Buffer.concat([open, piece])
    const end = bytes.length - (bytes.length % lineBytes)
    open = bytes.subarray(end)
    if (end === 0) continue
    if (!isFirst) yield lineEnd
    isFirst = false
    yield encodeBase64(bytes.subarray(0, end))
  }
  if (open.length === 0) return
  if (!isFirst) yield lineEnd
  yield encodeBase64(open)
}

const lineEnd = Buffer.from('\r\n')

/** How long so many bytes get. */
export function base64Size(bytes: number): number {
  const chars = Math.ceil(bytes / 3) * 4
  return chars + 2 * Math.max(0, Math.ceil(chars / lineChars) - 1)
}
