import type { ConsentEvent, ConsentKind } from '../consent/index.js'
import { idsIn, type Read } from '../store/index.js'
import { type Suppression, type SuppressionReason, suppressionsOf } from '../suppression/index.js'
import { listTopics, optOutsOf } from '../topics/index.js'
import { contactHistory } from './history.js'
import { noMailWords } from './no-mail.js'

/** A reason why somebody gets mail, or does not. */
export interface MailCause {
  kind: ConsentKind
  at: number
  /**
   * Who said it: the `recipient`, the recipient's `server`, an `operator`, or the account by its `api`, `dashboard` or
   * `command`; null where that was not recorded.
   */
  by: string | null
  /** The mail by which it was said. */
  email: { id: string; subject: string | null } | null
  /** A note, or what the server said. */
  note: string | null
  /** The list on which they came, and the file that brought them. */
  listId: string | null
  file: string | null
  /** When it ends by itself. */
  until: number | null
}

/**
 * Whether somebody gets mail of a kind, and for what reason. How they came speaks for marketing mail alone: of anything
 * else that they get there may be no reason to tell.
 */
export interface MailVerdict {
  gets: boolean
  because: MailCause[]
}

/** Why an address gets mail or does not. */
export interface WhyMail {
  /** A sentence: 'Gets your marketing mail', or 'Gets none: unsubscribed on 3 Nov 2026 by the mail “News”'. */
  says: string
  marketing: MailVerdict
  /** Receipts and the like. */
  transactional: MailVerdict
  /** Topics that are not archived, in the order of the preference centre. */
  topics: (MailVerdict & { id: string; name: string })[]
}

/**
 * The one answer to 'why does this person (not) get mail?', for an address of an account, whether or not a contact has
 * it.
 */
export async function whyMail(read: Read, accountId: string, email: string): Promise<WhyMail> {
  const [records, left, topics, history] = await Promise.all([
    suppressionsOf(read, accountId, email),
    optOutsOf(read, accountId, email),
    listTopics(read, accountId),
    contactHistory(read, accountId, email),
  ])
  const came = history.filter(({ kind }) => kindsOfComing.has(kind)).slice(-1)
  const mentioned = [...records, ...history.map(({ detail }) => detail)]
  const subjects = await subjectsOf(
    read,
    accountId,
    mentioned.flatMap(({ emailId }) => emailId ?? []),
  )
  const told = (event: ConsentEvent) => causeOf(event, subjects)
  const verdictOf = (
    against: readonly MailCause[],
    inFavour: readonly MailCause[] = [],
  ): MailVerdict =>
    against.length > 0
      ? { gets: false, because: [...against] }
      : { gets: true, because: [...inFavour] }
  const blocks = (some: readonly Suppression[]) =>
    some
      .map((record) => told(eventOf(record, history)))
      .map((cause, at) => ({
        ...cause,
        until: some[at]?.expiresAt ?? null,
      }))
  const marketing = verdictOf(blocks(records), came.map(told))
  return {
    says: sentenceOf(marketing),
    marketing,
    transactional: verdictOf(blocks(records.filter(({ scope }) => scope === 'all'))),
    topics: topics.map(({ id, name }) => {
      const at = left.get(id)
      const own = at === undefined ? [] : [told(leavingOf(id, at, history))]
      const against = marketing.gets ? own : [...own, ...marketing.because]
      const back = own.length > 0 ? undefined : returnTo(id, history)
      return { id, name, ...verdictOf(against, back && [told(back)]) }
    }),
  }
}

/** Events that say that somebody wants mail. */
const kindsOfComing: ReadonlySet<ConsentKind> = new Set(['added', 'imported', 'lifted'])

/** The consent record's kind for each reason. */
const kindOf: Readonly<Record<SuppressionReason, ConsentKind>> = {
  unsubscribe: 'unsubscribed',
  bounce: 'bounced',
  complaint: 'complained',
  manual: 'suppressed',
}

