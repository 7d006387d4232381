import { wordsOfLeaving } from '../consent/index.js'
import { ApiError } from '../errors/index.js'
import { type CountedReason, countedReasons } from '../preferences/index.js'
import { providerOf } from '../protection/index.js'
import { type EmailStatus, idsIn, type Read } from '../store/index.js'
import { leftOutWords, pageOfLeftOut } from './left-out.js'
import { pageOfNeverSent } from './never-sent.js'
import { type BroadcastRecipient, onlyOf, pageOfRecipients } from './recipients.js'

/** The people that a report can list: by facts of contacts, or by the state of their mails. */
export const whoOfContacts = [
  ...(['opened', 'clicked', 'left', 'complained'] as const),
  ...(['unreached', 'bounced', 'failed', 'suppressed'] as const),
]
export const whoOfMails = [
  ...(['made', 'sent', 'delivered', 'not_opened', 'not_clicked'] as const),
  ...(['waiting', 'cancelled'] as const),
]
export const whoNames = [...whoOfContacts, ...whoOfMails, 'not_sent', 'left_out'] as const
export type Who = (typeof whoNames)[number]
type WhoOfContacts = (typeof whoOfContacts)[number]

/** Which people of a campaign. */
export interface PeopleAsked {
  who: Who
  /** For people who clicked: the link's number. */
  link?: number | undefined
  /** For people who were not reached: the reason's number. */
  reason?: number | undefined
  /** For people who left: the reason that they gave. */
  why?: CountedReason | undefined
  /** Only people at this mailbox provider, by its name in the report; `*`: at one that the report does not name. */
  provider?: string | undefined
  /** Only people with this version. */
  variant?: string | undefined
  /** For people with a version: those on whom it was tried, or those who got it as the rest. */
  part?: VersionPart | undefined
}

export const versionParts = ['test', 'rest'] as const
export type VersionPart = (typeof versionParts)[number]

/** A person in a report. */
export interface ReportPerson extends BroadcastRecipient {
  /** Null for a person without a mail, as the rest was cancelled before it was made. */
  emailId: string | null
  /** Why the mail did not arrive, in the server's words or ours; null where it arrived, or nobody said. */
  reason: string | null
  /** Why they left by it, and what they wrote last about that; null where they did not leave, or did not say. */
  whyLeft: CountedReason | null
  words: string | null
}

interface PeoplePart extends PeopleAsked {
  /** Where the page before ended. */
  after?: string | undefined
  limit: number
}

/** A page of people; `endsAt`: where the next one begins, null at the end. It may have fewer than `limit`. */
export interface PeoplePage {
  recipients: ReportPerson[]
  endsAt: string | null
}

// The most rows that a page looks at, as in `recipients.ts`.
const mostLookedAt = 2_000

/** A page of the people behind a number of the report, by an index that has only those. */
export async function pageOfPeople(
  read: Read,
  broadcastId: string,
  part: PeoplePart,
): Promise<PeoplePage> {
  const { who, link, reason, why } = part
  if (link !== undefined && who !== 'clicked') {
    throw new ApiError('validation_error', '"link" goes with "who=clicked" only')
  }
  if (reason !== undefined && !isOfReasons(who)) {
    throw new ApiError('validation_error', '"reason" goes with "who=unreached" only')
  }
  if (why !== undefined && who !== 'left') {
    throw new ApiError('validation_error', '"why" goes with "who=left" only')
  }
  if (part.part !== undefined && part.variant === undefined) {
    throw new ApiError('validation_error', '"part" goes with "variant" only')
  }
  if (who === 'not_sent') return await pageOfUnsent(read, broadcastId, part)
  if (who === 'left_out') return await pageOfOut(read, broadcastId, part)
  if (isOfContacts(who)) return await pageOfContacts(read, broadcastId, { ...part, who })
  const { after, limit } = part
  const keep = keeperOf(read, broadcastId, part)
  const page = await pageOfRecipients(read, broadcastId, { after, limit, fits: fitsOf[who], keep })
  return { ...page, recipients: await withReasons(read, page.recipients) }
}

