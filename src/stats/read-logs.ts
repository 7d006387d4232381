import { sql } from 'kysely'
import type { ConsentDetail } from '../consent/index.js'
import type { EventDetail } from '../events/index.js'
import { providerOf } from '../protection/index.js'
import {
  idsIn,
  isTestId,
  mailNumber,
  queueClass,
  type Read,
  storedJson,
  unindexed,
  wholeTo,
} from '../store/index.js'
import { notedAmong } from './campaigns/mailed.js'
import { type CampaignTold, toldBy } from './campaigns/told.js'
import { countsOf, type LoggedEvent, mailFacts, noFacts, tellFirsts } from './count-event.js'
import type { Cursors } from './cursors.js'
import { type Engaged, engagedIn } from './engagement.js'
import { firstLeavings } from './first-leaving.js'
import type { LoggedRow } from './tally.js'

/** Rows of the logs after the cursors, and the cursors after these rows. */
export interface LogSlice {
  happenings: LoggedRow[]
  /** What people did with their mail, and what was sent to them. */
  engaged: Engaged[]
  /** What recipients of campaigns did, and whom they did not reach. */
  told: CampaignTold[]
  next: Cursors
  /** Whether there may be more. */
  more: boolean
}

/**
 * A slice has at most `limit` rows of each log, of one account or of all, in the order in which they were committed.
 */
export interface SliceOptions {
  limit: number
  accountId?: string
}

type Bounded = SliceOptions & { upTo: number }

/** The next rows of each log after the cursors, read by their numbers in bounded slices. */
export async function readLogs(
  read: Read,
  from: Cursors,
  options: SliceOptions,
): Promise<LogSlice> {
  const events = await readEvents(read, from, options)
  const consents = await readConsents(read, from, options)
  const mails = await readMails(read, from, options)
  const lastMail = mails.rows.at(-1)
  return {
    happenings: [...events.happenings, ...consents.happenings, ...mails.happenings],
    engaged: engagedIn(events.events),
    told: [...events.told, ...consents.told],
    next: {
      event_id: events.rows.at(-1)?.id ?? from.event_id,
      consent_id: consents.rows.at(-1)?.id ?? from.consent_id,
      mail_number: lastMail?.number ?? from.mail_number,
      mail_id: lastMail?.id ?? from.mail_id,
      untold_until: from.untold_until,
    },
    more: [events, consents, mails].some(({ rows }) => rows.length === options.limit),
  }
}

/** The rows after the cursors, found by their numbers for all accounts: one account may have most of the log. */
export const behind = {
  events: (read: Read, from: Cursors, { limit, accountId, upTo }: Bounded) =>
    read
      .selectFrom('events')
      .select(['id', 'account_id as accountId', 'email_id as emailId', 'delivery_id as deliveryId'])
      .select(['recipient', 'class', 'type', 'at', 'reply', 'detail'])
      .where('id', '>', from.event_id)
      .where('id', '<=', upTo)
      .$if(accountId !== undefined, (query) => query.where(ofAccount, '=', accountId ?? ''))
      .orderBy('id')
      .limit(limit),
  consents: (read: Read, from: Cursors, { limit, accountId, upTo }: Bounded) =>
    read
      .selectFrom('consent')
      .select(['id', 'account_id as accountId', 'address', 'at', 'kind', 'detail'])
      .where('id', '>', from.consent_id)
      .where('id', '<=', upTo)
      .$if(accountId !== undefined, (query) => query.where(ofAccount, '=', accountId ?? ''))
      .orderBy('id')
      .limit(limit),
  mails: (read: Read, from: Cursors, { limit, accountId, upTo }: Bounded) =>
    read
      .selectFrom('emails')
      .select([mailNumber.as('number'), 'id', 'account_id as accountId', 'created_at as at'])
      .where(mailNumber, '>', from.mail_number)
      .where(mailNumber, '<=', upTo)
      .$if(accountId !== undefined, (query) => query.where(ofAccount, '=', accountId ?? ''))
      .orderBy(mailNumber)
      .limit(limit),
}

// Not by the index of accounts, which would read all of an account's mail.
const ofAccount = unindexed<string>('account_id')

/** Events after the cursor, each with its mail's facts and its provider. */
async function readEvents(read: Read, from: Cursors, options: SliceOptions) {
  const upTo = await wholeTo(read, 'events')
  const rows = await behind.events(read, from, { ...options, upTo }).execute()
  const logged = rows.map((row) => ({
    ...row,
    detail: (storedJson(row.detail) ?? null) as EventDetail | null,
  }))
  const untold = logged.filter(({ id }) => id <= from.untold_until)
  const told = logged.filter(({ id }) => id > from.untold_until)
  const events = [...(await tellFirsts(read, untold)), ...told]
  const facts = await mailFacts(
    read,
    events.map(({ emailId }) => emailId),
  )
  const remotes = await remotesOf(read, events)
  const happenings: LoggedRow[] = []
  for (const event of events) {
    const counts = countsOf(event)
    if (counts === undefined) continue
    const { id, at, emailId, recipient, deliveryId } = event
    // While no server has decided, another one may answer at the next attempt.
    const remote = event.type === 'deferred' ? null : (remotes.get(deliveryId) ?? null)
    happenings.push({
      log: 'event',
      id,
      at,
      counts,
      accountId: event.accountId,
      isTest: isTestId(emailId),
      mail: facts.get(emailId) ?? noFacts(event.class),
      provider: recipient === null ? undefined : providerOf(recipient, remote),
    })
  }
  // Asked after the events were read: for a campaign that is noted from now on, the earlier mails are looked up.
  const noted = await notedAmong(
    read,
    [...facts.values()].flatMap(({ broadcastId }) => broadcastId ?? []),
  )
  const providers = new Map(happenings.map(({ id, provider }) => [id, provider]))
  const all = toldBy(events, facts, noted)
  return {
    rows,
    events,
    happenings,
    told: all.map((one) => atProvider(one, providers.get(one.id))),
  }
}

