import { encodePart, type TransferEncoding } from './transfer-encoding.js'

/** The text and HTML of a mail, encoded; shared by every message that carries the same content. */
export type BodyParts = readonly [EncodedPart, ...EncodedPart[]]

interface EncodedPart {
  type: 'text/plain' | 'text/html'
  encoding: TransferEncoding
  data: Buffer
}

/** Encodes the content once; without `text` and `html` it is one empty text part. */
export function composeParts(text: string | undefined, html?: string): BodyParts {
  if (html === undefined) return [{ type: 'text/plain', ...encodePart(text ?? '') }]
  const htmlPart: EncodedPart = { type: 'text/html', ...encodePart(html) }
  return text === undefined ? [htmlPart] : [{ type: 'text/plain', ...encodePart(text) }, htmlPart]
}

/** The body, and the Content-* fields that describe it. */
export function assembleBody(
  parts: BodyParts,
  boundaryFor: (attempt: number) => string,
): { fields: string; body: Buffer } {
  if (parts.length === 1) {
    const [part] = parts
    return { fields: partFields(part), body: endLine(part.data) }
  }
  const boundary = unusedBoundary(parts, boundaryFor)
  const chunks: Buffer[] = []
  for (const part of parts) {
    chunks.push(Buffer.from(`--${boundary}\r\n${partFields(part)}\r\n`, 'latin1'), part.data, crlf)
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`, 'latin1'))
  return {
    fields: `Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n`,
    body: Buffer.concat(chunks),
  }
}

/** A part as it stands between boundaries, without the line end before the next. */
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

function endLine(data: Buffer): Buffer {
  const ended = data.length >= 2 && data[data.length - 2] === 0x0d && data[data.length - 1] === 0x0a
  return ended ? data : Buffer.concat([data, crlf])
}
