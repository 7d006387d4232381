import { addressIn, type Fields, fieldBlocks } from './fields.js'
import type { Message } from './message.js'
import type { Original } from './report.js'

const returned = [
  'message/rfc822',
  'message/global',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global-headers',
]

// What programs write before the message that they give back as text.
const marker =
  /^[ \t>]*(?:-{2,}[ \t]*(?:Original message|Original mail|Message header|Below this line is|This is a copy of|Returned message|Unsent message|Undelivered message|Message Text|The body of)|Original message headers:|Possibly truncated original message|Original message follows|Received:)/im

/** The message that a report is about, as far as it was returned. */
export function readOriginal(message: Message): Original {
  for (const { type, body } of message.parts) {
    if (returned.includes(type)) return from(fieldBlocks(headerOf(body))[0], message)
  }
  const text = textAfterMarker(message.text)
  const block = fieldBlocks(text).find((fields) => fields.has('message-id'))
  return from(block, message)
}

/** What the report itself says, without the message that it gives back. */
export function textBeforeOriginal(text: string): string {
  const at = text.search(marker)
  return at < 0 ? text : text.slice(0, at)
}

function textAfterMarker(text: string): string {
  const at = text.search(marker)
  return at < 0 ? text : text.slice(at)
}

function from(fields: Fields | undefined, message: Message): Original {
  // RFC 3834 §3.1.5 and most MTAs: a response refers to what it responds to.
  const reference = message.header('in-reply-to') || message.header('references')
  return {
    messageId: idIn(fields?.get('message-id') ?? '') || idIn(reference),
    to: addressIn(fields?.get('to')),
    subject: (fields?.get('subject') ?? '').slice(0, 998),
  }
}

const idIn = (value: string) => /<([^<>\s]{1,500})>/.exec(value)?.[1] ?? ''

/** Up to the first empty line. */
function headerOf(body: string): string {
  const text = body.replace(/^\n+/, '')
  const end = text.indexOf('\n\n')
  return end < 0 ? text : text.slice(0, end)
}
