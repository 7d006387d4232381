import { type SelectQueryBuilder, sql } from 'kysely'
import {
  type EmailStatus,
  firstUuidAt,
  idsIn,
  type MailTag,
  type Read,
  rareStatus,
  type Tables,
} from '../store/index.js'
import { enteredFor, mailOfMessageId, readThrough } from './recipient-index.js'
import { type SummaryRow, summaryColumns } from './summary.js'

/** Which mails of an account are wanted: those that meet all of these conditions. */
export interface EmailFilter {
  /** One of these. */
  status?: readonly EmailStatus[] | undefined
  /** An address among its recipients, whatever the field, in capitals or not. */
  to?: string | undefined
  /** The sender's address, in capitals or not. */
  from?: string | undefined
  /** The sender's domain, as A-labels in lower case. */
  domain?: string | undefined
  /** One of these, in addition. */
  domains?: readonly string[] | undefined
  type?: 'transactional' | 'marketing' | undefined
  topicId?: string | undefined
  broadcastId?: string | undefined
  /** A slug. */
  template?: string | undefined
  tag?: MailTag | undefined
  /** As the mail's header has it, with its angle brackets. */
  messageId?: string | undefined
  /** The automation that sent it. */
  automationId?: string | undefined
  /** The step of that automation, by its key. */
  step?: string | undefined
  /** True: handed in by a test key; false: not. */
  test?: boolean | undefined
  /** Accepted at or after this time, in ms. */
  createdAfter?: number | undefined
  /** Accepted before this time, in ms. */
  createdBefore?: number | undefined
  /**
   * The beginning of a recipient's address, or a part of the subject; in capitals or not. No index finds it.
   */
  text?: string | undefined
}

// A mail's id is made after the time of its acceptance was read, some moments later in a large batch.
const idsLagMs = 60_000

/**
 * The account's next mails below an id, newest first, by the index that leaves the fewest. All mails that
 * fit the filter are among them. Never reads more than `limit`; fewer mean that there are no more.
 */
export async function candidates(
  read: Read,
  accountId: string,
  filter: EmailFilter & { steps?: ReadonlySet<number | null> | undefined },
  { below, limit }: { below: string | undefined; limit: number },
): Promise<SummaryRow[]> {
  const [since, until] = bounds(filter, below)
  const between = <O>(query: SelectQueryBuilder<Joined, 'emails' | 'broadcasts', O>) =>
    query
      .where('emails.id', '>=', since)
      .where('emails.id', '<', until)
      .orderBy('emails.id', 'desc')
      .limit(limit)
  const mails = read
    .selectFrom('emails')
    .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
    .select([...summaryColumns, 'broadcasts.extras as broadcast_extras'])
  const { messageId, to, tag, broadcastId, template, status, steps } = filter
  const looked = messageId ?? to
  if (looked !== undefined) {
    const through = await readThrough(read)
    const recent = await between(
      mails.where('emails.account_id', '=', accountId).where('emails.id', '>', through),
    ).execute()
    if (recent.length === limit) return recent
    const ids = await enteredFor(
      read,
      { accountId, address: looked },
      // Late mails are entered at once, and may be among the recent ones too.
      { since, until: recent.at(-1)?.id ?? upTo(until, through), limit: limit - recent.length },
    )
    const own = messageId === undefined ? undefined : mailOfMessageId(messageId)
    if (own !== undefined && own <= through && own >= since && own < until) ids.push(own)
    // Another account's mail with the same hash is kept as one that does not fit: fewer would mean
    // the end.
    const entered = await mails.where('emails.id', 'in', idsIn(ids, 'text')).execute()
    return [...recent, ...entered.sort((a, b) => (a.id < b.id ? 1 : -1))]
  }
  if (tag !== undefined) {
    return await read
      .selectFrom('email_tags')
      .innerJoin('emails', 'emails.id', 'email_tags.email_id')
      .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
      .select([...summaryColumns, 'broadcasts.extras as broadcast_extras'])
      .where('email_tags.account_id', '=', accountId)
      .where('email_tags.name', '=', tag.name)
      .where('email_tags.value', '=', tag.value)
      .where('email_tags.email_id', '>=', since)
      .where('email_tags.email_id', '<', until)
      .orderBy('email_tags.email_id', 'desc')
      .limit(limit)
      .execute()
  }
  if (steps !== undefined) {
    const each = [...steps].map((step) =>
      between(
        mails
          .where('emails.account_id', '=', accountId)
          .where('emails.automation_step_id', '=', step),
      ).execute(),
    )
    return newestOf(await Promise.all(each), limit)
  }
  if (broadcastId !== undefined) {
    // The account is compared in the campaign's row, so that SQLite uses the index of mails by campaign and
    // none by account.
    return await between(
      mails
        .where('broadcasts.account_id', '=', accountId)
        .where('emails.broadcast_id', '=', broadcastId),
    ).execute()
  }
  if (template !== undefined) {
    return await between(
      mails.where('emails.account_id', '=', accountId).where('emails.template', '=', template),
    ).execute()
  }
  const rare = rareStatuses(status)
  if (rare !== undefined) {
    const each = rare.map((one) =>
      between(
        mails
          .where('emails.account_id', '=', accountId)
          .where(isRare)
          .where(sql<boolean>`${rareStatus} = ${one}`),
      ).execute(),
    )
    return newestOf(await Promise.all(each), limit)
  }
  if (status?.every((one) => one === 'scheduled')) {
    return await between(
      mails.where('emails.account_id', '=', accountId).where(isScheduled),
    ).execute()
  }
  return await between(mails.where('emails.account_id', '=', accountId)).execute()
}

type Joined = Tables & {
  broadcasts: { [C in keyof Tables['broadcasts']]: Tables['broadcasts'][C] | null }
}

/**
 * The condition of the index `emails_rare`, word for word: SQLite uses a partial index only if the query
 * has its condition. No index has the good statuses, as it would cost every mail.
 */
const isRare = sql<boolean>`${rareStatus} in ('bounced', 'failed', 'cancelled', 'suppressed')`
const isScheduled = sql<boolean>`${rareStatus} = 'scheduled'`
const rarely: ReadonlySet<EmailStatus> = new Set(['bounced', 'failed', 'cancelled', 'suppressed'])

function rareStatuses(status: EmailFilter['status']): readonly EmailStatus[] | undefined {
  return status?.every((one) => rarely.has(one)) ? status : undefined
}

const newestOf = (each: readonly (readonly SummaryRow[])[], limit: number) =>
  each
    .flat()
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit)

/** The lower bound of the two: below the first, and not above the second. */
const upTo = (until: string, through: string) => (until > through ? `${through}~` : until)

/** The id from which the mails begin, and the id below which they end. */
function bounds(
  { createdAfter = 0, createdBefore }: EmailFilter,
  below?: string,
): [string, string] {
  const end = createdBefore === undefined ? Number.POSITIVE_INFINITY : createdBefore + idsLagMs
  const until = firstUuidAt(end)
  return [firstUuidAt(createdAfter), below !== undefined && below < until ? below : until]
}
