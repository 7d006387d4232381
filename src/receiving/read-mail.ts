import { isAscii } from 'node:buffer'
import { createHash } from 'node:crypto'
import { hashBody } from '../dkim/index.js'
import type { Resolver } from '../dns/index.js'
import { messageOf } from '../errors/index.js'
import { ownWords, postalMime, readableValue, textOfHtml } from '../mime/index.js'
import { type Authenticated, authenticateMail, autoReplyOf } from '../reports/index.js'
import { fieldsOf, isOwnResult, withoutMarks } from './header.js'

/** What is known of the session by which a mail came. */
export interface MailOrigin {
  remoteAddress: string
  helo: string
  /** Empty for the null sender. */
  mailFrom: string
  /** The name of this appliance. */
  mta: string
}

/** A parsed mail. Everything in it comes from its sender. */
export interface ReadMail extends Authenticated {
  /** In the order of the message: unfolded, encoded words decoded, without control characters. */
  headers: { name: string; value: string }[]
  from: string
  to: string
  subject: string
  /** With its angle brackets; empty: there is none. */
  messageId: string
  inReplyTo: string
  references: string[]
  text: string | null
  /** What the text quotes of the answered mail. */
  quoted: string | null
  html: string | null
  attachments: ReadAttachment[]
  /** Why a machine seems to have written it. */
  automatic: string | null
  /** What forwarding needs: `bh=` of its body, and whether it has octets over 127. */
  bodyHash: string
  eightBit: boolean
  smtpUtf8: boolean
  /** Why its parts could not be read; null: they were. */
  fault: string | null
}

/** A file of a mail. */
export interface ReadAttachment {
  filename: string
  contentType: string
  disposition: 'attachment' | 'inline'
  /** Without angle brackets; empty: there is none. */
  contentId: string
  sha256: string
  bytes: Uint8Array
}

const limits = { maxNestingDepth: 30, maxRfc822NestingDepth: 2, maxHeadersSize: 256 * 1024 }
const mostAttachments = 100
const mostTextChars = 512 * 1024
const mostHtmlChars = 2 * 1024 * 1024
const mostReferences = 100

/**
 * Parses a mail and checks who has sent it; for a thread that may be lost. A mail whose parts cannot be told apart has
 * only its header.
 */
export async function readMail(
  raw: Buffer,
  origin: MailOrigin,
  resolver: Resolver,
): Promise<ReadMail> {
  const bodyAt = raw.indexOf('\r\n\r\n') + 4
  const { first, ...header } = headerOf(raw)
  const checking = authenticateMail(resolver, raw, { ...origin, arc: true })
  // A fault in one must not end the thread while the other is under way.
  const taking = partsOf(raw).then(
    (parts) => ({ ...parts, fault: null }),
    (error: unknown) => ({ text: null, html: null, attachments: [], fault: faultOf(error) }),
  )
  const [authenticated, parts] = await Promise.all([checking, taking])
  const text = parts.text ?? (parts.html === null ? null : textOfHtml(parts.html).text)
  const words = text === null ? { own: null, quoted: null } : ownWords(text)
  const automatic =
    autoReplyOf({ header: first, parts: parts.attachments.map(typeOf) }) ??
    (origin.mailFrom === '' ? 'the null sender' : undefined) ??
    null
  return {
    ...authenticated,
    ...header,
    headers: header.headers.filter((field) => !isOwnResult(field, origin.mta)),
    text: words.own,
    quoted: words.quoted,
    html: parts.html,
    attachments: parts.attachments,
    automatic,
    bodyHash: await hashBody(piecesOf(raw.subarray(bodyAt))),
    eightBit: !isAscii(raw.subarray(bodyAt)),
    smtpUtf8: !isAscii(raw.subarray(0, bodyAt)),
    fault: parts.fault,
  }
}

/** What the header of a mail says; this costs little, whatever it contains. */
export function headerOf(raw: Buffer) {
  const headers = fieldsOf(raw.subarray(0, raw.indexOf('\r\n\r\n') + 2))
  const first = (name: string) =>
    headers.find((field) => field.name.toLowerCase() === name)?.value ?? ''
  return {
    first,
    headers,
    from: first('from'),
    to: first('to'),
    subject: first('subject'),
    messageId: idsIn(first('message-id'))[0] ?? '',
    inReplyTo: idsIn(first('in-reply-to'))[0] ?? '',
    references: threadIn(first('references')),
  }
}

// Control characters except tab and line ends: a screen or a printer would act on them.
const notText = /(?![\t\n\r])\p{Cc}/gu

async function partsOf(raw: Buffer) {
  const mail = await postalMime().parse(raw, limits)
  return {
    text: mail.text?.slice(0, mostTextChars).replace(notText, '') ?? null,
    html: mail.html?.slice(0, mostHtmlChars) ?? null,
    attachments: mail.attachments.slice(0, mostAttachments).map((part, index): ReadAttachment => {
      const { content, contentId, disposition, mimeType } = part
      const bytes = new Uint8Array(typeof content === 'string' ? Buffer.from(content) : content)
      return {
        filename: safeName(part.filename ?? '') || `file-${index + 1}`,
        contentType: safeType(mimeType),
        disposition: disposition === 'inline' ? 'inline' : 'attachment',
        contentId: oneLine(contentId ?? '', 200).replace(/^<|>$/g, ''),
        sha256: createHash('sha256').update(bytes).digest('hex'),
        bytes,
      }
    }),
  }
}

/** In our own words: those of the library are for programmers. */
function faultOf(error: unknown): string {
  const told = messageOf(error)
  if (/nesting/i.test(told)) {
    return `Its parts stand in each other more than ${limits.maxNestingDepth} deep`
  }
  return /header/i.test(told)
    ? 'The header of one of its parts is too large'
    : 'Its parts cannot be told from each other'
}

const typeOf = ({ contentType }: ReadAttachment) => ({ type: contentType })

/** The first mail of a thread and the nearest ones. */
function threadIn(value: string): string[] {
  const ids = idsIn(value)
  return ids.length <= mostReferences ? ids : [...ids.slice(0, 1), ...ids.slice(1 - mostReferences)]
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

/** RFC 5322 §3.6.4, read loosely: text in angle brackets without a blank. */
const idsIn = (value: string): string[] => value.match(/<[^<>\s]{1,500}>/g) ?? []

/** A name that no file system reads as a path, and nobody as the name of another type. */
const safeName = (name: string): string =>
  withoutMarks(oneLine(name, 200))
    .replace(/^.*[/\\]/, '')
    .replace(/[<>:"|?*]/g, '_')
    .replace(/^\.+/, '')
    .trim()

const safeType = (type: string): string =>
  /^[a-z0-9!#$&^_.+-]{1,60}\/[a-z0-9!#$&^_.+-]{1,60}$/.test(type.toLowerCase())
    ? type.toLowerCase()
    : 'application/octet-stream'

const oneLine = (text: string, most: number): string => readableValue(text).slice(0, most)
