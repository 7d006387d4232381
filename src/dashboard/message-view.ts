import type { SandboxMessage } from '../sandbox/index.js'
import { fileSize, listed, type Moment, moment } from './format.js'
import { type VerdictWords, verdictWords } from './verdict-words.js'

export interface MessageView {
  title: string
  url: string
  subject: string
  from: string
  to: string
  received: Moment
  /** The envelope and the connection, as label and value. */
  facts: { label: string; value: string }[]
  /** True until the verdicts are there: the page then asks again. */
  checking: boolean
  verdicts: VerdictWords[]
  notice: string | undefined
  hasHtml: boolean
  text: string | undefined
  headers: { name: string; value: string }[]
  attachments: { filename: string; url: string; detail: string }[]
}

// A page that shows more would be slow in the browser; the source has all of it.
const maxTextChars = 200_000
const maxRecipients = 100

/** Where one of them is saved from. */
export const attachmentPath = (messageId: number, index: number) =>
  `/sandbox/${messageId}/attachments/${index}`

export function messageView(message: SandboxMessage, nowMs: number): MessageView {
  const { content } = message
  const text = content.text?.slice(0, maxTextChars)
  const cut = content.incomplete === 'cut' || text?.length !== content.text?.length
  return {
    title: message.subject || 'No subject',
    url: `/sandbox/${message.id}`,
    subject: message.subject || 'No subject',
    from: message.from || message.mailFrom || 'No sender',
    to: listed(message.recipients, maxRecipients),
    received: moment(message.receivedAt, nowMs),
    facts: [
      { label: 'Envelope sender', value: message.mailFrom || '<> (none)' },
      { label: 'Client', value: `${message.helo || 'unnamed'} at ${message.remoteAddress}` },
      { label: 'Transport', value: message.tls ? 'SMTP over TLS' : 'SMTP, not encrypted' },
      { label: 'Size', value: fileSize(message.sizeBytes) },
    ],
    checking: message.verdicts === undefined,
    verdicts: verdictWords(message),
    notice:
      content.incomplete === 'broken'
        ? 'The structure of this mail cannot be read. Its source is all there is.'
        : cut
          ? 'This mail is long; only its beginning is shown. The source is complete.'
          : undefined,
    hasHtml: content.html !== undefined,
    text,
    headers: content.headers,
    attachments: content.attachments.map(({ filename, mimeType, sizeBytes }, index) => ({
      filename,
      url: attachmentPath(message.id, index),
      detail: `${mimeType}, ${fileSize(sizeBytes)}`,
    })),
  }
}
