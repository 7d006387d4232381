import { decodeText, postalMime } from './postal-mime.js'
import { readableValue, readValue } from './read-header.js'

/** A mail parsed for reading. Everything in it is the sender's: escape it. */
export interface MessageContent {
  /** In the order of the message, unfolded, encoded words decoded. */
  headers: { name: string; value: string }[]
  text: string | undefined
  html: string | undefined
  attachments: { filename: string; mimeType: string; sizeBytes: number }[]
  /**
   * `cut`: only the beginning was read; `broken`: the MIME structure is too broken or too deep to
   * read.
   */
  incomplete: 'cut' | 'broken' | undefined
}

// Measured 2026-11: 20,000 lines of hostile MIME take postal-mime up to half a second, here of the
// main thread; 10 MB of boundaries took it a minute.
const maxBytes = 1024 * 1024
const maxLines = 20_000
const maxGlimpseBytes = 64 * 1024
const maxHeaders = 200
const maxHeaderChars = 4_000
const limits = { maxNestingDepth: 30, maxRfc822NestingDepth: 2, maxHeadersSize: 256 * 1024 }

/**
 * Parses a mail as far as it can be read quickly; `whole` parses all of it, however long that takes, for
 * mail from trusted writers. Never rejects.
 */
export async function readMessageContent(
  raw: Buffer,
  { whole = false } = {},
): Promise<MessageContent> {
  const head = whole ? raw : raw.subarray(0, readableBytes(raw))
  const cut = head.length < raw.length
  try {
    const mail = await postalMime().parse(head, limits)
    return {
      headers: mail.headers.slice(0, maxHeaders).map(({ originalKey, value }) => ({
        name: originalKey.slice(0, 100),
        value: decodeText(value.slice(0, maxHeaderChars)),
      })),
      text: mail.text,
      html: mail.html,
      attachments: mail.attachments.slice(0, 100).map((part) => ({
        ...nameAndType(part),
        sizeBytes: typeof part.content === 'string' ? part.content.length : part.content.byteLength,
      })),
      incomplete: cut || mail.headers.length > maxHeaders ? 'cut' : undefined,
    }
  } catch {
    return {
      headers: [],
      text: undefined,
      html: undefined,
      attachments: [],
      incomplete: 'broken',
    }
  }
}

/**
 * The pictures that a mail's HTML can show by `cid:` (RFC 2392), as far as they lie within the part that
 * is read.
 */
export async function readPictures(
  raw: Buffer,
): Promise<{ contentId: string; mimeType: string; bytes: Uint8Array }[]> {
  try {
    const mail = await postalMime().parse(raw.subarray(0, readableBytes(raw)), limits)
    return mail.attachments.flatMap(({ contentId, mimeType, content }) =>
      contentId === undefined || typeof content === 'string'
        ? []
        : [
            {
              contentId: contentId.replace(/^<|>$/g, ''),
              mimeType,
              bytes: new Uint8Array(content),
            },
          ],
    )
  } catch {
    return []
  }
}

/**
 * An attachment by its place among `attachments`. Reads the whole mail, which must come from a trusted
 * writer.
 */
export async function readAttachment(
  raw: Buffer,
  index: number,
): Promise<{ filename: string; mimeType: string; bytes: Buffer } | undefined> {
  const mail = await postalMime().parse(raw, limits)
  const part = mail.attachments[index]
  if (part === undefined) return undefined
  const { content } = part
  const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)
  return { ...nameAndType(part), bytes: Buffer.from(bytes) }
}

/**
 * What the list shows of a mail. Reads the beginning of its header once and decodes two fields: listeners for
 * strangers call this, and postal-mime's time grows with the square of the lines.
 */
export function glimpseHeader(raw: Buffer): { subject: string; from: string } {
  const beginning = raw.toString('latin1', 0, maxGlimpseBytes)
  const header = beginning.slice(0, /(?:^|\r?\n)\r?\n/.exec(beginning)?.index)
  const values = new Map<string, string>()
  for (const [, name = '', value = ''] of header.matchAll(shownFields)) {
    const key = name.toLowerCase()
    if (!values.has(key)) values.set(key, value.slice(0, maxHeaderChars))
  }
  const read = (name: string) =>
    readableValue(readValue(Buffer.from(values.get(name) ?? '', 'latin1')))
  return { subject: line(read('subject'), 500), from: line(read('from'), 320) }
}

const shownFields = /^(subject|from)[ \t]*:(.*(?:\r?\n[ \t].*)*)/gim

function nameAndType({ filename, mimeType }: { filename: string | null; mimeType: string }) {
  return { filename: line(filename ?? '', 200) || 'unnamed', mimeType: line(mimeType, 100) }
}

function readableBytes(raw: Buffer): number {
  let at = 0
  for (let lines = 0; lines < maxLines; lines++) {
    const next = raw.indexOf(0x0a, at)
    if (next === -1) return Math.min(raw.length, maxBytes)
    if (next >= maxBytes) return maxBytes
    at = next + 1
  }
  return at
}

/** One line without control characters. */
function line(text: string, maxChars: number): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, maxChars)
}
