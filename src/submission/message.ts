import { isOfServers, maxHeaderBytes, maxReplyTo } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import {
  type HeaderField,
  type Mailbox,
  onlyOnce,
  parseMailbox,
  quote,
  readableValue,
  readHeader,
} from '../mime/index.js'
import { isOwnHeader, type OwnHeaders, readOwnHeaders } from './own-headers.js'

/** What the header of an acceptable message says. */
export interface Understood {
  ownHeaders: OwnHeaders
  /** The one sender, also in the API's form `Name <a@b>`. */
  from: { mailbox: Mailbox; text: string }
  /** Others whom the message names as its senders (Sender). */
  sender: Mailbox | undefined
  /** Where answers go; empty if the field has groups, or more addresses than a mail of the API may have. */
  replyTo: string[]
  isReplyToRead: boolean
  subject: string
  /** Undefined where there is no usable one. */
  messageId: string | undefined
  /** Date and Message-ID fields without a valid form: others take their place (RFC 6409 §8.2, §8.3). */
  broken: HeaderField[]
  /** The fields of the header that leave. */
  kept: HeaderField[]
}

/**
 * Fields that do not leave. Bcc names recipients whom nobody should see. A receiver that trusts our signature would
 * believe a forged Authentication-Results or Resent-From below it. Received is kept, because it shows loops.
 */
const isRemoved = (name: string) =>
  name === 'bcc' || isOwnHeader(name) || (isOfServers(name) && name !== 'received')
// In marketing mail these fields are ours, signed for each recipient.
const ofMarketing = new Set(['list-unsubscribe', 'list-unsubscribe-post', 'list-id'])
/** RFC 5321 §6.3: counting Received fields, at least 100 of them, is how loops are found. */
const maxHops = 100
// As much of a subject as the API takes; the message itself leaves with all of it.
const maxSubjectBytes = 998

/** Reads a header; throws a `validation_error` for what cannot leave like that. */
export function understand(header: Buffer): Understood {
  const fields = readHeader(header)
  if (typeof fields === 'string') throw wrong(`The message cannot be read: ${fields}`)
  const named = (name: string) => fields.filter((field) => field.name === name)
  const twice = fields.find(({ name }) => onlyOnce.has(name) && named(name).length > 1)
  if (twice !== undefined) {
    throw wrong(`The field ${twice.name} is there ${named(twice.name).length} times`)
  }
  if (named('received').length > maxHops) throw wrong('Too many hops: the message goes in circles')
  const ownHeaders = readOwnHeaders(fields)
  const from = senderOf(named('from')[0]?.value)
  if (from === undefined) {
    throw wrong('The message needs a From with one address: expected "Name <email@domain>"')
  }
  const senderField = named('sender')[0]
  const sender = senderOf(senderField?.value)
  if (senderField !== undefined && sender === undefined)
    throw wrong('Sender is not an email address')
  const replyTo = replyToOf(named('reply-to')[0]?.value ?? '')
  const broken = fields.filter(({ name, value }) => forms.get(name)?.test(value) === false)
  const messageId = named('message-id')[0]?.value.replace(/^[^\s<>]+$/, '<$&>')
  const drop = (name: string) =>
    isRemoved(name) || (ownHeaders.type === 'marketing' && ofMarketing.has(name))
  return {
    ownHeaders,
    from,
    sender: sender?.mailbox,
    replyTo: replyTo ?? [],
    isReplyToRead: replyTo !== undefined,
    subject: shortened(readableValue(named('subject')[0]?.value ?? '')),
    // If only the brackets are missing, answers still find the mail that they refer to.
    messageId: messageId !== undefined && idForm.test(messageId) ? messageId : undefined,
    broken,
    kept: fields.filter((field) => !drop(field.name) && !broken.includes(field)),
  }
}

// RFC 5322 §3.6.4; many programs write ids outside of its grammar, and receivers take them.
const idForm = /^<[^\s<>]{1,900}>$/
const day = '(?:[A-Z]{3},?[ \\t]*)?(?:0?[1-9]|[12]\\d|3[01])'
const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'
const time = '(?:[01]?\\d|2[0-3]):[0-5]\\d(?::[0-6]\\d)?'
// RFC 5322 §3.3 and §4.3: years of two digits, zones by name and comments are still in use.
const dateForm = new RegExp(
  `^${day}[ \\t]+${month}[ \\t]+(?:\\d\\d|\\d{4})[ \\t]+${time}[ \\t]*(?:[+-]\\d{4}|[A-Z]{1,5})(?:[ \\t]*\\(.*\\))?$`,
  'i',
)
const forms: ReadonlyMap<string, RegExp> = new Map([
  ['message-id', idForm],
  ['date', dateForm],
])

/** The only address of a field, also in the forms `=?UTF-8?Q?Z=C3=AB?= <a@b>` and `a@b (Name)`. */
function senderOf(value: string | undefined): Understood['from'] | undefined {
  // Older programs fold with a tab.
  const line = value?.replaceAll('\t', ' ')
  if (line === undefined || (line.endsWith('>') && !oneSender.test(line))) return undefined
  const comment = /^(\S+@\S+)\s+\(([^()\\]*)\)$/.exec(line)
  const mailbox = parseMailbox(comment?.[1] ?? line)
  // RFC 2047 §5: an encoded-word is never part of an address, and readers that decode it all the same see another
  // address.
  if (mailbox === undefined || mailbox.local.includes('=?')) return undefined
  const name = readableValue(mailbox.name ?? comment?.[2] ?? '')
  const text = `${quote(name)} <${mailbox.address}>`
  // A name that the API would not take is left out of the record; the message keeps it.
  const isFit = name !== '' && parseMailbox(text) !== undefined
  return {
    mailbox,
    text: isFit ? (plain.test(name) ? `${name} <${mailbox.address}>` : text) : mailbox.address,
  }
}

/**
 * RFC 5322 §3.4: words, quoted or not, and comments before the `<`. The field leaves as it was written, so all
 * readers must find the same sender in it. In `(") <ceo@bank.example>, (") <me@ours.example>` some take the quotes
 * for a name, others the parentheses for comments around a second address.
 */
const oneSender =
  /^(?:[^"(),:;<>@[\\\]]|"(?:[^"\\]|\\.)*"|\([^"()<>@\\]*\)|\[[^"()<>@[\\\]]*\])*<[^<>]*>$/

/** The addresses of a Reply-To; undefined if they cannot all be read. */
function replyToOf(value: string): string[] | undefined {
  // The bound is that of the API's fields: the search for the end of quotes begins again at each quote.
  if (Buffer.byteLength(value) > maxHeaderBytes) return undefined
  // A comma within quotes is part of a name.
  const written = value.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g) ?? []
  const read = written.filter((one) => one.trim() !== '').map((one) => senderOf(one.trim())?.text)
  const texts = read.filter((text) => text !== undefined)
  return texts.length === read.length && texts.length <= maxReplyTo ? texts : undefined
}

// A name that needs no quotes in `Name <a@b>` (RFC 5322 §3.2.3: none of the specials).
const plain = /^[^"(),.:;<>@[\\\]]+$/

/** A subject's beginning, whole characters of it. */
function shortened(subject: string): string {
  if (Buffer.byteLength(subject) <= maxSubjectBytes) return subject
  let short = ''
  for (const char of subject) {
    if (Buffer.byteLength(short) + Buffer.byteLength(char) > maxSubjectBytes) break
    short += char
  }
  return short
}

/** The error for a message that cannot leave as it is. */
export const wrong = (message: string) => new ApiError('validation_error', message)
