import { isAscii } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { makeContent } from '../contents/index.js'
import { hashBody } from '../dkim/index.js'
import {
  type AcceptedEmail,
  acceptEmail,
  type ChangeableParts,
  type EmailDeps,
  type Idempotency,
  parseScheduledAt,
  type RawMessage,
  type SendInput,
  sendBody,
  verifiedSender,
} from '../emails/index.js'
import { structOf } from '../fields/index.js'
import {
  type HeaderField,
  type MessageParts,
  mailboxField,
  parseMailbox,
  readParts,
  textOfPart,
} from '../mime/index.js'
import type { Arrived, ArrivedBody } from './arriving.js'
import type { Client } from './client.js'
import { fingerprintOf } from './fingerprint.js'
import { type Understood, understand, wrong } from './message.js'
import { headerOf } from './own-headers.js'
import { forTemplate, whereNamed } from './template.js'

/** What the acceptance of a mail needs, and the memory of its Idempotency-Keys. */
export interface HandInDeps {
  emails: EmailDeps
  idempotency: Pick<Idempotency, 'once'>
}

/** A message with its envelope, whose every line is good. */
export interface HandedIn {
  client: Client
  envelope: { from: string; to: readonly string[]; smtpUtf8: boolean }
  arrived: Pick<Arrived, 'header' | 'body'>
  /** Called for each field that is replaced by another one. */
  replaced(field: HeaderField, emailId: string): void
}

/**
 * The way from a message to a mail: the same acceptance as the API's. Resolves once it is on disk; rejects
 * with the `ApiError` that the API would answer.
 */
export async function handIn(deps: HandInDeps, handed: HandedIn): Promise<AcceptedEmail> {
  const { client, envelope } = handed
  const { accountId, isTest } = client
  const said = understand(withFixedSender(handed.arrived.header, client.fixedFrom))
  const { ownHeaders, from } = said
  const { read } = deps.emails.store
  for (const mailbox of [from.mailbox, ...(said.sender === undefined ? [] : [said.sender])]) {
    client.checkDomain(mailbox.domain)
    await verifiedSender(read, accountId, mailbox.address)
  }
  checkOwnHeaders(said, envelope.to)
  const { idempotencyKey, ...fields } = ownHeaders
  const input = {
    ...fields,
    from: from.text,
    ...whereNamed(said, envelope.to),
    ...(said.replyTo.length === 0 ? {} : { replyTo: said.replyTo }),
    ...(said.subject === '' ? {} : { subject: said.subject }),
  } satisfies SendInput
  const by = client.by()
  const how = { isTest, ...(by !== undefined && { by }) }
  const acceptKnown = async (alongside?: Parameters<typeof acceptEmail>[3]) => {
    if (ownHeaders.template !== undefined) {
      const composed = { ...input, ...forTemplate(said, envelope.to, handed.arrived) }
      return await acceptEmail(deps.emails, accountId, composed, alongside, how)
    }
    const raw = await rawMessageOf(deps.emails, said, handed)
    return await acceptEmail(deps.emails, accountId, { ...input, raw }, alongside, how)
  }
  const accept: typeof acceptKnown = async (alongside) => {
    const accepted = await acceptKnown(alongside)
    for (const field of said.broken) handed.replaced(field, accepted.id)
    return accepted
  }
  if (idempotencyKey === undefined) return await accept()
  const fingerprint = fingerprintOf(envelope, said.kept, handed.arrived.body, fields)
  const account = { accountId, isTest }
  const asked = { account, key: idempotencyKey, fingerprint }
  const { body } = await deps.idempotency.once(asked, async (remember) => {
    const accepted = await accept((tx, email) => remember(tx, email))
    return { status: 200, body: accepted }
  })
  return body as AcceptedEmail
}

/** The API's checks of the same fields, with faults under the names that the fields have here. */
function checkOwnHeaders({ ownHeaders }: Understood, to: readonly string[]): void {
  const { idempotencyKey, ...fields } = ownHeaders
  if (idempotencyKey !== undefined && !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw wrong('X-Posthorn-Idempotency-Key: expected 1 to 255 visible ASCII characters')
  }
  const placeholders = { from: 'a@b.example', to: [...to], subject: '-' }
  const [error] = structOf(sendBody).validate({ ...placeholders, ...fields })
  const [fault] = error?.failures() ?? []
  if (fault !== undefined) throw wrong(`${headerOf(String(fault.path[0]))}: ${fault.message}`)
  if (fields.variables !== undefined && fields.template === undefined) {
    throw wrong('X-Posthorn-Variables needs X-Posthorn-Template beside it')
  }
}

// A From with its folded lines: what follows a line break and a space belongs to the line before.
const fromField = /^from[ \t]*:.*\r\n(?:[ \t].*\r\n)*/im

