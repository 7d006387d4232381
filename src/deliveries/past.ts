import { type DeliveryRow, prepared, type QueueClass, queueClass, type Tx } from '../store/index.js'

/** A delivery that a report speaks of. */
export interface Past {
  id: number
  emailId: string
  accountId: string
  recipient: string
  class: QueueClass
  /** `waiting`: it has not ended, or its end is not written yet. */
  status: DeliveryRow['status'] | 'waiting'
  /** When it ended; null where it has not ended, or nothing tells the time any more. */
  endedAt: number | null
}

/**
 * The delivery of this number; undefined when the log has forgotten it. For a deleted mail it has what a report needs,
 * as long as a report is expected: the report suppresses the address, and rates count it.
 */
export async function findPast(tx: Tx, id: number): Promise<Past | undefined> {
  const [waiting] = await waitingOf(tx, { id })
  if (waiting !== undefined) return { ...waiting, id, status: 'waiting', endedAt: null }
  const [ended] = await endedOf(tx, { id })
  if (ended === undefined) {
    const [deleted] = await deletedOf(tx, { id })
    return deleted && { ...deleted, endedAt: null }
  }
  const { type, stepId, ...past } = ended
  return { ...past, id, class: classOfMail({ type, stepId }) }
}

const waitingOf = prepared<{ id: number }, Omit<Past, 'id' | 'status' | 'endedAt'>>((db, { id }) =>
  db
    .selectFrom('queue')
    .select(['email_id as emailId', 'account_id as accountId', 'recipient', 'class'])
    .where('id', '=', id),
)

type Ended = Omit<Past, 'id' | 'class'> & MailKind

const endedOf = prepared<{ id: number }, Ended>((db, { id }) =>
  db
    .selectFrom('deliveries')
    .innerJoin('emails', 'emails.id', 'deliveries.email_id')
    .select(['email_id as emailId', 'account_id as accountId', 'recipient', 'type'])
    .select(['deliveries.status', 'ended_at as endedAt', 'automation_step_id as stepId'])
    .where('deliveries.id', '=', id),
)

const deletedOf = prepared<{ id: number }, Omit<Past, 'endedAt'>>((db, { id }) =>
  db
    .selectFrom('past_deliveries')
    .select([
      'id',
      'email_id as emailId',
      'account_id as accountId',
      'recipient',
      'class',
      'status',
    ])
    .where('id', '=', id),
)

/** For effects of a report: when a server decided about the delivery; undefined for one that waits. */
export function answeredAt({ status, endedAt }: Past): number | null | undefined {
  if (status === 'waiting') return undefined
  return status === 'delivered' || status === 'relayed' || status === 'bounced' ? endedAt : null
}

/** A late report changes how a delivery of a deleted mail has ended. */
export async function setPastStatus(tx: Tx, id: number, status: Past['status']): Promise<void> {
  if (status !== 'waiting') await updatePast(tx, { id, status })
}

const updatePast = prepared<{ id: number; status: DeliveryRow['status'] }, unknown>(
  (db, { id, status }) => db.updateTable('past_deliveries').set({ status }).where('id', '=', id),
)

/** All deliveries of the mail with this Message-ID (without brackets), ended or not. */
export async function deliveriesOf(
  tx: Tx,
  messageId: string,
): Promise<{ id: number; recipient: string }[]> {
  // Our own Message-IDs are `<email id>@<domain>`; no index is needed to find one.
  const emailId = /^[0-9a-f-]{36}(?=@)/.exec(messageId)?.[0]
  if (emailId === undefined) return []
  return await deliveriesWith(tx, { emailId, messageId: `<${messageId}>` })
}

const deliveriesWith = prepared<
  { emailId: string; messageId: string },
  { id: number; recipient: string }
>((db, { emailId, messageId }) => {
  const isIt = db.selectFrom('emails').select('id').where('id', '=', emailId)
  const email = isIt.where('message_id', '=', messageId)
  const columns = ['id', 'recipient'] as const
  return db
    .selectFrom('deliveries')
    .select(columns)
    .where('email_id', 'in', email)
    .unionAll(db.selectFrom('queue').select(columns).where('email_id', 'in', email))
})

/** What tells a mail's class when none of its deliveries waits any more. */
export interface MailKind {
  type: 'transactional' | 'marketing'
  /** The step of the automation that made the mail; null for any other mail. */
  stepId: number | null
}

/** The class in which a mail is queued: an ended delivery does not tell it, and the log forgets. */
export function classOfMail({ type, stepId }: MailKind): QueueClass {
  if (type === 'transactional') return queueClass.transactional
  return stepId === null ? queueClass.campaign : queueClass.automation
}
