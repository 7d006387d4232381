import type { SandboxMessage, SandboxSummary } from '../sandbox/index.js'

/** A message as scripts get it. `verdicts` is null until the checks are done. */
export function summaryJson(message: SandboxSummary) {
  return {
    id: message.id,
    from: message.from,
    to: message.recipients,
    subject: message.subject,
    receivedAt: new Date(message.receivedAt).toISOString(),
    mailFrom: message.mailFrom,
    remoteAddress: message.remoteAddress,
    helo: message.helo,
    tls: message.tls,
    sizeBytes: message.sizeBytes,
    warnings: message.warnings,
    verdicts: message.verdicts ?? null,
  }
}

export function messageJson(message: SandboxMessage) {
  const { headers, text, html, attachments, incomplete } = message.content
  return {
    ...summaryJson(message),
    headers,
    text: text ?? null,
    html: html ?? null,
    attachments,
    /** `cut`: only the beginning was read; `broken`: its structure cannot be read. */
    incomplete: incomplete ?? null,
  }
}