/** These people have no mail, so none at a provider or with a version. */
function refuseOfMail({ who, provider, variant }: PeopleAsked): void {
  if ((provider ?? variant) === undefined) return
  const message = `"provider" and "variant" do not go with "who=${who}": there is no mail`
  throw new ApiError('validation_error', message)
}

// For a person without a mail.
const noMail = {
  emailId: null,
  openedAt: null,
  clickedAt: null,
  opensCount: 0,
  clicksCount: 0,
  whyLeft: null,
  words: null,
}

/** People who got no mail when mails were made. */
async function pageOfOut(read: Read, broadcastId: string, part: PeoplePart): Promise<PeoplePage> {
  refuseOfMail(part)
  const { people, endsAt } = await pageOfLeftOut(read, broadcastId, part)
  const recipients = people.map(({ email, why }) =>
    Object.assign({ email, status: 'suppressed' as const, reason: leftOutWords[why] }, noMail),
  )
  return { recipients, endsAt }
}

/** People of a cancelled rest. */
async function pageOfUnsent(
  read: Read,
  broadcastId: string,
  part: PeoplePart,
): Promise<PeoplePage> {
  refuseOfMail(part)
  const { after, limit } = part
  const broadcast = await read
    .selectFrom('broadcasts')
    .selectAll()
    .where('id', '=', broadcastId)
    .executeTakeFirstOrThrow()
  const { people, endsAt } = await pageOfNeverSent(read, broadcast, { after, limit })
  const reason = 'The rest was cancelled before it went out'
  return {
    recipients: people.map(({ email }) =>
      Object.assign({ email, status: 'cancelled' as const, reason }, noMail),
    ),
    endsAt,
  }
}

/** Adds to each person why their mail did not arrive, from the log. */
export async function withReasons<R extends { emailId: string; status: EmailStatus }>(
  read: Read,
  recipients: readonly R[],
): Promise<(R & Pick<ReportPerson, 'reason' | 'whyLeft' | 'words'>)[]> {
  const isLost = ({ status }: R) => isOfReasons(status)
  const replies = await repliesOf(
    read,
    recipients.filter(isLost).map(({ emailId }) => emailId),
  )
  return recipients.map((one) => ({
    ...one,
    reason: isLost(one) ? (replies.get(one.emailId) ?? null) : null,
    whyLeft: null,
    words: null,
  }))
}

const kindNames = ['bounced', 'failed', 'suppressed'] as const
const isOfContacts = (who: Who): who is WhoOfContacts =>
  (whoOfContacts as readonly string[]).includes(who)
const isOfReasons = (who: string) => ['unreached', ...kindNames].includes(who)

type MailFacts = Pick<BroadcastRecipient, 'openedAt' | 'clickedAt' | 'status'>

// A server or a smart host has accepted it: `sent` is a mail that a smart host has.
const isTaken = ({ status }: MailFacts) => status === 'delivered' || status === 'sent'
const fitsOf: Record<(typeof whoOfMails)[number], (mail: MailFacts) => boolean> = {
  made: () => true,
  sent: (mail) => isTaken(mail) || mail.status === 'bounced' || mail.status === 'failed',
  delivered: isTaken,
  // Whoever clicks has it open, whether their program loaded the pixel or not.
  not_opened: (mail) => isTaken(mail) && mail.openedAt === null && mail.clickedAt === null,
  not_clicked: (mail) => isTaken(mail) && mail.clickedAt === null,
  waiting: ({ status }) => status === 'queued' || status === 'sending',
  cancelled: ({ status }) => status === 'cancelled',
}

