import { sql, type UpdateResult } from 'kysely'
import type { EventDetail, LandEvents, MailEvent } from '../events/index.js'
import type { Verdict } from '../reports/index.js'
import {
  cell,
  type DeliveryRow,
  idsOf,
  type LastCause,
  locked,
  prepared,
  type QueueClass,
  rowsOf,
  type Tx,
} from '../store/index.js'
import { keepTranscript } from './deferred-transcripts.js'
import { insertEnded } from './end.js'
import { campaignPaused, never } from './hold.js'

interface Attempt {
  id: number
  emailId: string
  accountId: string
  class: QueueClass
  recipient: string
  /** When the attempt began. */
  startedAt: number
  /** All attempts so far, this one included. */
  attempts: number
  /** The server's answer verbatim, or our own sentence when there was none. */
  reply: string
  remote: string | null
  tls: string | null
  transcript: string
  /** What a refusal means. */
  verdict?: Verdict
  /** It went by a smart host and not to the recipient's own server. */
  failover?: boolean
}

/** How an attempt ended: for good, or with another attempt to come at `dueAt`. */
export type Settlement =
  /**
   * `suppressed`: there was no attempt, as the recipient was suppressed after the mail was accepted. `relayed`: a smart
   * host has taken it on, which says nothing of the recipient yet.
   */
  | (Attempt & { kind: 'delivered' | 'relayed' | 'bounced' | 'failed' | 'suppressed' })
  | Deferred
  | Held

type Deferred = Attempt & {
  kind: 'deferred'
  dueAt: number
  source: string | null
  putOffBy: string | null
  cause: LastCause | null
}
/** There was no attempt, as its campaign is paused. `dueAt`: when it was due. */
type Held = Attempt & { kind: 'held'; dueAt: number }
type Tried = Exclude<Settlement, Held>

/** Whether the delivery leaves the queue. */
export const isEnded = ({ kind }: Pick<Settlement, 'kind'>): boolean =>
  kind !== 'deferred' && kind !== 'held'

/**
 * Writes what became of attempts: ended deliveries move from the queue to the log, deferred ones get their next time,
 * each email's counters and status follow, and events land. Two kinds change nothing: a settlement that is no longer
 * under `lease` (an operator took the delivery back, or another appliance has taken it over), and the second one of a
 * delivery. Returns how many counted. By row: it holds what it decides by, except for a paused campaign (`holdsBack`).
 */
export async function settle(
  tx: Tx,
  settlements: readonly Settlement[],
  options: { lease: number; now: number; land: LandEvents },
): Promise<number> {
  const mine = await takeLeased(tx, settlements, options.lease)
  if (mine.length === 0) return 0
  const held = mine.filter(isHeld)
  if (held.length > 0) await holdPaused(tx, held, options.now)
  const tried = mine.filter((settlement): settlement is Tried => !isHeld(settlement))
  const ended = tried.filter(isEnded)
  await insertEnded(
    tx,
    ended.map((settlement) => toRow(settlement, options.now)),
  )
  const mails = await mailsOf(tx, tried)
  const events: MailEvent[] = []
  for (const settlement of tried) {
    if (settlement.kind === 'deferred') {
      await defer(tx, settlement)
      await keepTranscript(tx, { ...settlement, at: options.now })
    }
    const { kind, startedAt } = settlement
    const mail = mails.get(settlement.emailId)
    const stepId = mail?.stepId
    if (kind !== 'suppressed' && mail?.sentAt === null) {
      mail.sentAt = startedAt
      events.push({ stepId, ...eventOf(settlement, 'sent', startedAt) })
    }
    events.push({ stepId, ...eventOf(settlement, kind, options.now) })
  }
  await countOutcomes(tx, tried)
  await options.land(tx, events)
  return mine.length
}

function eventOf(settlement: Tried, type: MailEvent['type'], at: number): MailEvent {
  const { accountId, emailId, id, recipient, reply } = settlement
  const of = { accountId, emailId, class: settlement.class, type, at }
  // This event is about the attempt, not its outcome, and about the mail, not a recipient.
  if (type === 'sent')
    return { deliveryId: null, recipient: null, reply: null, detail: null, ...of }
  const { remote } = settlement
  return { deliveryId: id, recipient, reply, detail: detailOf(settlement), remote, ...of }
}

function detailOf({ kind, verdict }: Settlement): EventDetail | null {
  if (verdict === undefined) return null
  const { class: bounceClass, rule, bounceType, suppress, soft } = verdict
  if (kind === 'deferred') return { bounceClass, rule }
  const means = suppress ? 'now' : soft ? 'repeated' : undefined
  return { bounceType, bounceClass, rule, ...(means === undefined ? {} : { suppress: means }) }
}

