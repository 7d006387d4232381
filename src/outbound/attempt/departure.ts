import { sql } from 'kysely'
import { type AddressedMail, blockedOfEach, type Claimed } from '../../deliveries/index.js'
import {
  type BroadcastRow,
  cell,
  idsOf,
  prepared,
  queueClass,
  type Read,
  rowsOf,
  unindexed,
} from '../../store/index.js'
import type { Outcome } from '../outcome.js'

/** It does not leave, for this reason. */
const suppressed = (why: string): Outcome => ({ kind: 'suppressed', reply: `Not sent: ${why}` })

/**
 * What keeps deliveries from leaving that could leave when they were accepted: since then a recipient may have
 * bounced, complained or left, or a campaign may have been stopped. Undefined: nothing.
 */
export async function stopAtDeparture(
  read: Read,
  deliveries: readonly Leaving[],
): Promise<(Outcome | undefined)[]> {
  const marketing = deliveries.filter(isMarketing)
  const pairs = marketing.map(({ emailId, recipient }) => [emailId, recipient.toLowerCase()])
  const rows =
    marketing.length === 0 ? [] : await marketingMails(read, { pairs: JSON.stringify(pairs) })
  const mails = new Map(rows.map((mail) => [keyOf(mail), mail]))
  const outcomes = new Map<Leaving, Outcome>()
  const leaving = deliveries.flatMap((delivery) => {
    const mail = isMarketing(delivery) ? mails.get(keyOf(delivery)) : undefined
    const outcome = mail && stopOfMail(mail)
    if (outcome !== undefined) {
      outcomes.set(delivery, outcome)
      return []
    }
    const { accountId, recipient } = delivery
    // A notice is a campaign whose mails are transactional. A mail that is gone from the log counts as marketing.
    const isBulk = isMarketing(delivery) && mail?.type !== 'transactional'
    const type = isBulk ? ('marketing' as const) : ('transactional' as const)
    return [{ delivery, accountId, type, topicId: mail?.topicId, addresses: [recipient] }]
  })
  const blocked = await blockedOfEach(read, leaving)
  const stopped = await butConfirmations(
    read,
    leaving.filter(({ delivery }, i) => blocked[i]?.has(delivery.recipient)),
  )
  const listed = await blockedOfEach(
    read,
    stopped.map((one) => ({ ...one, topicId: null })),
  )
  for (const [i, { delivery }] of stopped.entries()) {
    const why = listed[i]?.has(delivery.recipient)
      ? 'the address is on the suppression list'
      : 'the recipient has left the topic'
    outcomes.set(delivery, suppressed(why))
  }
  return deliveries.map((delivery) => outcomes.get(delivery))
}

/** What stays stopped: a person who was erased and asks for mail again gets the confirmation mail of the form. */
async function butConfirmations<T extends AddressedMail & { delivery: Leaving }>(
  read: Read,
  stopped: readonly T[],
): Promise<readonly T[]> {
  const ids = stopped.flatMap(({ type, delivery }) =>
    type === 'transactional' ? [delivery.emailId] : [],
  )
  if (ids.length === 0) return stopped
  const rows = await confirmationsAmong(read, { ids: JSON.stringify(ids) })
  if (rows.length === 0) return stopped
  const confirmations = new Set(rows.map((row) => row.email_id))
  const blocked = await blockedOfEach(
    read,
    stopped.map((one) => ({ ...one, isConfirmation: confirmations.has(one.delivery.emailId) })),
  )
  return stopped.filter(({ delivery }, i) => blocked[i]?.has(delivery.recipient))
}

/**
 * Confirmations of forms that people fill in themselves, and no others: whoever has left is not asked again by
 * hand. `ids`: a JSON list.
 */
const confirmationsAmong = prepared<{ ids: string }, { email_id: string }>((db, { ids }) =>
  db
    .selectFrom('form_mails')
    .innerJoin('forms', 'forms.id', 'form_mails.form_id')
    .select('email_id')
    .where('email_id', 'in', idsOf(ids, 'text'))
    .where(unindexed<string>('forms.kind'), '=', 'page'),
)

/** The fields of a delivery that decide whether it may leave. */
type Leaving = Pick<Claimed, 'accountId' | 'recipient' | 'emailId' | 'class'>

/** Whether the delivery belongs to a campaign or an automation. */
const isMarketing = (delivery: Leaving) => delivery.class !== queueClass.transactional

/** A copy of a mail: its id and its recipient. */
const keyOf = ({ emailId, recipient }: { emailId: string; recipient: string }) =>
  `${emailId} ${recipient.toLowerCase()}`

/**
 * Asked when the mail leaves, not when it was queued: in between, days may pass, in which a
 * recipient unsubscribes (RFC 8058 wants that honoured) or an operator stops the campaign.
 */
function stopOfMail(mail: MarketingMail): Outcome | undefined {
  if (mail.deleted) return suppressed('the contact was deleted')
  if (mail.status === 'cancelled') return suppressed('the campaign was cancelled')
  // A pause holds waiting mails in batches, and mail that was in flight then may have been put off since.
  if (mail.status === 'paused') return { kind: 'held', reply: 'The campaign is paused' }
  return undefined
}

/** What may stop a copy of a campaign's or automation's mail. */
interface MarketingMail {
  emailId: string
  /** In lower case. */
  recipient: string
  topicId: string | null
  type: 'transactional' | 'marketing'
  /** The state of its campaign, if it is of one. */
  status: BroadcastRow['status'] | null
  /** Its recipient is no contact any more. */
  deleted: 0 | 1
}

/** `pairs`: each is a mail's id and a recipient's address in lower case. */
const marketingMails = prepared<{ pairs: string }, MarketingMail>((db, { pairs }) =>
  db
    .selectFrom(rowsOf(pairs))
    .innerJoin('emails', (join) => join.on('emails.id', '=', cell(0, 'text')))
    .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
    .leftJoin('contacts', (join) =>
      join
        .onRef('contacts.account_id', '=', 'emails.account_id')
        .on('contacts.address', '=', cell(1, 'text')),
    )
    .select(['emails.id as emailId', cell(1, 'text').as('recipient')])
    .select(['emails.topic_id as topicId', 'emails.type', 'broadcasts.status'])
    .select(
      sql<0 | 1>`(broadcast_id is not null or automation_step_id is not null)
        and contacts.id is null`.as('deleted'),
    ),
)
