import { type EmailFilter, type EmailSummary, listEmails } from '../../emails/index.js'
import type { Read } from '../../store/index.js'
import { csvLine } from '../../suppression/index.js'

/** A spreadsheet can hardly use more; the API has all mails. */
const maxExported = 100_000
// A query of so many takes some milliseconds; between two of them others get their turn.
const perPage = 500

const columns = [
  ...(['id', 'createdAt', 'from', 'to', 'cc', 'bcc', 'subject', 'status', 'type'] as const),
  ...(['template', 'broadcastId', 'provider', 'messageId', 'scheduledAt', 'sentAt'] as const),
  ...(['opensCount', 'clicksCount'] as const),
] satisfies (keyof EmailSummary)[]

/**
 * The mails that fit as CSV, newest first, a page at a time and no faster than they are taken. A page in which none
 * fits is an empty piece, so that the reader can stop there when its client has gone.
 */
export async function* exportEmails(
  read: Read,
  accountId: string,
  filter: EmailFilter,
): AsyncGenerator<string> {
  yield csvLine(columns)
  let before: string | undefined
  for (let left = maxExported; left > 0; ) {
    const limit = Math.min(perPage, left)
    const { emails, next } = await listEmails(read, accountId, filter, { limit, before })
    yield emails.map((email) => csvLine(cellsOf(email))).join('')
    if (next === undefined) return
    // Only mails that fit count; pages in which none fits may be many.
    left -= emails.length
    before = next
  }
}

const cellsOf = (email: EmailSummary) =>
  columns.map((column) => {
    const value = email[column]
    return Array.isArray(value) ? value.join(', ') : String(value ?? '')
  })
