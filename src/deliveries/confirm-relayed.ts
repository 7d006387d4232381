import { sql } from 'kysely'
import type { LandEvents } from '../events/index.js'
import type { Tx } from '../store/index.js'
import { classOfMail } from './past.js'

export interface Confirmation {
  deliveryId: number
  /** What the last server said, or the report about it. */
  reply: string | null
  now: number
  land: LandEvents
}

/**
 * A report of success has come about a delivery that a smart host took on: it is `delivered`, and so
 * is its mail once all of its deliveries are. Any other delivery is left as it is. Returns whether
 * it was one.
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
