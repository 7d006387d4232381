import { type EncodedText, encodePart } from './transfer-encoding.js'

/** The text and HTML of a mail, encoded; shared by every message that carries the same content. */
export type BodyParts = readonly [EncodedPart, ...EncodedPart[]]

interface EncodedPart extends EncodedText {
  type: 'text/plain' | 'text/html'
}

/** Encodes the content once; without `text` and `html` it is one empty text part. */
export function composeParts(text: string | undefined, html?: string): BodyParts {
  if (html === undefined) return [encodedPart('text/plain', text ?? '')]
  const htmlPart = encodedPart('text/html', html)
  return text === undefined ? [htmlPart] : [encodedPart('text/plain', text), htmlPart]
}

// Parts that recent mails share: copies to several recipients, or similar mails, whose deliveries
// come close together.
const latest: { text: string; ending: string; part: EncodedPart }[] = []
const maxLatest = 8
const maxLatestChars = 64 * 1024
// Similar mails differ late: each recipient's own pixel and footer are at the end.
const endingChars = 500

function encodedPart(type: EncodedPart['type'], text: string): EncodedPart {
  const ending = text.slice(-endingChars)
  const at = latest.findIndex(
    (one) => one.part.type === type && one.ending === ending && one.text === text,
  )
  const [found] = at < 0 ? [] : latest.splice(at, 1)
  const entry = found ?? { text, ending, part: { type, ...encodePart(text) } }
  if (text.length > maxLatestChars) return entry.part
  latest.unshift(entry)
  if (latest.length > maxLatest) latest.pop()
  return entry.part
}

/** A body in pieces, and the Content-* fields that describe it. */
export interface AssembledBody {
  fields: string
  pieces: readonly Buffer[]
  /** Already in DKIM's relaxed form, except for empty lines at its end. */
  isRelaxed: boolean
  /** A line of it begins with a dot. */
  isDotted: boolean
}

/** Joins the parts; a single part needs no boundaries. */
export function assembleBody(
  parts: BodyParts,
  boundaryFor: (attempt: number) => string,
): AssembledBody {
  const known = {
    isRelaxed: parts.every((part) => part.isRelaxed),
    isDotted: parts.some((part) => part.isDotted),
  }
  if (parts.length === 1) {
    const [part] = parts
    return { fields: partFields(part), pieces: endLine(part.data), ...known }
  }
  const boundary = unusedBoundary(parts, boundaryFor)
  const pieces: Buffer[] = []
  for (const part of parts) {
    pieces.push(Buffer.from(`--${boundary}\r\n${partFields(part)}\r\n`, 'latin1'), part.data, crlf)
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`, 'latin1'))
  const fields = `Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n`
  return { fields, pieces, ...known }
}

/** A part in the form between boundaries, without the line end before the next. */
export const rawPart = (part: EncodedPart): Buffer =>
  Buffer.concat([Buffer.from(`${partFields(part)}\r\n`, 'latin1'), part.data])

const crlf = Buffer.from('\r\n')

function partFields({ type, encoding }: EncodedPart): string {
  return `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n`
}

/** Neither base64 nor quoted-printable can contain `=_`; a 7bit part can contain anything. */
function unusedBoundary(parts: BodyParts, boundaryFor: (attempt: number) => string): string {
  for (let attempt = 0; ; attempt++) {
    const boundary = boundaryFor(attempt)
    const delimiter = `--${boundary}`
    if (!parts.some((part) => part.encoding === '7bit' && part.data.includes(delimiter))) {
      return boundary
    }
  }
}

function endLine(data: Buffer): Buffer[] {
  const ended = data.length >= 2 && data[data.length - 2] === 0x0d && data[data.length - 1] === 0x0a
  return ended ? [data] : [data, crlf]
}
