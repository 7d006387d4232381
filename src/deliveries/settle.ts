import { type DeleteResult, sql, type UpdateResult } from 'kysely'
import type { EventDetail, LandEvents, MailEvent } from '../events/index.js'
import type { Verdict } from '../reports/index.js'
import { type DeliveryRow, idsOf, prepared, type QueueClass, type Tx } from '../store/index.js'
import { keepTranscript } from './deferred-transcripts.js'
import { insertEnded } from './end.js'
import { never } from './held.js'

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

/** How an attempt ended: for good, or with another one to come at `dueAt`. */
export type Settlement =
  /**
   * `suppressed`: no attempt, for the recipient was suppressed since the mail was accepted.
   * `relayed`: a smart host has taken it on, which says nothing of the recipient yet.
   */
  | (Attempt & { kind: 'delivered' | 'relayed' | 'bounced' | 'failed' | 'suppressed' })
  | (Attempt & { kind: 'deferred'; dueAt: number })

/**
 * Writes what became of attempts: ended deliveries move from the queue to the log, deferred ones get
 * their next time, each email's counters and status follow, and events land. One that `thread` no longer leases
 * (an operator took it back), or the second of one delivery, changes nothing. Returns how many counted.
 */
export async function settle(
  tx: Tx,
  settlements: readonly Settlement[],
  options: { thread: number; now: number; land: LandEvents },
): Promise<number> {
  const held = await stillLeased(tx, settlements, options.thread)
  const mine = settlements.filter((settlement) => held.ids.delete(settlement.id))
  const ended = mine.filter((settlement) => settlement.kind !== 'deferred')
  await moveToLog(tx, ended, options.now)
  const events: MailEvent[] = []
  for (const settlement of mine) {
    if (settlement.kind === 'deferred') {
      await defer(tx, settlement)
      await keepTranscript(tx, { ...settlement, at: options.now })
    }
    await updateEmail(tx, settlement)
    const isFirst = settlement.kind !== 'suppressed' && held.untried.delete(settlement.emailId)
    if (isFirst) events.push(eventOf(settlement, 'sent', settlement.startedAt))
    events.push(eventOf(settlement, settlement.kind, options.now))
  }
  await options.land(tx, events)
  return mine.length
}

function eventOf(settlement: Settlement, type: MailEvent['type'], at: number): MailEvent {
  const { accountId, emailId, id, recipient, reply } = settlement
  const of = { accountId, emailId, class: settlement.class, type, at }
  // The attempt, not its outcome, and the mail's, not a recipient's.
  if (type === 'sent')
    return { ...of, deliveryId: null, recipient: null, reply: null, detail: null }
  return { ...of, deliveryId: id, recipient, reply, detail: detailOf(settlement) }
}

function detailOf({ kind, verdict }: Settlement): EventDetail | null {
  if (verdict === undefined) return null
  const { class: bounceClass, rule, bounceType, suppress, soft } = verdict
  if (kind === 'deferred') return { bounceClass, rule }
  const means = suppress ? 'now' : soft ? 'repeated' : undefined
  return { bounceType, bounceClass, rule, ...(means === undefined ? {} : { suppress: means }) }
}

/** Which of them are leased still, and those mails of theirs that had no attempt before. */
async function stillLeased(tx: Tx, settlements: readonly Settlement[], thread: number) {
  const rows = await leasedAmong(tx, { ids: idsText(settlements), thread })
  return {
    ids: new Set(rows.map((row) => row.id)),
    untried: new Set(rows.map((row) => (row.sentAt === null ? row.emailId : null))),
  }
}

const idsText = (settlements: readonly Settlement[]) =>
  JSON.stringify(settlements.map((settlement) => settlement.id))

interface Leased {
  id: number
  /** Null for a delivery of no mail, which is a fault, but one that must end. */
  emailId: string | null
  sentAt: number | null
}

const leasedAmong = prepared<{ ids: string; thread: number }, Leased>((db, { ids, thread }) =>
  db
    .selectFrom('queue')
    .leftJoin('emails', 'emails.id', 'queue.email_id')
    .select(['queue.id', 'emails.id as emailId', 'sent_at as sentAt'])
    .where('queue.id', 'in', idsOf(ids))
    .where('lease', '=', thread),
)