async function pageOfContacts(
  read: Read,
  broadcastId: string,
  {
    who,
    link,
    reason,
    why,
    provider,
    variant,
    part,
    after = '',
    limit,
  }: PeoplePart & {
    who: WhoOfContacts
  },
): Promise<PeoplePage> {
  const kind = kindNames.find((name) => name === who)
  const keep = keeperOf(read, broadcastId, { provider, variant, part })
  const isSome = keep !== undefined || (kind ?? reason ?? why) !== undefined
  const most = isSome ? mostLookedAt : limit + 1
  const rows = await (link === undefined
    ? marksOf(read, broadcastId, who, { after, most })
    : clicksOn(read, broadcastId, link, { after, most }))
  const reasons = kind === undefined ? undefined : await reasonsOf(read, broadcastId, kind)
  const fitting = rows.filter(
    ({ bounce, why_left }) =>
      (reasons === undefined || reasons.has(bounce)) &&
      (reason === undefined || bounce === reason) &&
      (why === undefined || why_left === why),
  )
  const kept = await keep?.(fitting.map(({ emailId }) => emailId))
  const found = kept === undefined ? fitting : fitting.filter(({ emailId }) => kept.has(emailId))
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : rows.at(-1)
  const isEnd = found.length <= limit && rows.length < most
  return {
    recipients: await peopleAmong(
      read,
      broadcastId,
      page.map(({ contactId }) => contactId),
    ),
    endsAt: isEnd || last === undefined ? null : last.contactId,
  }
}

const columnOf = {
  opened: 'opened_at',
  clicked: 'clicked_at',
  left: 'left_at',
  complained: 'complained_at',
  unreached: 'unreached_at',
  bounced: 'unreached_at',
  failed: 'unreached_at',
  suppressed: 'unreached_at',
} as const

/** A slice of people in the order of contacts. */
interface Slice {
  after: string
  most: number
}

/**
 * Keeps, of some mails, those with one version and with recipients at one provider; undefined: all. It looks at the
 * mails, so it works as long as they are kept.
 */
function keeperOf(
  read: Read,
  broadcastId: string,
  { provider, variant, part }: Pick<PeopleAsked, 'provider' | 'variant' | 'part'>,
): ((emailIds: readonly string[]) => Promise<ReadonlySet<string>>) | undefined {
  if (provider === undefined && variant === undefined) return undefined
  return async (emailIds) => {
    const last = part === undefined ? undefined : await lastOfTest(read, broadcastId, variant ?? '')
    const named = provider === others ? await providersNamed(read, broadcastId) : undefined
    const rows = await read
      .selectFrom('emails')
      .leftJoin('deliveries', 'deliveries.email_id', 'emails.id')
      .select(['emails.id', 'to_list', 'variant', 'remote'])
      .where('emails.id', 'in', idsIn([...emailIds], 'text'))
      .execute()
    const isThere = (own: string) => (named === undefined ? own === provider : !named.has(own))
    const fitting = rows.filter(
      (row) =>
        (variant === undefined || row.variant === variant) &&
        (last === undefined || (part === 'rest') === (last !== null && row.id > last)) &&
        (provider === undefined || isThere(providerOf(onlyOf(row.to_list), row.remote))),
    )
    return new Set(fitting.map(({ id }) => id))
  }
}

/** The last mail of the test, for a version that a rest gets; null for any other. */
async function lastOfTest(read: Read, broadcastId: string, key: string): Promise<string | null> {
  const row = await read
    .selectFrom('broadcast_variants')
    .select('rest_after')
    .where('broadcast_id', '=', broadcastId)
    .where('key', '=', key)
    .executeTakeFirst()
  return row?.rest_after ?? null
}

/** The report's name for all providers that it does not name. */
const others = '*'

async function providersNamed(read: Read, broadcastId: string): Promise<ReadonlySet<string>> {
  const rows = await read
    .selectFrom('broadcast_providers')
    .select('provider')
    .where('broadcast_id', '=', broadcastId)
    .execute()
  return new Set(rows.map(({ provider }) => provider))
}

/** People of one kind, by the index that has only those. */
const marksOf = (read: Read, broadcastId: string, who: WhoOfContacts, { after, most }: Slice) =>
  read
    .selectFrom('broadcast_people')
    .select(['contact_id as contactId', 'email_id as emailId', 'bounce', 'why_left'])
    .where('broadcast_id', '=', broadcastId)
    .where(columnOf[who], 'is not', null)
    .where('contact_id', '>', after)
    .orderBy('contact_id')
    .limit(most)
    .execute()

