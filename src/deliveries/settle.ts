import { sql } from 'kysely'
import { type DeliveryRow, idsIn, type Tx } from '../store/index.js'
import { insertEnded } from './end.js'

interface Attempt {
  id: number
  emailId: string
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
}

/** How an attempt ended: for good, or with another one to come at `dueAt`. */
export type Settlement =
  /** `suppressed`: no attempt, for the recipient was suppressed since the mail was accepted. */
  | (Attempt & { kind: 'delivered' | 'bounced' | 'failed' | 'suppressed' })
  | (Attempt & { kind: 'deferred'; dueAt: number })

/**
 * Writes what became of attempts: ended deliveries move from the queue to the log, deferred ones get
 * their next time, and each email's counters and status follow. One that `thread` no longer leases
 * (an operator took it back) changes nothing. Returns how many counted.
 */
export async function settle(
  tx: Tx,
  settlements: readonly Settlement[],
  options: { thread: number; now: number },
): Promise<number> {
  const held = await stillLeased(tx, settlements, options.thread)
  const mine = settlements.filter((settlement) => held.has(settlement.id))
  const ended = mine.filter((settlement) => settlement.kind !== 'deferred')
  await moveToLog(tx, ended, options.now)
  for (const settlement of mine) {
    if (settlement.kind === 'deferred') await defer(tx, settlement)
    await updateEmail(tx, settlement)
  }
  return mine.length
}

async function stillLeased(tx: Tx, settlements: readonly Settlement[], thread: number) {
  const rows = await tx
    .selectFrom('queue')
    .select('id')
    .where('id', 'in', idsIn(settlements.map((settlement) => settlement.id)))
    .where('lease', '=', thread)
    .execute()
  return new Set(rows.map((row) => row.id))
}

async function moveToLog(tx: Tx, ended: readonly Settlement[], now: number): Promise<void> {
  if (ended.length === 0) return
  await tx
    .deleteFrom('queue')
    .where('id', 'in', idsIn(ended.map((settlement) => settlement.id)))
    .execute()
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
 * more, `bounced` before `failed` before `delivered`. Nothing leaves `cancelled` or `suppressed`.
 */
async function updateEmail(tx: Tx, { kind, emailId, startedAt }: Settlement): Promise<void> {
  const one = (kinds: string) => (kinds === kind ? 1 : 0)
  const ended = kind === 'deferred' ? 0 : 1
  await tx
    .updateTable('emails')
    .set({
      waiting: sql`waiting - ${ended}`,
      delivered: sql`delivered + ${one('delivered')}`,
      bounced: sql`bounced + ${one('bounced')}`,
      failed: sql`failed + ${one('failed')}`,
      ...(kind === 'suppressed' ? {} : { sent_at: sql`coalesce(sent_at, ${startedAt})` }),
      status: sql`case
        when status in ('cancelled', 'suppressed') then status
        when waiting > ${ended} then ${kind === 'suppressed' ? sql.ref('status') : 'sent'}
        when bounced + ${one('bounced')} > 0 then 'bounced'
        when failed + ${one('failed')} > 0 then 'failed'
        when delivered + ${one('delivered')} > 0 then 'delivered'
        else 'suppressed' end`,
    })
    .where('id', '=', emailId)
    .execute()
}