const deleteRows = prepared<{ ids: string }, DeleteResult>((db, { ids }) =>
  db.deleteFrom('queue').where('id', 'in', idsOf(ids)),
)

async function moveToLog(tx: Tx, ended: readonly Settlement[], now: number): Promise<void> {
  if (ended.length === 0) return
  await deleteRows(tx, { ids: idsText(ended) })
  await insertEnded(
    tx,
    ended.map((settlement) => toRow(settlement, now)),
  )
}

function toRow(settlement: Settlement, now: number): DeliveryRow {
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

async function defer(tx: Tx, settlement: Settlement & { kind: 'deferred' }): Promise<void> {
  await tx
    .updateTable('queue')
    .set({
      lease: null,
      due_at: settlement.dueAt,
      attempts: settlement.attempts,
      last_attempt_at: settlement.startedAt,
      last_reply: settlement.reply,
      last_transcript: settlement.transcript,
    })
    .where('id', '=', settlement.id)
    .execute()
}

/**
 * decisions.md, 'status of a mail': `sent` from the first attempt on; once no delivery waits any
 * more, `bounced` before `failed` before `delivered`; one that is only relayed stays `sent`. Nothing leaves `cancelled` or `suppressed`.
 */
async function updateEmail(tx: Tx, settlement: Settlement): Promise<void> {
  const { kind, emailId, startedAt } = settlement
  const one = (kinds: string) => (kinds === kind ? 1 : 0)
  await countOutcome(tx, {
    emailId,
    ended: kind === 'deferred' ? 0 : 1,
    delivered: one('delivered'),
    relayed: one('relayed'),
    failover: settlement.failover === true && kind !== 'deferred' ? 1 : 0,
    bounced: one('bounced'),
    failed: one('failed'),
    sentAt: kind === 'suppressed' ? null : startedAt,
  })
}

interface Counted {
  emailId: string
  ended: 0 | 1
  delivered: 0 | 1
  relayed: 0 | 1
  failover: 0 | 1
  bounced: 0 | 1
  failed: 0 | 1
  /** When the attempt began; null when there was none. */
  sentAt: number | null
}

const countOutcome = prepared<Counted, UpdateResult>((db, counted) =>
  db
    .updateTable('emails')
    .set({
      waiting: sql`waiting - ${counted.ended}`,
      delivered: sql`delivered + ${counted.delivered}`,
      relayed: sql`relayed + ${counted.relayed}`,
      provider: sql`case when ${counted.failover} then 'failover' else provider end`,
      bounced: sql`bounced + ${counted.bounced}`,
      failed: sql`failed + ${counted.failed}`,
      sent_at: sql`coalesce(sent_at, ${counted.sentAt})`,
      status: sql`case
        when status in ('cancelled', 'suppressed') then status
        when waiting > ${counted.ended} then case when ${counted.sentAt} is null then status else 'sent' end
        when bounced + ${counted.bounced} > 0 then 'bounced'
        when failed + ${counted.failed} > 0 then 'failed'
        when relayed + ${counted.relayed} > 0 then 'sent'
        when delivered + ${counted.delivered} > 0 then 'delivered'
        else 'suppressed' end`,
    })
    .where('id', '=', counted.emailId),
)

/**
 * Holds a leased delivery with what is wrong with it: the result of its attempt cannot be written, so that
 * its mail may have arrived, or its mail cannot be composed. It must not be attempted again by itself: the
 * operator sees what the server said, and releases it or gives it up.
 */
export async function park(
  tx: Tx,
  settlement: Settlement,
  { thread, now, reason, isUnsent }: Parking,
): Promise<void> {
  const { id, kind, attempts, startedAt, reply, transcript } = settlement
  const said = { last_attempt_at: startedAt, last_reply: reply, last_transcript: transcript }
  await tx
    .updateTable('queue')
    .set({
      held_at: now,
      held_reason: reason,
      held_due_at: kind === 'deferred' ? settlement.dueAt : now,
      due_at: never,
      lease: null,
      attempts,
      ...(isUnsent ? {} : said),
    })
    .where('id', '=', id)
    .where('lease', '=', thread)
    .execute()
}

interface Parking {
  thread: number
  now: number
  reason: string
  /** No server was offered it: what the last one said stays. */
  isUnsent: boolean
}
