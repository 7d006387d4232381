import { decodeText } from './postal-mime.js'

/** A field of a header. */
export interface HeaderField {
  /** Lower case. */
  name: string
  /** With its folds and the CRLF at its end. */
  raw: Buffer
  /** Unfolded and trimmed, its octets read as UTF-8, or as Latin-1 where they are none. */
  value: string
}

// Real headers have 5 to 60 fields; some fields each cost the look-ups of a signature.
const maxFields = 500

/**
 * The fields of a header in order, or its fault, e.g. `line 3 is no header field`. The header ends
 * with CRLF and has no bare CR or LF.
 */
export function readHeader(header: Buffer): HeaderField[] | string {
  const text = header.toString('latin1')
  const fields: HeaderField[] = []
  for (let start = 0, line = 1; start < text.length; ) {
    let end = text.indexOf('\r\n', start)
    if (end === -1) return 'its header does not end'
    let lines = 1
    while (text[end + 2] === ' ' || text[end + 2] === '\t') {
      end = text.indexOf('\r\n', end + 2)
      if (end === -1) return 'its header does not end'
      lines++
    }
    const colon = text.indexOf(':', start)
    const name = colon === -1 || colon > end ? '' : text.slice(start, colon).trimEnd().toLowerCase()
    if (!/^[!-9;-~]+$/.test(name)) return `line ${line} is no header field`
    if (fields.length === maxFields) return `its header has over ${maxFields} fields`
    const raw = header.subarray(start, end + 2)
    fields.push({ name, raw, value: readValue(raw.subarray(colon + 1 - start)) })
    start = end + 2
    line += lines
  }
  return fields
}

/** Unfolded and trimmed, its octets read as UTF-8, or as Latin-1 where they are none. */
export function readValue(raw: Buffer): string {
  const utf8 = raw.toString('utf8')
  const text = utf8.includes('\ufffd') ? raw.toString('latin1') : utf8
  return text.replace(/\r?\n(?=[ \t])/g, '').trim()
}

/** The value with its encoded-words decoded (RFC 2047), on one line. */
export const readableValue = (value: string): string =>
  decodeText(value)
    .replace(/\p{Cc}+/gu, ' ')
    .trim()

/** RFC 5322 §3.6, RFC 2045: fields that occur at most once; readers differ in which of two they show. */
export const onlyOnce: ReadonlySet<string> = new Set([
  'date',
  'from',
  'sender',
  'reply-to',
  'to',
  'cc',
  'message-id',
  'in-reply-to',
  'references',
  'subject',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
])
