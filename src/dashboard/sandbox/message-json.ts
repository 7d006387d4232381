import { isoTime } from '../../clock/index.js'
import { linksIn, type SandboxMessage, type SandboxSummary } from '../../sandbox/index.js'
import { attachmentPath } from './message.js'

/** A message as scripts get it. `verdicts` is null until the checks are done. */
export function summaryJson(message: SandboxSummary) {
  return {
    id: message.id,
    from: message.from,
    to: message.recipients,
    subject: message.subject,
    receivedAt: isoTime(message.receivedAt),
    mailFrom: message.mailFrom,
    remoteAddress: message.remoteAddress,
    helo: message.helo,
    tls: message.tls,
    sizeBytes: message.sizeBytes,
    warnings: message.warnings,
    verdicts: message.verdicts ?? null,
  }
}

/** `links` has the links of the HTML in their order, then those that only the text has: tests follow them. */
export function messageJson(message: SandboxMessage) {
  const { headers, text, html, attachments, incomplete } = message.content
  return {
    ...summaryJson(message),
    headers,
    text: text ?? null,
    html: html ?? null,
    links: linksIn(html ?? '', text ?? ''),
    attachments: attachments.map((one, index) => ({
      ...one,
      path: attachmentPath(`/sandbox/${message.id}`, index),
    })),
    /** `cut`: only the beginning was read; `broken`: its structure cannot be read. */
    incomplete: incomplete ?? null,
  }
}
