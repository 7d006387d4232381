import { addressesIn, addressIn, fieldBlocks, type ReportFields } from './fields.js'
import type { Message } from './message.js'
import type { Original } from './report.js'

const returned = [
  'message/rfc822',
  'message/global',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global-headers',
]

// The lines that programs write before a message that they return as text.
const marker = new RegExp(
  [
    // `----- Original message follows -----`, `|---- Message text follows: ----|`, `---Original mail info`.
    String.raw`^[ \t>|]*(?:-{2,}[ \t]*(?:Original|Message header|Below this line is|This is a copy of|Returned (?:message|mail)|Unsent message|Undelivered message|Message Text|START OF RETURNED|The body of|bounced e-?mail|Urspr\u00fcngliche Nachricht|Urspruengliche Nachricht|Original-Nachricht|Originalnachricht|Message d['\u2019]origine|Message original|Mensaje original|Mensagem original|Messaggio originale|Oorspronkelijk bericht|Oryginalna wiadomo\u015b\u0107|\u0418\u0441\u0445\u043e\u0434\u043d\u043e\u0435 \u0441\u043e\u043e\u0431\u0449\u0435\u043d\u0438\u0435)`,
    'Original message headers?:',
    'Possibly truncated original message',
    'Original message follows',
    'Message headers follow',
    'Below (?:is|the next line is) a copy of the',
    'Your message reads',
    'bounced e-?mail:',
    // A part of a mail whose boundaries are lost.
    'Content-Type:[ \\t]*(?:message/rfc822|text/rfc822-headers)',
    'Received:)',
  ].join('|'),
  'im',
)

/** The returned message that a report is about, as far as it was returned. */
export function readOriginal(message: Message): Original {
  const fields = returnedFields(message)
  // RFC 3834 §3.1.5 and most MTAs: a response names the message that it answers.
  const reference = message.header('in-reply-to') || message.header('references')
  return {
    messageId: idIn(fields?.get('message-id') ?? '') || idIn(reference),
    to: addressIn(fields?.get('to')),
    subject: (fields?.get('subject') ?? '').slice(0, 998),
  }
}

/** The recipient of the returned message; '' if it had several or its header does not tell. */
export function onlyRecipient(message: Message): string {
  const fields = returnedFields(message)
  const named = addressesIn(`${fields?.get('to') ?? ''}, ${fields?.get('cc') ?? ''}`, 2)
  return named.length === 1 ? (named[0] ?? '') : ''
}

function returnedFields(message: Message): ReportFields | undefined {
  for (const { type, body } of message.parts) {
    if (returned.includes(type)) return fieldBlocks(headerOf(body))[0]
  }
  const blocks = fieldBlocks(textAfterMarker(message.text))
  return blocks.find((fields) => fields.has('message-id')) ?? blocks.find(isHeader)
}

/** Some programs return only a few lines of the header. */
const isHeader = (fields: ReportFields) =>
  fields.has('from') && fields.has('to') && fields.has('subject')

/** The report's own text, without the returned message. */
export function textBeforeOriginal(text: string): string {
  const at = text.search(marker)
  return at < 0 ? text : text.slice(0, at)
}

function textAfterMarker(text: string): string {
  const at = text.search(marker)
  return at < 0 ? text : text.slice(at)
}

const idIn = (value: string) => /<([^<>\s]{1,500})>/.exec(value)?.[1] ?? ''

/** Up to the first empty line. */
function headerOf(body: string): string {
  const text = body.replace(/^\n+/, '')
  const end = text.indexOf('\n\n')
  return end < 0 ? text : text.slice(0, end)
}