/** A suppression as an event: the consent record knows more about it than its row. */
function eventOf(
  { reason, createdAt, emailId, detail }: Suppression,
  history: readonly ConsentEvent[],
): ConsentEvent {
  const kind = kindOf[reason]
  const recorded = history.findLast((event) => event.kind === kind && event.at === createdAt)
  return {
    kind,
    at: createdAt,
    detail: {
      ...recorded?.detail,
      ...(emailId !== null && { emailId }),
      ...(detail !== null && { note: detail }),
    },
  }
}

/** An opt-out of a topic as an event. */
const leavingOf = (topicId: string, at: number, history: readonly ConsentEvent[]): ConsentEvent =>
  history.findLast(({ kind, detail }) => kind === 'left_topic' && detail.topicId === topicId) ?? {
    kind: 'left_topic',
    at,
    detail: { topicId },
  }

/** The last time that they came back to a topic, if that was after they joined at all. */
function returnTo(topicId: string, history: readonly ConsentEvent[]): ConsentEvent | undefined {
  const back = history.findLast(
    ({ kind, detail }) => kind === 'returned_to_topic' && detail.topicId === topicId,
  )
  const came = history.findLast(({ kind }) => kindsOfComing.has(kind))
  return back && (came === undefined || back.at >= came.at) ? back : undefined
}

function causeOf(
  { kind, at, detail }: ConsentEvent,
  subjects: ReadonlyMap<string, string>,
): MailCause {
  const { emailId, note = null, listId = null, file = null } = detail
  return {
    kind,
    at,
    by: detail.by === 'return' ? 'recipient' : (detail.by ?? usuallyBy(kind, emailId)),
    email: emailId === undefined ? null : { id: emailId, subject: subjects.get(emailId) ?? null },
    note,
    listId,
    file,
    until: null,
  }
}

/** Who usually says such a thing, where the record does not name them. */
function usuallyBy(kind: ConsentKind, emailId: string | undefined): string | null {
  if (kind === 'bounced') return 'server'
  if (kind === 'complained' || kind === 'left_topic') return 'recipient'
  // By the link in a mail, which nobody else has.
  return kind === 'unsubscribed' && emailId !== undefined ? 'recipient' : null
}

/** The subjects of mails of this account, by their ids. */
async function subjectsOf(read: Read, accountId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, string>()
  const rows = await read
    .selectFrom('emails')
    .select(['id', 'subject'])
    .where('id', 'in', idsIn([...new Set(ids)], 'text'))
    .where('account_id', '=', accountId)
    .execute()
  return new Map(rows.map(({ id, subject }) => [id, subject]))
}

/** The strongest reason that keeps somebody from mail, in one sentence. */
function sentenceOf({ gets, because }: MailVerdict): string {
  if (gets) return 'Gets your marketing mail'
  const strength: readonly ConsentKind[] = ['complained', 'bounced', 'suppressed', 'unsubscribed']
  const cause = strength.flatMap((kind) => because.filter((one) => one.kind === kind))[0]
  if (cause === undefined) return 'Gets none'
  const { kind, at, by, email } = cause
  const mail =
    email === null ? '' : ` by the mail ${email.subject ? `“${email.subject}”` : email.id}`
  const happened = by === 'erasure' ? erasedWords : happeningWords[kind]
  return `Gets none: ${happened} on ${day(at)}${mail}`
}

/** What has happened to somebody whom an erasure has suppressed. */
export const erasedWords = `${noMailWords.erased}, added again`

/** What happened, as a part of a sentence about somebody. */
export const happeningWords: Readonly<Record<ConsentKind, string>> = {
  added: 'added',
  imported: 'imported',
  confirmed: 'confirmed by mail',
  signed_up: 'signed up by a form, without a confirmation',
  unsubscribed: 'unsubscribed',
  bounced: 'bounced',
  complained: 'complained',
  suppressed: noMailWords.suppressed,
  left_topic: 'left this topic',
  returned_to_topic: 'came back to this topic',
  said_why: 'said why they left',
  changed_fields: 'changed what is known of them',
  lifted: 'taken off the suppression list',
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
/** `3 Nov 2026`, UTC. */
const day = (at: number) => dayFormat.format(at)
