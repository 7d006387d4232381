import { dayMs } from '../clock/index.js'
import { classOfMail, forgetDeferred, type MailKind } from '../deliveries/index.js'
import { type DeliveryRow, idsOf, prepared, preparedInsertAll, type Tx } from '../store/index.js'

/** How long after the end of a delivery a bounce or complaint about it is expected. */
const reportsForMs = 60 * dayMs

/** The fields of a deleted mail that its deliveries need. */
interface MailOfDeliveries extends MailKind {
  id: string
  accountId: string
}

/**
 * Deletes the deliveries of mails (`ids`, as JSON) with their transcripts. A delivery that another server took
 * leaves a row in `past_deliveries` as long as a bounce or a complaint may come, which must find its recipient.
 */
export async function forgetDeliveries(
  tx: Tx,
  mails: readonly MailOfDeliveries[],
  { ids, now }: { ids: string; now: number },
): Promise<void> {
  const of = new Map(mails.map((mail) => [mail.id, mail]))
  const gone = await deleteDeliveries(tx, { ids })
  await forgetDeferred(tx, { ids: JSON.stringify(gone.map(({ id }) => id)) })
  const past = gone.flatMap(({ id, emailId, recipient, status, endedAt }) => {
    const mail = of.get(emailId)
    const forgetAt = endedAt + reportsForMs
    if (mail === undefined || forgetAt <= now || !reportable.has(status)) return []
    const ofMail = { account_id: mail.accountId, email_id: emailId, class: classOfMail(mail) }
    return [{ ...ofMail, id, recipient, status, forget_at: forgetAt }]
  })
  await insertPast(tx, past)
}

/** Deliveries handed to another server, which may still report. */
const reportable: ReadonlySet<string> = new Set(['delivered', 'relayed', 'bounced'])

/** A delivery that was deleted just now. */
interface EndedDelivery {
  id: number
  emailId: string
  recipient: string
  status: DeliveryRow['status']
  endedAt: number
}

/** Deletes and returns the rows, so that no second query is needed. */
const deleteDeliveries = prepared<{ ids: string }, EndedDelivery>((db, { ids }) =>
  db
    .deleteFrom('deliveries')
    .where('email_id', 'in', idsOf(ids, 'text'))
    .returning(['id', 'email_id as emailId', 'recipient', 'status', 'ended_at as endedAt']),
)

/** Keeps what a late report needs. */
const insertPast = preparedInsertAll('past_deliveries')
