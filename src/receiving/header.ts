import { readableValue } from '../mime/index.js'

/** A field of a header, for people and programs to read. */
export interface ReadField {
  name: string
  value: string
}

// With the fields that identify a mail, there are 200 at most.
const mostFields = 190
const mostValueBytes = 8_000
const mostValueChars = 2_000
const mainNames = [
  'from',
  'to',
  'subject',
  'date',
  'message-id',
  'in-reply-to',
  'references',
  'auto-submitted',
]

/**
 * The fields of a header with CRLF lines, in their order: unfolded, encoded words decoded, without control characters
 * and direction marks. Lines that are no fields are left out; after the first 190, so are all fields that do not
 * identify a mail.
 */
export function fieldsOf(header: Buffer): ReadField[] {
  const fields: ReadField[] = []
  const main = new Set(mainNames)
  const unfolded = header.toString('latin1').replace(/\r\n(?=[ \t])/g, '')
  for (const line of unfolded.split('\r\n')) {
    const [, name, value] = /^([!-9;-~]{1,100})[ \t]*:(.*)$/s.exec(line) ?? []
    if (name === undefined || value === undefined) continue
    const isMain = main.delete(name.toLowerCase())
    if (fields.length >= mostFields && !isMain) continue
    const isThread = name.toLowerCase() === 'references'
    const shorten = isThread ? withoutMiddle : (text: string, most: number) => text.slice(0, most)
    const octets = Buffer.from(shorten(value, mostValueBytes), 'latin1')
    const utf8 = octets.toString('utf8')
    const text = utf8.includes('\ufffd') ? octets.toString('latin1') : utf8
    fields.push({ name, value: shorten(withoutMarks(readableValue(text)), mostValueChars) })
  }
  return fields
}

/** The text without marks that would turn the direction of what follows, even after the text's end. */
export const withoutMarks = (text: string): string =>
  text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '')

/** RFC 5322 §3.6.4: of a long thread the beginning counts, and the nearest mails, which come last. */
function withoutMiddle(text: string, most: number): string {
  if (text.length <= most) return text
  const begun = Math.floor(most / 4)
  return `${text.slice(0, begun)} ... ${text.slice(begun + 5 - most)}`
}

/** The header without some of its fields; all others stay byte for byte. */
export function headerWithout(header: Buffer, isLeftOut: (field: ReadField) => boolean): Buffer {
  const fields = header.toString('latin1').split(/(?<=\r\n)(?![ \t])/)
  const kept = fields.filter((field) => {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:(.*)$/s.exec(field) ?? []
    return name === undefined || value === undefined || !isLeftOut({ name, value })
  })
  return kept.length === fields.length ? header : Buffer.from(kept.join(''), 'latin1')
}

/** RFC 8601 §5: a result that names `mta`. Only we may write one, so in a received mail it is a stranger's. */
export function isOwnResult({ name, value }: ReadField, mta: string): boolean {
  if (name.toLowerCase() !== 'authentication-results') return false
  const server = /^(?:\s|\([^)]*\))*"?([^\s;"(]*)/.exec(value)?.[1] ?? ''
  return server.toLowerCase().replace(/\.$/, '') === mta.toLowerCase()
}
