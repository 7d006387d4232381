import type { Clock } from '../clock/index.js'
import { type ClassName, classNameOf, enqueue } from '../deliveries/index.js'
import { insertTags, queuedToOne } from '../emails/index.js'
import { type Mailbox, parseMailbox } from '../mime/index.js'
import { preparedInsertAll, queueClass, readExtras, type Tx, wholeExtras } from '../store/index.js'
import type { Broadcast } from './broadcast.js'
import { mailTypeOf } from './notice.js'
import { asVariant, type Variant } from './variant.js'

/** For how long mail is tried, by its class. */
export type RetryAges = Readonly<Record<ClassName, { readonly maxAge: number }>>

/** One of a campaign's mails, ready to be written. */
export interface NewMail {
  id: string
  contactId: string
  deliveryId: number
  mailbox: Mailbox
  subject: string
  /** The mail must not leave before this time (ms). */
  leavesAt: number
  /** The mail's version, where the campaign has versions. */
  variant?: Variant | undefined
}

/** Writes a campaign's mails to some contacts, and their deliveries. */
export async function insertMails(
  tx: Tx,
  { clock, retry }: { clock: Clock; retry: RetryAges },
  broadcast: Broadcast,
  mails: readonly NewMail[],
): Promise<void> {
  if (mails.length === 0) return
  const now = clock.now()
  if (broadcast.variant_test === null) await insertAlike(tx, broadcast, { now, mails })
  else {
    for (const variant of new Set(mails.map((mail) => mail.variant))) {
      const some = mails.filter((mail) => mail.variant === variant)
      await insertAlike(tx, asVariant(broadcast, variant), { now, mails: some, variant })
      if (variant) await countMails(tx, broadcast, variant.key, some.length)
    }
  }
  const { account_id: accountId } = broadcast
  const { tags } = wholeExtras(readExtras(broadcast.extras))
  await insertTags(
    tx,
    mails.map(({ id }) => ({ id, accountId, tags })),
  )
  const { maxAge } = retry[classNameOf(queueClass.campaign)]
  await enqueue(
    tx,
    mails.map(({ id: emailId, deliveryId: id, mailbox, leavesAt: dueAt }) => {
      const { address: recipient, domain: lane } = mailbox
      const expiresAt = dueAt + maxAge
      return {
        id,
        emailId,
        accountId,
        recipient,
        lane,
        class: queueClass.campaign,
        dueAt,
        expiresAt,
      }
    }),
  )
}

/** Writes mails of one body, sender and version. */
async function insertAlike(
  tx: Tx,
  broadcast: Broadcast,
  {
    now,
    mails,
    variant,
  }: { now: number; mails: readonly NewMail[]; variant?: Variant | undefined },
): Promise<void> {
  const host = parseMailbox(broadcast.from_header)?.domain
  const type = mailTypeOf(broadcast)
  await insertEmails(
    tx,
    mails.map(({ id, mailbox: { address }, subject }) => ({
      id,
      account_id: broadcast.account_id,
      domain_id: broadcast.domain_id,
      body_id: broadcast.body_id,
      from_header: broadcast.from_header,
      to_list: JSON.stringify([address]),
      reply_to: broadcast.reply_to,
      subject,
      type,
      topic_id: broadcast.topic_id,
      ...queuedToOne,
      message_id: `<${id}@${host}>`,
      created_at: now,
      broadcast_id: broadcast.id,
      variant: variant?.key ?? null,
    })),
  )
}

const insertEmails = preparedInsertAll('emails')

const countMails = (
  tx: Tx,
  { id, winner }: Pick<Broadcast, 'id' | 'winner'>,
  key: string,
  mails: number,
) =>
  tx
    .updateTable('broadcast_variants')
    .set((eb) => ({
      recipients: eb('recipients', '+', mails),
      rest_mails: eb('rest_mails', '+', winner === null ? 0 : mails),
    }))
    .where('broadcast_id', '=', id)
    .where('key', '=', key)
    .execute()
