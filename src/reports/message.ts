import { decodeUnlabelled, postalMime } from '../mime/index.js'
import { fieldBlocks } from './fields.js'

/** A mail parsed as far as the bounds allow; strangers wrote all of it. */
export interface Message {
  /** The first value of a header, unfolded and decoded; '' when there is none. */
  header(name: string): string
  /**
   * The mail's text: its text part, else its HTML without the tags; everything below the header if
   * the MIME structure cannot be followed.
   */
  text: string
  /** It came from the null sender (RFC 5321 §4.5.5), according to the envelope or Return-Path. */
  isFromNobody: boolean
  /** All other parts: reports, returned messages, attachments. Bodies with LF line ends. */
  parts: readonly ReportPart[]
  /** The examined bytes with LF line ends, decoded as Latin-1, so that nothing is lost. */
  source: string
}

export interface ReportPart {
  /** Lower case, e.g. `message/delivery-status`. */
  type: string
  body: string
}

// notes/mta.md §3, 'Limits'. Lines are bounded too: 20,000 of them take postal-mime half a second.
const maxBytes = 512 * 1024
const maxLines = 12_000
const maxDelimiters = 200
const maxHeaders = 1_000
const maxParts = 100
const limits = {
  maxNestingDepth: 10,
  maxRfc822NestingDepth: 0,
  maxHeadersSize: 256 * 1024,
  forceRfc822Attachments: true,
} as const

/** Parses a raw mail; never rejects, whatever the bytes are. */
export async function openMessage(raw: Buffer, mailFrom?: string): Promise<Message> {
  const isFromNobody = (header: Message['header']) =>
    mailFrom === '' || /^<(?:>|mailer-daemon)/i.test(header('return-path'))
  const source = bounded(raw.subarray(0, maxBytes).toString('latin1'))
  try {
    const mail = await postalMime().parse(Buffer.from(source, 'latin1'), limits)
    const parts = mail.attachments.slice(0, maxParts)
    const text = withLineFeeds(mail.text || withoutTags(mail.html ?? ''))
    // A relay wrote another boundary into the header: no part is found, although everything is
    // there.
    const isLost = text.trim() === '' && parts.length === 0
    const header = headerReader(mail.headers)
    return {
      header,
      isFromNobody: isFromNobody(header),
      text: isLost || isMisread(text, header, parts.length) ? rawText(source) : text,
      parts: parts.map(({ mimeType, content }) => ({ type: mimeType, body: textOf(content) })),
      source,
    }
  } catch {
    // Too deep or too many headers: single lines can still be found.
    const headers = [...(fieldBlocks(source)[0] ?? [])].map(([key, value]) => ({ key, value }))
    const header = headerReader(headers)
    const text = rawText(source)
    return { header, isFromNobody: isFromNobody(header), text, parts: [], source }
  }
}

const rawText = (source: string) =>
  decodeUnlabelled(Buffer.from(source.slice(Math.max(0, source.indexOf('\n\n'))), 'latin1'))

/** The mail is one unencoded text, in a charset that its header does not name. */
const isMisread = (text: string, header: Message['header'], parts: number) =>
  parts === 0 &&
  text.includes('\ufffd') &&
  /^(?:7bit|8bit|binary|)$/i.test(header('content-transfer-encoding')) &&
  !/^multipart\//i.test(header('content-type'))

/** Cut at the bounds; every line end (CRLF, CR, LF, mixed) becomes LF. */
function bounded(text: string): string {
  // Empty lines before the header would end it.
  const source = text.replace(/\r\r?\n|\r/g, '\n').replace(/^(?:[ \t]{0,1000}\n){1,1000}/, '')
  let lines = 0
  let delimiters = 0
  for (let at = 0; at < source.length; lines++) {
    // RFC 2046 §5.1.1: a line that begins so separates parts; at most two for each part.
    if (source.startsWith('--', at)) delimiters++
    if (lines === maxLines || delimiters > maxDelimiters) return source.slice(0, at)
    const end = source.indexOf('\n', at)
    if (end < 0) break
    at = end + 1
  }
  return source
}

function headerReader(headers: readonly { key: string; value: string }[]) {
  const values = new Map<string, string>()
  for (const { key, value } of headers.slice(0, maxHeaders)) {
    if (!values.has(key)) values.set(key, value.slice(0, 2_000))
  }
  return (name: string) =>
    postalMime()
      .decodeWords(values.get(name) ?? '')
      .trim()
}

function textOf(content: string | ArrayBuffer | Uint8Array): string {
  if (typeof content === 'string') return content
  const bytes = Buffer.from(content as ArrayBuffer)
  // Whatever charset is named: addresses, codes and field names are ASCII in all charsets.
  return withLineFeeds(decodeUnlabelled(bytes))
}

const withLineFeeds = (text: string) => text.replace(/\r\r?\n|\r/g, '\n')

/** Crude, but enough to find words in the text. */
function withoutTags(html: string): string {
  return withoutStyles(html)
    .replace(/<(?:br|p|div|tr|li|h\d)\b[^<>]{0,500}>/gi, '\n')
    .replace(/<[^<>]{0,2000}>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&nbsp;/g, ' ')
    .replace(/&#39;|&apos;|&rsquo;/g, "'")
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
}

/** A style sheet is longer than a report's text. One pass, even if an element is not closed. */
function withoutStyles(html: string): string {
  const lower = html.toLowerCase()
  let kept = ''
  let from = 0
  for (let at = lower.indexOf('<style'); at >= 0; at = lower.indexOf('<style', from)) {
    const end = lower.indexOf('</style', at)
    if (end < 0) break
    kept += html.slice(from, at)
    from = end
  }
  return kept + html.slice(from)
}
