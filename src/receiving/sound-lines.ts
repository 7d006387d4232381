const CR = 13
const LF = 10
// RFC 5322 sets no bound; headers of real mail have a tenth of this.
const mostHeaderBytes = 128 * 1024

/**
 * Why a received mail is not taken, as a reply; undefined: it is. Its lines must end in CRLF: smuggling needs a bare CR
 * or LF (CVE-2023-51764), and a seal over a mail with one would not hold.
 */
export function whyNotTaken(raw: Buffer): string | undefined {
  if (raw.includes(0)) return '550 5.6.0 The message has a NUL (RFC 5322, 4)'
  if (raw[0] === CR || raw.length === 0) return '550 5.6.0 The message has no header'
  if (hasBareLineEnd(raw)) {
    return '550 5.6.0 The message has a bare CR or LF (RFC 5321, 2.3.8)'
  }
  const end = raw.indexOf('\r\n\r\n')
  return (end === -1 ? raw.length : end) > mostHeaderBytes
    ? '552 5.3.4 The header is too large'
    : undefined
}

/** The mail with the empty line that ends its header, which a mail without a body may lack. */
export function withEmptyLine(raw: Buffer): Buffer {
  if (raw.includes('\r\n\r\n')) return raw
  return Buffer.concat([raw, Buffer.from(raw.subarray(-2).equals(lineEnd) ? '\r\n' : '\r\n\r\n')])
}

const lineEnd = Buffer.from('\r\n')

function hasBareLineEnd(raw: Buffer): boolean {
  for (let at = raw.indexOf(LF); at !== -1; at = raw.indexOf(LF, at + 1)) {
    if (at === 0 || raw[at - 1] !== CR) return true
  }
  for (let at = raw.indexOf(CR); at !== -1; at = raw.indexOf(CR, at + 1)) {
    if (raw[at + 1] !== LF) return true
  }
  return false
}
