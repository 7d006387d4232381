import { sql, type UpdateResult } from 'kysely'
import type { EventDetail, LandEvents } from '../events/index.js'
import { type DeliveryReportsRow, prepared, type Tx } from '../store/index.js'
import { answeredAt, classOfMail, type Past, setPastStatus } from './past.js'

/** What reports have told of a delivery so far. */
export type ReportedDelivery = Omit<DeliveryReportsRow, 'delivery_id' | 'delays'> & {
  delays: string[]
}

/**
 * A row by its key, and not the log of events. That log is as long as others make it (whoever has a return path can
 * send reports for weeks), and the account's plan deletes old events from it.
 */
export async function reportedOf(tx: Tx, deliveryId: number): Promise<ReportedDelivery> {
  const [row] = await rowOf(tx, { deliveryId })
  if (row === undefined) return { delays: [], bounce: -1, complaint: 0, unsubscribed: 0 }
  const { bounce, complaint, unsubscribed } = row
  return { delays: JSON.parse(row.delays) as string[], bounce, complaint, unsubscribed }
}

/** Remembers it, in the transaction of what follows from the report. */
export async function setReported(
  tx: Tx,
  deliveryId: number,
  reported: ReportedDelivery,
): Promise<void> {
  await upsert(tx, {
    ...reported,
    delivery_id: deliveryId,
    delays: JSON.stringify(reported.delays),
  })
}

/** Deletes, some at a time, the rows of deliveries below `firstId`, for which no report is taken any more. */
export async function forgetReported(tx: Tx, firstId: number, most: number): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('delivery_reports')
    .where('delivery_id', 'in', (query) =>
      query
        .selectFrom('delivery_reports')
        .select('delivery_id')
        .where('delivery_id', '<', firstId)
        .orderBy('delivery_id')
        .limit(most),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

const rowOf = prepared<{ deliveryId: number }, DeliveryReportsRow>((db, { deliveryId }) =>
  db.selectFrom('delivery_reports').selectAll().where('delivery_id', '=', deliveryId),
)

const upsert = prepared<DeliveryReportsRow, unknown>((db, values) => {
  const { delays, bounce, complaint, unsubscribed } = values
  const told = { delays, bounce, complaint, unsubscribed }
  return db
    .insertInto('delivery_reports')
    .values({ delivery_id: values.delivery_id, ...told })
    .onConflict((conflict) => conflict.column('delivery_id').doUpdateSet(told))
})

export interface LateBounce {
  /** What a server has said, by the report. */
  reply: string
  detail: EventDetail
  now: number
  land: LandEvents
}

/**
 * A report of failure has come about a delivery that was accepted: it is `bounced`, and so is its mail once no delivery
 * waits. A delivery that a report has already made `bounced` bounces again where the next report says worse (a vague
 * report must not shield a dead address). Any other delivery is left as it is. Returns whether it was bounced.
 */
export async function bounceLate(tx: Tx, past: Past, bounce: LateBounce): Promise<boolean> {
  const { status } = past
  const { reply, detail, now, land } = bounce
  if (status !== 'delivered' && status !== 'relayed' && status !== 'bounced') return false
  const reported = await reportedOf(tx, past.id)
  const isWorse = reported.bounce >= 0 && severity(detail) > reported.bounce
  if (status === 'bounced' && !isWorse) return false
  await setReported(tx, past.id, { ...reported, bounce: severity(detail) })
  await endAsBounced(tx, { id: past.id, reply, now })
  await setPastStatus(tx, past.id, 'bounced')
  if (status !== 'bounced') {
    await countBounce(tx, {
      emailId: past.emailId,
      delivered: status === 'delivered' ? 1 : 0,
      relayed: status === 'relayed' ? 1 : 0,
    })
  }
  const { id: deliveryId, accountId, emailId, recipient } = past
  const of = { accountId, emailId, deliveryId, recipient, class: past.class, before: status }
  const then = answeredAt(past)
  await land(tx, [{ ...of, type: 'bounced', at: now, reply, detail, answeredAt: then }])
  return true
}

const severity = ({ suppress }: EventDetail) =>
  suppress === 'now' ? 2 : suppress === 'repeated' ? 1 : 0

const endAsBounced = prepared<{ id: number; reply: string; now: number }, UpdateResult>(
  (db, { id, reply, now }) =>
    db
      .updateTable('deliveries')
      .set({ status: 'bounced', reply, ended_at: now })
      .where('id', '=', id),
)

/** decisions.md, 'status of a mail'. */
const countBounce = prepared<{ emailId: string; delivered: 0 | 1; relayed: 0 | 1 }, UpdateResult>(
  (db, { emailId, delivered, relayed }) =>
    db
      .updateTable('emails')
      .set({
        delivered: sql`delivered - ${delivered}`,
        relayed: sql`relayed - ${relayed}`,
        bounced: sql`bounced + 1`,
        status: sql`case
        when status in ('cancelled', 'suppressed') or waiting > 0 then status
        else 'bounced' end`,
      })
      .where('id', '=', emailId),
)

export interface Confirmation {
  deliveryId: number
  /** What the last server said, or the report about it. */
  reply: string | null
  now: number
  land: LandEvents
}

/**
 * A report of success has come about a delivery that a smart host took on: it is `delivered`, and so is its mail once
 * all of its deliveries are. Any other delivery is left as it is. Returns whether it was confirmed.
 */
export async function confirmRelayed(tx: Tx, confirmation: Confirmation): Promise<boolean> {
  const { deliveryId, reply, now, land } = confirmation
  const confirmed = await tx
    .updateTable('deliveries')
    .set({ status: 'delivered', ended_at: now, ...(reply === null ? {} : { reply }) })
    .where('id', '=', deliveryId)
    .where('status', '=', 'relayed')
    .returning(['email_id', 'recipient'])
    .executeTakeFirst()
  if (confirmed === undefined) return false
  const { email_id: emailId, recipient } = confirmed
  const email = await tx
    .updateTable('emails')
    .set({
      relayed: sql`relayed - 1`,
      delivered: sql`delivered + 1`,
      status: sql`case
        when status = 'sent' and waiting = 0 and relayed = 1 then 'delivered'
        else status end`,
    })
    .where('id', '=', emailId)
    .returning(['account_id', 'type', 'automation_step_id as stepId'])
    .executeTakeFirst()
  if (email === undefined) return true
  const of = { accountId: email.account_id, emailId, class: classOfMail(email) }
  const event = { ...of, deliveryId, recipient, at: now, reply, detail: null }
  await land(tx, [{ ...event, type: 'delivered', before: 'relayed' }])
  return true
}
