// RFC 2045 §6.8: lines of 76, which 57 bytes fill.
const lineChars = 76

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

/** How long so many bytes get. */
export function base64Size(bytes: number): number {
  const chars = Math.ceil(bytes / 3) * 4
  return chars + 2 * Math.max(0, Math.ceil(chars / lineChars) - 1)
}
