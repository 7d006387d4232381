import { sql, type UpdateResult } from 'kysely'
import type { EventDetail, LandEvents } from '../events/index.js'
import { prepared, type Tx } from '../store/index.js'
import { type Past, setPastStatus } from './past.js'
import { reportedOf, setReported } from './reported.js'

export interface LateBounce {
  /** What the report says that a server has said. */
  reply: string
  detail: EventDetail
  now: number
  land: LandEvents
}

/**
 * A report of failure has come about a delivery that was accepted: it is `bounced`, and so is its mail
 * once no delivery waits. One that a report has told to be `bounced` bounces again where the next one
 * says worse (a vague one must not shield a dead address). Any other delivery is left as it is.
 * Returns whether it was one.
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
  await land(tx, [{ ...of, type: 'bounced', at: now, reply, detail }])
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
