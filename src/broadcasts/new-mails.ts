import type { Clock } from '../clock/index.js'
import { type ClassName, classNameOf, enqueueTogether } from '../deliveries/index.js'
import { insertTags } from '../emails/index.js'
import { type Mailbox, parseMailbox } from '../mime/index.js'
import {
  cell,
  prepared,
  queueClass,
  readExtras,
  rowsOf,
  type Tx,
  wholeExtras,
} from '../store/index.js'
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

/**
 * Writes a campaign's mails to some contacts, and their deliveries, in two statements: a statement for each row would
 * take three times as long.
 */
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
  await enqueueTogether(
    tx,
    accountId,
    mails.map(({ id: emailId, deliveryId, mailbox: { address, domain }, leavesAt: dueAt }) => {
      const to = { recipient: address, lane: domain }
      const expiresAt = dueAt + maxAge
      return { id: deliveryId, emailId, ...to, class: queueClass.campaign, dueAt, expiresAt }
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
  const rows = mails.map(({ id, mailbox: { address }, subject }) => [
    id,
    JSON.stringify([address]),
    subject,
    `<${id}@${host}>`,
  ])
  const json = JSON.stringify(rows)
  const { id: broadcastId, account_id: accountId, domain_id: domainId } = broadcast
  await insertEmails(tx, {
    json,
    now,
    broadcastId,
    accountId,
    domainId,
    bodyId: broadcast.body_id,
    from: broadcast.from_header,
    replyTo: broadcast.reply_to,
    topicId: broadcast.topic_id,
    type: mailTypeOf(broadcast),
    variant: variant?.key ?? null,
  })
}

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

interface NewEmails {
  json: string
  now: number
  broadcastId: string
  accountId: string
  domainId: string
  bodyId: number
  from: string
  replyTo: string | null
  topicId: string | null
  type: 'transactional' | 'marketing'
  variant: string | null
}

/** A slice of mails in one statement. All have the campaign's body, sender and subject. */
const insertEmails = prepared<NewEmails, unknown>((db, values) =>
  db
    .insertInto('emails')
    .columns([
      ...(['id', 'account_id', 'domain_id', 'body_id', 'from_header', 'to_list'] as const),
      ...(['reply_to', 'subject', 'type', 'topic_id', 'status', 'message_id'] as const),
      ...(['provider', 'waiting', 'delivered', 'bounced', 'failed', 'created_at'] as const),
      ...(['broadcast_id', 'variant'] as const),
    ])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(values.json))
        .select([
          cell(0, 'text').as('id'),
          eb.val(values.accountId).as('account_id'),
          eb.val(values.domainId).as('domain_id'),
          eb.val(values.bodyId).as('body_id'),
          eb.val(values.from).as('from_header'),
          cell(1, 'text').as('to_list'),
          eb.val(values.replyTo).as('reply_to'),
          cell(2, 'text').as('subject'),
          eb.val(values.type).as('type'),
          eb.val(values.topicId).as('topic_id'),
          eb.val('queued').as('status'),
          cell(3, 'text').as('message_id'),
          eb.val('primary').as('provider'),
          eb.lit(1).as('waiting'),
          eb.lit(0).as('delivered'),
          eb.lit(0).as('bounced'),
          eb.lit(0).as('failed'),
          eb.val(values.now).as('created_at'),
          eb.val(values.broadcastId).as('broadcast_id'),
          eb.val(values.variant).as('variant'),
        ]),
    ),
)
