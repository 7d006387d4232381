/** A header field in relaxed form (RFC 6376 §3.4.2), without its CRLF. */
export interface RelaxedField {
  name: string
  /** `name:value`, octets as Latin-1 characters. */
  line: string
}

/**
 * The fields of a header in relaxed form, in order. Octets travel as Latin-1 characters, one
 * each, since strings are much faster here than Buffers. Throws TypeError on what is no field.
 */
export function relaxHeader(header: Buffer): RelaxedField[] {
  const text = header.toString('latin1')
  if (!text.endsWith('\r\n')) throw new TypeError('The header does not end with CRLF')
  const fields: RelaxedField[] = []
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('\r\n', start)
    while (text[end + 2] === ' ' || text[end + 2] === '\t') end = text.indexOf('\r\n', end + 2)
    fields.push(relaxField(text.slice(start, end)))
    start = end + 2
  }
  return fields
}

function relaxField(field: string): RelaxedField {
  const colon = field.indexOf(':')
  const name = field.slice(0, Math.max(colon, 0)).trim().toLowerCase()
  if (!/^[!-9;-~]+$/.test(name)) throw new TypeError('The header has a line that is no field')
  // The order matters: unfold, then collapse, then trim; only SP and HTAB count as white space.
  const value = field
    .slice(colon + 1)
    .replaceAll('\r\n', '')
    .replace(/[\t ]+/g, ' ')
  if (/[\r\n]/.test(value)) throw new TypeError(`${name} contains a bare CR or LF`)
  const from = value.startsWith(' ') ? 1 : 0
  const to = value.length > from && value.endsWith(' ') ? value.length - 1 : value.length
  return { name, line: `${name}:${value.slice(from, to)}` }
}
