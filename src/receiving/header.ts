import { readableValue } from '../mime/index.js'

/** A field of a header, for people and programs to read. */
export interface ReadField {
  name: string
  value: string
}

const mostFields = 500
const mostValueBytes = 8_000
const mostValueChars = 2_000

/**
 * The fields of a header, CRLF lines, in their order: unfolded, encoded words decoded, no control character in any. A line
 * that is no field is left out, as everything after the first 500.
 */
export function fieldsOf(header: Buffer): ReadField[] {
  const fields: ReadField[] = []
  const unfolded = header.toString('latin1').replace(/\r\n(?=[ \t])/g, '')
  for (const line of unfolded.split('\r\n', 2_000)) {
    const [, name, value] = /^([!-9;-~]{1,100})[ \t]*:(.*)$/s.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    if (fields.length === mostFields) break
    const octets = Buffer.from(value.slice(0, mostValueBytes), 'latin1')
    const utf8 = octets.toString('utf8')
    const text = utf8.includes('\ufffd') ? octets.toString('latin1') : utf8
    fields.push({ name, value: readableValue(text).slice(0, mostValueChars) })
  }
  return fields
}