/** The header with the sender that a trusted network has, in place of the device's own. */
function withFixedSender(header: Buffer, fixed: string | undefined): Buffer {
  if (fixed === undefined) return header
  const text = header.toString('latin1')
  const mailbox = parseMailbox(fixed)
  if (mailbox === undefined)
    throw wrong(`submission.trusted: from is not an email address: ${fixed}`)
  // RFC 2047 §5 (3): a name that is not ASCII goes in encoded-words.
  const own = Buffer.from(mailboxField('From', [mailbox])).toString('latin1')
  const others = text
    .replace(new RegExp(fromField.source, 'gim'), '')
    .replace(/^sender[ \t]*:.*\r\n(?:[ \t].*\r\n)*/gim, '')
  return Buffer.from(own + others, 'latin1')
}

/**
 * The message as it is kept and sent: its own bytes, without the fields that must not leave, and with a Date and a
 * Message-ID where it has no usable one (RFC 6409 §8).
 */
async function rawMessageOf(
  { clock }: Pick<EmailDeps, 'clock'>,
  said: Understood,
  { arrived, envelope }: HandedIn,
): Promise<RawMessage> {
  const { ownHeaders, from } = said
  const now = clock.now()
  const messageId = said.messageId ?? `<${randomUUID()}@${from.mailbox.domain}>`
  const leavesAt = parseScheduledAt(ownHeaders.scheduledAt, now) ?? now
  const date = new Date(leavesAt).toUTCString().replace('GMT', '+0000')
  const missing = ({ name }: { name: string }) => !said.kept.some((field) => field.name === name)
  const added = [
    { name: 'date', text: `Date: ${date}\r\n` },
    { name: 'message-id', text: `Message-ID: ${messageId}\r\n` },
  ].filter(missing)
  const header = Buffer.concat([
    ...said.kept.map(({ raw }) => raw),
    ...added.map(({ text }) => Buffer.from(text)),
  ])
  const { body } = arrived
  const parts = changeableParts(readParts(arrived.header, body))
  if (ownHeaders.type === 'marketing') checkMarketing(parts, body)
  const names = [...envelope.to, from.mailbox.address]
  return {
    messageId,
    header,
    body: { ...makeContent(body), sizeBytes: body.sizeBytes },
    bodyHash: await hashBody(eachLater(body)),
    eightBit: ![...asciiOf(body)].every(Boolean),
    // RFC 6531 §3.4: UTF-8 that the client did not announce is sent on without, as older servers pass it on.
    smtpUtf8:
      envelope.smtpUtf8 && !(isAscii(header) && names.every((name) => isAscii(Buffer.from(name)))),
    parts: parts instanceof Error ? null : parts,
  }
}

/** Whether each piece of a body is ASCII: no piece is held while the next one is read. */
function* asciiOf(body: ArrivedBody): Generator<boolean> {
  for (const piece of body) yield isAscii(piece)
}

/** The body as an async source, which the hash of DKIM takes. */
async function* eachLater(body: ArrivedBody): AsyncGenerator<Buffer> {
  yield* body
}

/** The parts that may get links and a footer, or why there are none. */
function changeableParts({ leaves, isSealed, broken }: MessageParts): ChangeableParts | Error {
  if (isSealed) return new Error('it is signed or encrypted, and may not be changed')
  if (broken !== undefined) return new Error(broken)
  const inline = (type: string) => leaves.filter((leaf) => leaf.type === type && !leaf.isAttachment)
  const [html, ...moreHtml] = inline('text/html')
  const [text, ...moreText] = inline('text/plain')
  if (html === undefined || moreHtml.length > 0) {
    return new Error(`it has ${html === undefined ? 'no' : 'more than one'} HTML part`)
  }
  return { html, text: moreText.length > 0 ? undefined : text }
}

/** Marketing mail says in its text how to unsubscribe, so both parts have to exist and be readable. */
function checkMarketing(parts: ChangeableParts | Error, body: ArrivedBody): void {
  const needs = 'Marketing mail needs one text and one HTML part, for its footer'
  if (parts instanceof Error) throw wrong(`${needs}; of this message, ${parts.message}`)
  if (parts.text === undefined) throw wrong(`${needs}; this message has not one text part`)
  const bytes = Buffer.concat([...body])
  for (const part of [parts.html, parts.text]) {
    if (part.end - part.start > maxPartBytes) throw wrong(`${needs}, of at most 2 MiB each`)
    if (textOfPart(part, bytes.subarray(part.start, part.end)) === undefined) {
      throw wrong(`${needs}; its ${part.type} has an unknown encoding or charset`)
    }
  }
}

// A part that is to get a footer is decoded as a whole, in memory.
const maxPartBytes = 2 * 1024 * 1024

/**
 * Throws a `validation_error` or a 403 for a MAIL FROM that the client may not use. A client in a trusted network may
 * say anything, because its sender is replaced.
 */
export async function checkEnvelopeSender(
  { emails }: HandInDeps,
  client: Client,
  address: string,
): Promise<void> {
  if (client.fixedFrom !== undefined) return
  const mailbox = parseMailbox(address)
  if (mailbox === undefined) {
    throw wrong('MAIL FROM needs an address on a verified domain; bounces come to Posthorn itself')
  }
  client.checkDomain(mailbox.domain)
  await verifiedSender(emails.store.read, client.accountId, address)
}