/** Those that are still leased, the first of each delivery; those that ended leave the queue. */
async function takeLeased(
  tx: Tx,
  settlements: readonly Settlement[],
  lease: number,
): Promise<Settlement[]> {
  const seen = new Set<number>()
  const firsts = settlements.filter(({ id }) => !seen.has(id) && seen.add(id))
  const ended = firsts.filter(isEnded)
  const staying = firsts.filter((settlement) => !isEnded(settlement))
  const leased = new Set<number>()
  if (ended.length > 0) {
    for (const { id } of await deleteLeased(tx, { ids: idsText(ended), lease })) leased.add(id)
  }
  if (staying.length > 0) {
    for (const { id } of await leasedAmong(tx, { ids: idsText(staying), lease })) leased.add(id)
  }
  return firsts.filter(({ id }) => leased.has(id))
}

const idsText = (settlements: readonly Settlement[]) =>
  JSON.stringify(settlements.map((settlement) => settlement.id))

interface Leased {
  ids: string
  lease: number
}

const deleteLeased = prepared<Leased, { id: number }>((db, { ids, lease }) =>
  db
    .deleteFrom('queue')
    .where('id', 'in', idsOf(ids, 'integer'))
    .where('lease', '=', lease)
    .returning('id'),
)

const leasedAmong = prepared<Leased, { id: number }>((db, { ids, lease }) =>
  db
    .selectFrom('queue')
    .select('id')
    .where('id', 'in', idsOf(ids, 'integer'))
    .where('lease', '=', lease)
    .modifyEnd(locked),
)

interface SettledMail {
  id: string
  /** Null: it had no attempt before. */
  sentAt: number | null
  stepId: number | null
}

/** What is known of their mails. A delivery without a mail is a fault, but must end all the same. */
async function mailsOf(tx: Tx, settlements: readonly Settlement[]) {
  const emailIds = idsOfMails(settlements)
  return new Map((await settledMails(tx, { emailIds })).map((mail) => [mail.id, mail]))
}

const settledMails = prepared<{ emailIds: string }, SettledMail>((db, { emailIds }) =>
  db
    .selectFrom('emails')
    .select(['id', 'sent_at as sentAt', 'automation_step_id as stepId'])
    .where('id', 'in', idsOf(emailIds, 'text'))
    // Another thread may settle another recipient's delivery: one of the two is the first.
    .orderBy('id')
    .modifyEnd(locked),
)

/** Whether it decides by a campaign, which may go on meanwhile: then it is no work by row. */
export const holdsBack = (settlements: readonly Settlement[]): boolean => settlements.some(isHeld)

const isHeld = (settlement: Settlement): settlement is Held => settlement.kind === 'held'

/**
 * Holds what was about to leave while its campaign was paused. This write asks again: a campaign that goes on by now
 * has released its held mail, and would leave these behind; so they are due as they were.
 */
async function holdPaused(tx: Tx, settlements: readonly Held[], now: number): Promise<void> {
  const paused = await pausedAmong(tx, { emailIds: idsOfMails(settlements) })
  const campaigns = new Map(paused.map(({ id, broadcastId }) => [id, broadcastId]))
  for (const { id, emailId, dueAt } of settlements) {
    const campaign = campaigns.get(emailId)
    const held =
      campaign === undefined
        ? { due_at: dueAt }
        : {
            held_at: now,
            held_reason: campaignPaused(campaign),
            held_by: 'campaign' as const,
            held_due_at: dueAt,
            due_at: never,
          }
    await tx
      .updateTable('queue')
      .set({ lease: null, ...held })
      .where('id', '=', id)
      .execute()
  }
}

const idsOfMails = (settlements: readonly Settlement[]) =>
  JSON.stringify(settlements.map(({ emailId }) => emailId))

/** Mails whose campaign is paused. */
const pausedAmong = prepared<{ emailIds: string }, { id: string; broadcastId: string }>(
  (db, { emailIds }) =>
    db
      .selectFrom('emails')
      .innerJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
      .select(['emails.id', 'broadcasts.id as broadcastId'])
      .where('emails.id', 'in', idsOf(emailIds, 'text'))
      .where('broadcasts.status', '=', 'paused'),
)

function toRow(settlement: Tried, now: number): DeliveryRow {
  return {
    id: settlement.id,
    email_id: settlement.emailId,
    recipient: settlement.recipient,
    status: settlement.kind === 'deferred' ? 'failed' : settlement.kind,
    attempts: settlement.attempts,
    reply: settlement.reply,
    remote: settlement.remote,
    tls: settlement.tls,
    transcript: settlement.transcript,
    ended_at: now,
  }
}

