import { ApiError } from '../errors/index.js'
import type { CountedReason } from '../preferences/index.js'
import { cursorOf, type EmailStatus, idInCursor, type Read } from '../store/index.js'
import { pageOfRecipients } from './recipients.js'
import { pageOfPeople, type VersionPart, type Who, withReasons } from './report-people.js'
import { shownRecipient } from './shown.js'

interface RecipientsQuery {
  status?: EmailStatus | undefined
  who?: Who | undefined
  link?: number | undefined
  reason?: number | undefined
  why?: CountedReason | undefined
  provider?: string | undefined
  variant?: string | undefined
  part?: VersionPart | undefined
  limit: number
  cursor?: string | undefined
}

/** A page of a campaign's recipients: all, those with one status, or the people behind a number of its report. */
export async function recipientsAnswer(read: Read, id: string, query: RecipientsQuery) {
  const { status, limit, cursor, who, ...by } = query
  const { link, reason, why, provider, variant, part } = by
  if (status !== undefined && who !== undefined) {
    throw new ApiError('validation_error', 'Ask by "status" or by "who", not by both')
  }
  if (who === undefined && Object.values(by).some((given) => given !== undefined)) {
    const message = '"link", "reason", "why", "provider", "variant" and "part" go with "who" only'
    throw new ApiError('validation_error', message)
  }
  const asked = [id, status ?? '', who, link, reason, why, provider, variant, part]
  const scope = `recipients ${asked.join(' ').trimEnd()}`
  const after = cursor === undefined ? undefined : idInCursor(cursor, scope)
  const { recipients, endsAt } =
    who === undefined
      ? await pageOfAll(read, id, { status, after, limit })
      : await pageOfPeople(read, id, { ...by, who, after, limit })
  return {
    recipients: recipients.map(shownRecipient),
    hasMore: endsAt !== null,
    nextCursor: endsAt === null ? null : cursorOf(endsAt, scope),
  }
}

async function pageOfAll(read: Read, id: string, part: Parameters<typeof pageOfRecipients>[2]) {
  const page = await pageOfRecipients(read, id, part)
  return { ...page, recipients: await withReasons(read, page.recipients) }
}
