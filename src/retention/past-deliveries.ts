import { dayMs } from '../clock/index.js'
import { classOfMail, forgetDeferred, type MailKind } from '../deliveries/index.js'
import { cell, idsOf, prepared, rowsOf, type Tx } from '../store/index.js'

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
    return [[id, mail.accountId, emailId, recipient, classOfMail(mail), status, forgetAt]]
  })
  if (past.length > 0) await insertPast(tx, { json: JSON.stringify(past) })
}

/** Deliveries handed to another server, which may still report. */
const reportable: ReadonlySet<string> = new Set(['delivered', 'relayed', 'bounced'])

/** A delivery that was deleted just now. */
interface EndedDelivery {
  id: number
  emailId: string
  recipient: string
  status: string
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
const insertPast = prepared<{ json: string }, unknown>((db, { json }) =>
  db
    .insertInto('past_deliveries')
    .columns(['id', 'account_id', 'email_id', 'recipient', 'class', 'status', 'forget_at'])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .select([
          cell(0, 'integer').as('id'),
          cell(1, 'text').as('account_id'),
          cell(2, 'text').as('email_id'),
          cell(3, 'text').as('recipient'),
          cell<0>(4, 'integer').as('class'),
          cell<'delivered'>(5, 'text').as('status'),
          cell(6, 'integer').as('forget_at'),
        ]),
    ),
)
