import type { MessagePart } from './parts.js'
import { readHeader } from './read-header.js'
import { encodePart } from './transfer-encoding.js'

/** The text of a part from its octets; undefined if its encoding or charset is unknown or broken. */
export function textOfPart(
  { encoding, charset }: Pick<MessagePart, 'encoding' | 'charset'>,
  octets: Buffer,
): string | undefined {
  const decoded = decodeOctets(encoding, octets)
  if (decoded === undefined) return undefined
  try {
    // RFC 2046 §4.1.2: us-ascii if none is named; much mail is UTF-8 without saying so.
    const label = charset === '' || charset === 'us-ascii' ? 'utf-8' : charset
    const decoder = new TextDecoder(label, { fatal: true })
    if (decoder.encoding === 'windows-1252') return fromWindows1252(decoded)
    return decoder.decode(decoded)
  } catch {
    return undefined
  }
}

// Node 20 decodes it as Latin-1, which has control characters in place of these.
const windows1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

const fromWindows1252 = (octets: Buffer): string =>
  octets
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (char) => windows1252[char.charCodeAt(0) - 0x80] ?? char)

function decodeOctets(encoding: string, octets: Buffer): Buffer | undefined {
  if (['7bit', '8bit', 'binary'].includes(encoding)) return octets
  if (encoding === 'base64') return Buffer.from(octets.toString('latin1'), 'base64')
  if (encoding !== 'quoted-printable') return undefined
  const text = octets
    .toString('latin1')
    // RFC 2045 §6.7 (3). Matched only from the first blank of a run, as a line of blanks would otherwise cost
    // their square.
    .replace(/(?<![ \t])[ \t]+(?=\r?\n|$)/g, '')
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
  return Buffer.from(text, 'latin1')
}

/**
 * A part with other text: its header, in which only the encoding and a charset other than UTF-8
 * change, and its octets. `header` is the part's former header.
 */
export function partWithText(
  { type, charset }: Pick<MessagePart, 'type' | 'charset'>,
  header: Buffer,
  text: string,
): { header: Buffer; octets: Buffer } {
  const fields = readHeader(header)
  if (typeof fields === 'string') throw new Error(`A part's header is broken: ${fields}`)
  const { encoding, data } = encodePart(text)
  const keepsType = charset === 'utf-8' && fields.some(({ name }) => name === 'content-type')
  const kept = fields.filter(
    ({ name }) => name !== 'content-transfer-encoding' && (keepsType || name !== 'content-type'),
  )
  const own = keepsType ? '' : `Content-Type: ${type}; charset=utf-8\r\n`
  return {
    header: Buffer.concat([
      ...kept.map(({ raw }) => raw),
      Buffer.from(`${own}Content-Transfer-Encoding: ${encoding}\r\n`),
    ]),
    octets: data,
  }
}
