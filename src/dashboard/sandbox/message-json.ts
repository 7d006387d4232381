import { isoTime } from '../../clock/index.js'
import { htmlParser } from '../../mime/index.js'
import type { SandboxMessage, SandboxSummary } from '../../sandbox/index.js'
import { linksInText } from './link-check.js'
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

/** `links` are where its HTML leads, in their order, and then those that the text alone has. */
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
      path: attachmentPath(message.id, index),
    })),
    /** `cut`: only the beginning was read; `broken`: its structure cannot be read. */
    incomplete: incomplete ?? null,
  }
}

/** Every link once. Tests of programs follow them, for example to confirm an address. */
function linksIn(html: string, text: string): string[] {
  const links = new Set<string>()
  const parser = new (htmlParser().Parser)({
    onopentag: (name, { href }) => {
      if ((name === 'a' || name === 'area') && href) links.add(href.trim())
    },
  })
  parser.end(html)
  for (const link of linksInText(text)) links.add(link)
  return [...links]
}
