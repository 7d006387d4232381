import { sql } from 'kysely'
import { nextTurn } from '../bounded/index.js'
import { ApiError } from '../errors/index.js'
import type { FieldValues } from '../fields/index.js'
import { addressKey, parseMailbox } from '../mime/index.js'
import {
  cursorOf,
  idInCursor,
  isTestId,
  type MailTag,
  type Read,
  rareStatus,
} from '../store/index.js'
import { candidates, type EmailFilter } from './candidates.js'
import { type filterFields, filterOf } from './list-query.js'
import { recipientsIn } from './recipient-index.js'
import { type EmailSummary, extrasOfRow, type SummaryRow, summaryOf } from './summary.js'

export interface EmailPage {
  emails: EmailSummary[]
  /** The id after which the next page begins; undefined if there is no next page. */
  next: string | undefined
}

// Takes the thread some milliseconds, between which others have their turn.
const chunk = 200

/**
 * How many mails a page reads, so that a filter that fits few of millions takes at most some tenths
 * of a second. Such a page ends with fewer mails, or none, and the next page goes on from there.
 */
export const maxLooked = 10_000

/** An account's mails that fit, newest first (UUIDv7), `limit` of them older than `before`. */
export async function listEmails(
  read: Read,
  accountId: string,
  filter: EmailFilter,
  {
    limit,
    before,
    most = maxLooked,
  }: { limit: number; before?: string | undefined; most?: number | undefined },
): Promise<EmailPage> {
  const found: SummaryRow[] = []
  const steps = await stepsOf(read, accountId, filter)
  let below = before
  for (let looked = 0; looked < most; ) {
    const rows = await candidates(read, accountId, { ...filter, steps }, { below, limit: chunk })
    for (const row of rows) {
      if (row.account_id === accountId && fits(row, filter, steps)) {
        if (found.length === limit) return page(found, found.at(-1)?.id)
        found.push(row)
      }
      below = row.id
    }
    if (rows.length < chunk) return page(found, undefined)
    looked += rows.length
    await nextTurn()
  }
  return page(found, below)
}

interface Wish extends FieldValues<typeof filterFields> {
  limit: number
  cursor?: string | undefined
}

/** What a reader may see of an account's log, and how many mails are read at most. */
interface Sight {
  test?: true
  domains?: readonly string[] | null
  most?: number
}

/** A page of the log as the API shows it. */
export async function emailsAnswer(
  read: Read,
  accountId: string,
  { limit, cursor, ...given }: Wish,
  { test, domains, most }: Sight = {},
) {
  const filter = filterOf(given)
  if (test && filter.test === false) {
    throw new ApiError('forbidden', 'A key of the scope "test" sees test mails alone')
  }
  if (test) filter.test = true
  if (domains) filter.domains = domains
  // A cursor belongs to one filter.
  const scope = `emails ${accountId} ${JSON.stringify(filter)}`
  const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
  const { emails, next } = await listEmails(read, accountId, filter, { limit, before, most })
  const nextCursor = next === undefined ? null : cursorOf(next, scope)
  return { emails, hasMore: next !== undefined, nextCursor }
}

/** The numbers of an automation's steps, or of one wanted step, in all versions. */
async function stepsOf(
  read: Read,
  accountId: string,
  { automationId, step }: EmailFilter,
): Promise<ReadonlySet<number | null> | undefined> {
  if (automationId === undefined) return undefined
  const rows = await read
    .selectFrom('automations')
    .innerJoin('automation_steps', 'automation_steps.automation_id', 'automations.id')
    .select('automation_steps.id')
    .where('automations.id', '=', automationId)
    .where('automations.account_id', '=', accountId)
    .where('automation_steps.type', '=', 'send_email')
    .$if(step !== undefined, (query) => query.where('automation_steps.key', '=', step ?? ''))
    .execute()
  return new Set(rows.map(({ id }) => id))
}

const page = (found: readonly SummaryRow[], next: string | undefined): EmailPage => ({
  emails: found.map(summaryOf),
  next,
})

/** Whether a mail meets the conditions that the index has not checked. */
function fits(
  row: SummaryRow,
  filter: EmailFilter,
  steps: ReadonlySet<number | null> | undefined,
): boolean {
  const { status, from, domain, type, topicId, broadcastId, template, tag, to, messageId, text } =
    filter
  const { test, domains } = filter
  const { createdAfter = 0, createdBefore = Number.POSITIVE_INFINITY } = filter
  return (
    (status === undefined || status.includes(row.status)) &&
    (type === undefined || row.type === type) &&
    (topicId === undefined || row.topic_id === topicId) &&
    (broadcastId === undefined || row.broadcast_id === broadcastId) &&
    (template === undefined || row.template === template) &&
    row.created_at >= createdAfter &&
    row.created_at < createdBefore &&
    (from === undefined || isFrom(row, from)) &&
    (domain === undefined || domainOf(row) === domain) &&
    (domains === undefined || domains.includes(domainOf(row))) &&
    (tag === undefined || hasTag(row, tag)) &&
    (messageId === undefined || row.message_id === messageId) &&
    (test === undefined || isTestId(row.id) === test) &&
    (steps === undefined || steps.has(row.automation_step_id)) &&
    (to === undefined || recipientsIn(row).has(addressKey(to))) &&
    (text === undefined || hasText(row, text.toLowerCase()))
  )
}

const hasText = (row: SummaryRow, text: string) =>
  row.subject.toLowerCase().includes(text) ||
  [...recipientsIn(row)].some((address) => address.startsWith(text))

const domainOf = (row: SummaryRow) => parseMailbox(row.from_header)?.domain ?? ''

const isFrom = (row: SummaryRow, from: string) =>
  addressKey(parseMailbox(row.from_header)?.address ?? '') === addressKey(from)

const hasTag = (row: SummaryRow, { name, value }: MailTag) =>
  extrasOfRow(row)?.tags?.some((one) => one.name === name && one.value === value) ?? false

/** How many of an account's mails wait untried; counted in a few ms, however long its log is. */
export interface UntriedMails {
  /**
   * Scheduled mails, counted up to one above the given bound, and when the first of them leaves.
   */
  scheduled: number
  nextAt: number | null
  /** Mails in line for their first attempt, among the given number of newest mails. */
  inLine: number
}

/** Bounded counts, as a page only says "more than". */
export async function untriedMails(
  read: Read,
  accountId: string,
  most: { scheduled: number; newest: number },
): Promise<UntriedMails> {
  const scheduled = read
    .selectFrom('emails')
    .select('scheduled_at')
    .where('account_id', '=', accountId)
    // A literal, or SQLite would not see that its small partial index has all of them.
    .where(sql<boolean>`${rareStatus} = 'scheduled'`)
    .orderBy('id', 'desc')
    .limit(most.scheduled + 1)
    .as('some')
  const newest = read
    .selectFrom('emails')
    .select('status')
    .where('account_id', '=', accountId)
    .orderBy('id', 'desc')
    .limit(most.newest)
    .as('some')
  const [first, second] = await Promise.all([
    read
      .selectFrom(scheduled)
      .select(({ fn }) => [
        fn.countAll<number>().as('mails'),
        fn.min<number | null>('scheduled_at').as('nextAt'),
      ])
      .executeTakeFirstOrThrow(),
    read
      .selectFrom(newest)
      .select(({ fn }) => fn.countAll<number>().filterWhere('status', '=', 'queued').as('mails'))
      .executeTakeFirstOrThrow(),
  ])
  return { scheduled: first.mails, nextAt: first.nextAt, inLine: second.mails }
}
