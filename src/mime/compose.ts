import { hash } from 'node:crypto'
import { type AttachedBody, type AttachedPart, assembleAttached } from './attached.js'
import { assembleBody, type BodyParts, composeParts } from './body.js'
import {
  customField,
  dateField,
  isHeaderName,
  mailboxField,
  structuredField,
  textField,
} from './header.js'
import type { Mailbox } from './mailbox.js'

export interface MessageInput {
  from: Mailbox
  to: Mailbox[]
  cc?: Mailbox[] | undefined
  replyTo?: Mailbox[] | undefined
  subject: string
  /** Both: multipart/alternative. One: a single part. None: an empty text part. */
  text?: string | undefined
  html?: string | undefined
  /** With or without its angle brackets. */
  messageId: string
  dateMs: number
  /**
   * Further fields in printable ASCII, e.g. List-Unsubscribe; not those that the composer writes.
   */
  extraHeaders?: readonly { name: string; value: string }[] | undefined
  /**
   * The sender's own fields, by name; not those that the composer writes. They are encoded if needed.
   */
  customHeaders?: Readonly<Record<string, string>> | undefined
}

export interface ComposedHeader {
  /** The header fields, each ended by CRLF, without the blank line after them. */
  header: Buffer
  /** A mailbox in the header is not ASCII: only MXs that offer SMTPUTF8 can take the message. */
  smtpUtf8: boolean
  /** The sender's own fields, which the signature has to cover too. */
  customNames: readonly string[]
}

export interface ComposedMessage extends ComposedHeader {
  /** Ends with CRLF; no line is over 998 octets. */
  body: Buffer
  /** The body is known to be already in DKIM's relaxed form, except for empty lines at its end. */
  isRelaxed: boolean
  /** A line of the message begins with a dot, which SMTP has to double. */
  isDotted: boolean
  /** Memory with header, blank line and body in sequence, and room on both sides (`encloseMessage`). */
  memory: Buffer
}

/**
 * Writes a message. The same input gives the same bytes. `parts` is for content that many messages
 * share, encoded once by `composeParts`; `text` and `html` are then ignored. Throws TypeError on
 * CR, LF or NUL in anything that goes into the header.
 */
export function composeMessage(
  input: MessageInput,
  parts: BodyParts = composeParts(input.text, input.html),
): ComposedMessage {
  const messageId = canonicalMessageId(input.messageId)
  const { fields, pieces, isRelaxed, isDotted } = assembleBody(parts, (attempt) =>
    boundary(messageId, attempt),
  )
  const { text, smtpUtf8, customNames } = composeHeader(input, fields)
  const isAnyDotted = isDotted || customNames.some((name) => name.startsWith('.'))
  return { smtpUtf8, customNames, isRelaxed, isDotted: isAnyDotted, ...layOut(text, pieces) }
}

// The signatures of two keys take 1,100 bytes.
const frontRoom = 2_048
const backRoom = 8

/** Header and body in one piece of memory, as they follow each other on the wire. */
function layOut(header: string, pieces: readonly Buffer[]) {
  const headerEnd = frontRoom + Buffer.byteLength(header)
  const bodyStart = headerEnd + 2
  let bodyEnd = bodyStart
  for (const piece of pieces) bodyEnd += piece.length
  const memory = Buffer.allocUnsafeSlow(bodyEnd + backRoom)
  memory.write(`${header}\r\n`, frontRoom)
  let at = bodyStart
  for (const piece of pieces) at += piece.copy(memory, at)
  return {
    header: memory.subarray(frontRoom, headerEnd),
    body: memory.subarray(bodyStart, bodyEnd),
    memory,
  }
}

/**
 * A composed message in one piece, with `front` (such as its signatures) before its header and `back` after its body.
 * They are written into the room around the message, which is copied only if they do not fit.
 */
export function encloseMessage(
  { memory }: Pick<ComposedMessage, 'memory'>,
  front: Buffer,
  back: Buffer,
): Buffer {
  if (front.length > frontRoom || back.length > backRoom) {
    return Buffer.concat([front, memory.subarray(frontRoom, memory.length - backRoom), back])
  }
  const start = frontRoom - front.length
  const end = memory.length - backRoom
  front.copy(memory, start)
  back.copy(memory, end)
  return memory.subarray(start, end + back.length)
}

/** Writes a message with attachments, without their bytes; otherwise like `composeMessage`. */
export async function composeAttached(
  input: MessageInput,
  attachments: readonly AttachedPart[],
): Promise<ComposedHeader & Omit<AttachedBody, 'fields'>> {
  const parts = composeParts(input.text, input.html)
  const { fields, ...body } = await assembleAttached(parts, attachments)
  const { text, ...header } = composeHeader(input, fields)
  return { header: Buffer.from(text), ...header, ...body }
}

function composeHeader(input: MessageInput, fields: string) {
  const { replyTo = [], cc = [], customHeaders = {} } = input
  const customNames = Object.keys(customHeaders)
  const text =
    dateField('Date', input.dateMs) +
    mailboxField('From', [input.from]) +
    (replyTo.length > 0 ? mailboxField('Reply-To', replyTo) : '') +
    mailboxField('To', input.to) +
    (cc.length > 0 ? mailboxField('Cc', cc) : '') +
    textField('Subject', input.subject) +
    structuredField('Message-ID', canonicalMessageId(input.messageId)) +
    (input.extraHeaders ?? []).map(extraField).join('') +
    customNames.map((name) => senderField(name, customHeaders[name] ?? '')).join('') +
    'MIME-Version: 1.0\r\n' +
    fields
  const smtpUtf8 = [input.from, ...replyTo, ...input.to, ...cc].some((one) => one.utf8Local)
  return { text, smtpUtf8, customNames }
}

// RFC 5322 §3.6: each may occur once, and the composer has written it.
const ownFields =
  /^(?:date|from|sender|reply-to|to|cc|bcc|subject|message-id|mime-version|content-.*)$/i

function extraField({ name, value }: { name: string; value: string }): string {
  if (!isHeaderName(name)) throw new TypeError('Not a header field name')
  if (ownFields.test(name)) throw new TypeError(`${name} is not an extra header`)
  return structuredField(name, value)
}

function senderField(name: string, value: string): string {
  if (ownFields.test(name)) throw new TypeError(`${name} is not a sender's header`)
  return customField(name, value)
}

function canonicalMessageId(messageId: string): string {
  const id = messageId.startsWith('<') ? messageId : `<${messageId}>`
  if (!/^<[^\s<>@]+@[^\s<>@]+>$/.test(id)) throw new TypeError('Not a Message-ID')
  return id
}

function boundary(messageId: string, attempt: number): string {
  const digest = hash('sha256', `${attempt} ${messageId}`, 'base64url')
  // RFC 2045 §6.7: `=_` occurs in no quoted-printable or base64 body.
  return `=_${digest.slice(0, 24)}`
}