const atProvider = (one: CampaignTold, provider: string | undefined): CampaignTold =>
  Object.assign(one, { provider })

/** The server that answered last, for each delivery. */
async function remotesOf(read: Read, events: readonly LoggedEvent[]) {
  const ids = events.flatMap(({ deliveryId }) => deliveryId ?? [])
  const rows = await read
    .selectFrom('deliveries')
    .select(['id', 'remote'])
    .where('id', 'in', idsIn([...new Set(ids)], 'integer'))
    .execute()
  return new Map<number | null, string | null>(rows.map(({ id, remote }) => [id, remote]))
}

/**
 * Who has left all marketing mail, or a topic, by a mail: by its link, its button, or a provider's report. Only the
 * first time counts, as for opens.
 */
async function readConsents(read: Read, from: Cursors, options: SliceOptions) {
  const upTo = await wholeTo(read, 'consent')
  const rows = await behind.consents(read, from, { ...options, upTo }).execute()
  const left = rows.flatMap(({ kind, detail, ...row }) => {
    if (kind !== 'unsubscribed' && kind !== 'left_topic') return []
    const { emailId, by } = (storedJson(detail) ?? {}) as ConsentDetail
    // Coming back to one topic does not leave the other topics.
    return emailId === undefined || by === 'return' ? [] : [{ ...row, emailId }]
  })
  if (left.length === 0) return { rows, happenings: [], told: [] }
  const emailIds = left.map(({ emailId }) => emailId)
  const facts = await mailFacts(read, emailIds)
  const copies = await read
    .selectFrom('deliveries')
    .select(['email_id', 'recipient', 'remote'])
    .where('email_id', 'in', idsIn([...new Set(emailIds)], 'text'))
    .execute()
  const remotes = new Map(
    copies.map((copy) => [`${copy.email_id} ${copy.recipient.toLowerCase()}`, copy.remote]),
  )
  const firsts = await firstLeavings(read, left, facts)
  const counted = left.filter(({ id }) => firsts.has(id))
  const happenings = counted.map(
    ({ id, at, accountId, address, emailId }): LoggedRow => ({
      log: 'consent',
      id,
      at,
      accountId,
      counts: { unsubscribed: 1 },
      isTest: isTestId(emailId),
      mail: facts.get(emailId) ?? noFacts(queueClass.campaign),
      provider: providerOf(address, remotes.get(`${emailId} ${address}`) ?? null),
    }),
  )
  const told = left.flatMap(({ id, at, accountId, address, emailId }): CampaignTold[] => {
    const broadcastId = facts.get(emailId)?.broadcastId ?? null
    if (broadcastId === null) return []
    const row = { log: 'consent' as const, id, at, accountId, emailId, broadcastId }
    const provider = providerOf(address, remotes.get(`${emailId} ${address}`) ?? null)
    return [{ ...row, recipient: address, provider, what: 'left', machine: false }]
  })
  return { rows, happenings, told }
}

/** Accepted mails with their recipients; their providers are not known yet. */
async function readMails(read: Read, from: Cursors, options: SliceOptions) {
  const upTo = await wholeTo(read, 'emails')
  const rows = await behind.mails(read, from, { ...options, upTo }).execute()
  const facts = await mailFacts(
    read,
    rows.map(({ id }) => id),
  )
  const recipients = await recipientsOf(
    read,
    rows.map(({ id }) => id),
  )
  const happenings = rows.map(({ number, id, accountId, at }): LoggedRow => {
    const { accepted = 0, suppressed = 0 } = recipients.get(id) ?? {}
    return {
      log: 'mail',
      id: number,
      at,
      accountId,
      provider: undefined,
      isTest: isTestId(id),
      mail: facts.get(id) ?? noFacts(queueClass.transactional),
      counts: { mails: 1, accepted, suppressed },
    }
  })
  return { rows, happenings }
}

/**
 * How many recipients each mail has, in the queue and in the log, and how many were on the suppression list when it
 * was accepted. Those who are found on it later have an event. It is one statement, because a delivery that ends
 * between two statements would be in both.
 */
async function recipientsOf(read: Read, emailIds: readonly string[]) {
  const of = idsIn(emailIds, 'text')
  const waiting = read
    .selectFrom('queue')
    .select(({ fn }) => ['email_id as emailId', fn.countAll<number>().as('accepted')])
    .select(sql<number>`0`.as('suppressed'))
    .where('email_id', 'in', of)
    .groupBy('email_id')
  const ended = read
    .selectFrom('deliveries')
    .innerJoin('emails', 'emails.id', 'deliveries.email_id')
    .select(({ fn }) => ['email_id as emailId', fn.countAll<number>().as('accepted')])
    .select(
      sql<number>`sum(case when deliveries.status = 'suppressed' and ended_at = created_at
        then 1 else 0 end)`.as('suppressed'),
    )
    .where('email_id', 'in', of)
    .groupBy('email_id')
  const counts = new Map<string, { accepted: number; suppressed: number }>()
  for (const { emailId, accepted, suppressed } of await waiting.unionAll(ended).execute()) {
    const before = counts.get(emailId) ?? { accepted: 0, suppressed: 0 }
    counts.set(emailId, {
      accepted: before.accepted + accepted,
      suppressed: before.suppressed + suppressed,
    })
  }
  return counts
}