const defer = prepared<Deferred, UpdateResult>((db, settlement) =>
  db
    .updateTable('queue')
    .set({
      lease: null,
      due_at: settlement.dueAt,
      attempts: settlement.attempts,
      last_attempt_at: settlement.startedAt,
      last_reply: settlement.reply,
      last_cause: settlement.cause,
      last_transcript: settlement.transcript,
      put_off_by: settlement.putOffBy,
      source: settlement.source,
    })
    .where('id', '=', settlement.id),
)

/**
 * decisions.md, 'status of a mail': `sent` from the first attempt on; once no delivery waits any more, `bounced` before
 * `failed` before `delivered`; a mail that is only relayed stays `sent`. Nothing leaves `cancelled` or `suppressed`.
 */
async function countOutcomes(tx: Tx, settlements: readonly Tried[]): Promise<void> {
  const mails = new Map<string, { counts: Counts; sentAt: number | null }>()
  for (const { kind, emailId, startedAt, failover } of settlements) {
    const mail = mails.get(emailId) ?? { counts: noCounts(), sentAt: null }
    mails.set(emailId, mail)
    if (kind !== 'suppressed') mail.sentAt ??= startedAt
    if (kind === 'deferred') continue
    mail.counts.ended++
    if (kind !== 'suppressed') mail.counts[kind]++
    if (failover) mail.counts.failover = 1
  }
  // Most mails of a batch change alike, and a count that a statement has once costs less than one in each row.
  const alike = new Map<string, { counts: Counts; rows: [string, number | null][] }>()
  for (const [id, { counts, sentAt }] of mails) {
    const key = Object.values(counts).join()
    const group = alike.get(key) ?? { counts, rows: [] }
    alike.set(key, group)
    group.rows.push([id, sentAt])
  }
  for (const { counts, rows } of alike.values()) {
    await addOutcomes(tx, { rows: JSON.stringify(rows), ...counts })
  }
}

/** What a batch of settlements adds to a mail, which may have several of them. */
interface Counts {
  ended: number
  delivered: number
  relayed: number
  bounced: number
  failed: number
  failover: 0 | 1
}

const noCounts = (): Counts => ({
  ended: 0,
  delivered: 0,
  relayed: 0,
  bounced: 0,
  failed: 0,
  failover: 0,
})

/** When the first attempt of a batch at a mail began; null when there was none. */
const sentAt = cell<number | null>(1, 'integer')

/** `rows`: the mails to which all of it is added, each with its `sentAt`. */
const addOutcomes = prepared<Counts & { rows: string }, UpdateResult>((db, counts) =>
  db
    .updateTable('emails')
    .from(rowsOf(counts.rows))
    .set({
      waiting: sql`waiting - ${counts.ended}`,
      delivered: sql`delivered + ${counts.delivered}`,
      relayed: sql`relayed + ${counts.relayed}`,
      provider: sql`case when ${counts.failover} then 'failover' else provider end`,
      bounced: sql`bounced + ${counts.bounced}`,
      failed: sql`failed + ${counts.failed}`,
      sent_at: sql`coalesce(sent_at, ${sentAt})`,
      status: sql`case
        when status in ('cancelled', 'suppressed') then status
        when waiting > ${counts.ended} then case when ${sentAt} is null then status else 'sent' end
        when bounced + ${counts.bounced} > 0 then 'bounced'
        when failed + ${counts.failed} > 0 then 'failed'
        when relayed + ${counts.relayed} > 0 then 'sent'
        when delivered + ${counts.delivered} > 0 then 'delivered'
        else 'suppressed' end`,
    })
    .where('emails.id', '=', cell(0, 'text')),
)

/**
 * Holds a leased delivery with what is wrong with it: the result of its attempt cannot be written, so that its mail may
 * have arrived, or its mail cannot be composed. It must not be attempted again by itself: the operator sees what the
 * server said, and releases it or gives it up.
 */
export async function park(
  tx: Tx,
  settlement: Settlement,
  { lease, now, reason, isUnsent }: Parking,
): Promise<void> {
  const { id, kind, attempts, startedAt, reply, transcript } = settlement
  const said = {
    last_attempt_at: startedAt,
    last_reply: reply,
    last_cause: kind === 'deferred' ? settlement.cause : null,
    last_transcript: transcript,
  }
  await tx
    .updateTable('queue')
    .set({
      held_at: now,
      held_reason: reason,
      held_by: 'fault',
      held_due_at: kind === 'deferred' || kind === 'held' ? settlement.dueAt : now,
      due_at: never,
      lease: null,
      attempts,
      ...(isUnsent ? {} : said),
    })
    .where('id', '=', id)
    .where('lease', '=', lease)
    .execute()
}

interface Parking {
  lease: number
  now: number
  reason: string
  /** The mail was offered to no server: what the last server said stays. */
  isUnsent: boolean
}