async function clicksOn(read: Read, broadcastId: string, link: number, { after, most }: Slice) {
  const rows = await read
    .selectFrom('broadcast_link_people')
    .innerJoin('broadcast_people', (join) =>
      join
        .onRef('broadcast_people.contact_id', '=', 'broadcast_link_people.contact_id')
        .onRef('broadcast_people.broadcast_id', '=', 'broadcast_link_people.broadcast_id'),
    )
    .select(['broadcast_link_people.contact_id as contactId', 'email_id as emailId'])
    .where('broadcast_link_people.broadcast_id', '=', broadcastId)
    .where('link', '=', link)
    .where('broadcast_link_people.contact_id', '>', after)
    .orderBy('broadcast_link_people.contact_id')
    .limit(most)
    .execute()
  return rows.map((row) => ({ ...row, bounce: null, why_left: null }))
}

/** The numbers of the reasons of a kind. */
async function reasonsOf(read: Read, broadcastId: string, kind: (typeof kindNames)[number]) {
  const rows = await read
    .selectFrom('broadcast_bounces')
    .select('number')
    .where('broadcast_id', '=', broadcastId)
    .where('kind', '=', kind)
    .execute()
  return new Set<number | null>(rows.map(({ number }) => number))
}

/** What is known about these contacts and the campaign, in the order of contacts. */
async function peopleAmong(
  read: Read,
  broadcastId: string,
  contactIds: readonly string[],
): Promise<ReportPerson[]> {
  const rows = await read
    .selectFrom('broadcast_people')
    .innerJoin('contacts', 'contacts.id', 'broadcast_people.contact_id')
    .leftJoin('emails', 'emails.id', 'broadcast_people.email_id')
    .leftJoin('broadcast_bounces', (join) =>
      join
        .onRef('broadcast_bounces.broadcast_id', '=', 'broadcast_people.broadcast_id')
        .onRef('broadcast_bounces.number', '=', 'broadcast_people.bounce'),
    )
    .select(['contacts.address as email', 'contacts.account_id as accountId'])
    .select(['broadcast_people.email_id as emailId', 'broadcast_people.why_left'])
    .select(['broadcast_people.opened_at', 'broadcast_people.clicked_at', 'unreached_at'])
    .select(['emails.status', 'emails.opens', 'emails.clicks'])
    .select(['broadcast_bounces.kind', 'broadcast_bounces.words'])
    .where('broadcast_people.contact_id', 'in', idsIn([...contactIds], 'text'))
    .where('broadcast_people.broadcast_id', '=', broadcastId)
    .orderBy('broadcast_people.contact_id')
    .execute()
  const replies = await repliesOf(
    read,
    rows.filter(({ unreached_at }) => unreached_at !== null).map(({ emailId }) => emailId),
  )
  const said = rows.flatMap(({ why_left, email }) => (why_left === null ? [] : [email]))
  const words = await wordsOfLeaving(read, rows[0]?.accountId ?? '', said)
  return rows.map((row) => ({
    emailId: row.emailId,
    email: row.email,
    status: row.status ?? statusOf(row),
    openedAt: row.opened_at,
    clickedAt: row.clicked_at,
    // For a deleted mail nobody knows how often.
    opensCount: row.opens ?? Number(row.opened_at !== null),
    clicksCount: row.clicks ?? Number(row.clicked_at !== null),
    reason: row.unreached_at === null ? null : (replies.get(row.emailId) ?? row.words),
    whyLeft: countedReasons.find((one) => one === row.why_left) ?? null,
    words: words.get(row.email) ?? null,
  }))
}

/** The final state of a deleted mail. */
const statusOf = ({ kind }: { kind: EmailStatus | null }): EmailStatus => kind ?? 'delivered'

/** What servers said last, word for word, if the log still has it. */
async function repliesOf(read: Read, emailIds: readonly string[]) {
  if (emailIds.length === 0) return new Map<string, string>()
  const rows = await read
    .selectFrom('deliveries')
    .select(['email_id', 'reply'])
    .where('email_id', 'in', idsIn([...emailIds], 'text'))
    .execute()
  return new Map(rows.flatMap(({ email_id, reply }) => (reply === null ? [] : [[email_id, reply]])))
}
