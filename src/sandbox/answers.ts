import { isoTime } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import { pageOf, textCursorOf, textInCursor } from '../store/index.js'
import { linksIn } from './links.js'
import {
  findMessage,
  listMessages,
  type MessageFilter,
  type SandboxMessage,
  type SandboxSummary,
} from './messages.js'
import type { SeenInbox } from './of-domains.js'

/** The inbox of an account's test keys. */
export type TestInboxOf = SeenInbox & { accountId: string }

/** A page of a test inbox, the newest first. */
export async function testMailsAnswer(
  inbox: TestInboxOf,
  {
    limit,
    cursor,
    ...filter
  }: { limit: number; cursor?: string | undefined } & Partial<
    Record<'to' | 'subject' | 'emailId', string | undefined>
  >,
) {
  const wanted: MessageFilter = {
    ...(filter.to === undefined ? {} : { to: filter.to }),
    ...(filter.subject === undefined ? {} : { subject: filter.subject }),
    ...(filter.emailId === undefined ? {} : { emailId: filter.emailId.toLowerCase() }),
  }
  const seen = inbox.domains?.join() ?? ''
  const scope = `test mails ${inbox.accountId} ${seen} ${JSON.stringify(wanted)}`
  const before = cursor === undefined ? undefined : Number(textInCursor(cursor, scope))
  const found = await listMessages(inbox, {
    limit: limit + 1,
    filter: wanted,
    ...(before === undefined ? {} : { before }),
  })
  const { page, ...more } = pageOf(found, limit, ({ id }) => textCursorOf(String(id), scope))
  return { messages: page.map(shownSummary), ...more }
}

/** One mail, whole; throws a 404. */
export async function testMailAnswer(inbox: TestInboxOf, id: number) {
  const message = await findMessage(inbox, id, { whole: true })
  if (message === undefined) {
    throw new ApiError('not_found', 'The test inbox has no message with this id')
  }
  return shownMessage(message)
}

/** The answer after an inbox was emptied. */
export const clearedAnswer = (cleared: number) => ({ cleared })

const shownSummary = (message: SandboxSummary) => ({
  id: message.id,
  emailId: message.emailId,
  from: message.from,
  to: message.recipients,
  subject: message.subject,
  receivedAt: isoTime(message.receivedAt),
  sizeBytes: message.sizeBytes,
  checks: checksOf(message),
})

/** DKIM, SPF and DMARC in a word each; null until the checks are done. */
function checksOf({ verdicts }: SandboxSummary) {
  if (verdicts === undefined) return null
  const { dkim, spf, dmarc } = verdicts
  // RFC 9989: one signature that passes is enough for DMARC.
  const best = dkim.find(({ result }) => result === 'pass') ?? dkim[0]
  return { dkim: best?.result ?? 'none', spf: spf.result, dmarc: dmarc.result }
}

function shownMessage(message: SandboxMessage) {
  const { headers, text, html, attachments } = message.content
  return {
    ...shownSummary(message),
    headers: headers.map(({ name, value }) => ({ name, value })),
    text: text ?? null,
    html: html ?? null,
    links: linksIn(html ?? '', text ?? ''),
    attachments: attachments.map(({ filename, mimeType, sizeBytes }) => ({
      filename,
      contentType: mimeType,
      size: sizeBytes,
    })),
  }
}
