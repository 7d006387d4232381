import type { EventDetail, EventType } from '../events/index.js'
import { isSimulated } from '../simulator/index.js'
import {
  idsIn,
  type QueueClass,
  queueClass,
  type Read,
  readExtras,
  storedJson,
  wholeExtras,
} from '../store/index.js'
import type { Counts } from './add-figures.js'
import type { MailFacts } from './tally.js'

/** An event of the log, with what the figures need. */
export interface LoggedEvent {
  id: number
  accountId: string
  emailId: string
  deliveryId: number | null
  recipient: string | null
  class: 0 | 1 | 2
  type: EventType
  at: number
  detail: EventDetail | null
  reply: string | null
}

const one = 1

/**
 * What an event adds to the figures of its day. A recipient is `answered` with the first end that a server has
 * decided; a later end (a bounce after the 250) is counted too, but not a bounce after a bounce, which is about the
 * same recipient.
 */
export function countsOf({ type, recipient, detail }: LoggedEvent): Partial<Counts> | undefined {
  const answered = detail?.before === undefined ? one : 0
  switch (type) {
    case 'delivered':
    case 'relayed':
      return { answered, [type]: one }
    case 'bounced':
      if (detail?.before === 'bounced') return undefined
      // A refusal that nobody has classified counts as a hard one, as in `protection/`.
      if (detail?.bounceType === 'Transient') return { answered, bounced_soft: one }
      return { answered, bounced_hard: one }
    case 'failed':
    case 'suppressed':
    case 'deferred':
      return { [type]: one }
    case 'complained': {
      const proved = detail?.evidence !== undefined || isSimulated(recipient ?? '')
      return proved ? { complained: one } : { complained_unproved: one }
    }
    case 'opened':
    case 'clicked':
      if (detail?.machine) return { [`${type}_machine`]: one }
      return { [type]: one, [`${type}_unique`]: detail?.first ? one : 0 }
    // An attempt is not a figure, and the record of consent has all who leave, in whichever way.
    case 'sent':
    case 'unsubscribed':
      return undefined
  }
}

/** The facts for each mail, in one statement for all mails. */
export async function mailFacts(
  read: Read,
  emailIds: Iterable<string>,
): Promise<Map<string, MailFacts>> {
  const rows = await read
    .selectFrom('emails')
    .leftJoin('domains', 'domains.id', 'emails.domain_id')
    .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
    .select(['emails.id', 'emails.type', 'emails.broadcast_id as broadcastId', 'emails.extras'])
    .select(['domains.name as domain', 'broadcasts.extras as broadcastExtras'])
    .select('broadcasts.sent_at as broadcastSentAt')
    .where('emails.id', 'in', idsIn([...new Set(emailIds)], 'text'))
    .execute()
  return new Map(
    rows.map(({ id, type, broadcastId, broadcastSentAt, domain, extras, broadcastExtras }) => {
      const { tags } = wholeExtras(readExtras(extras ?? broadcastExtras))
      return [
        id,
        {
          type,
          broadcastId,
          broadcastSentAt,
          domain: domain ?? '',
          tags,
        },
      ]
    }),
  )
}

/** The facts for a mail that is deleted already. */
export const noFacts = (of: QueueClass): MailFacts => ({
  type: of === queueClass.campaign ? 'marketing' : 'transactional',
  domain: '',
  broadcastId: null,
  broadcastSentAt: null,
  tags: [],
})

// Ends that a server has decided, as `protection/` counts them.
const ends = ['delivered', 'relayed', 'bounced']
const visits = ['opened', 'clicked']

/**
 * Events of older versions do not say whether they were the first of their kind: that is looked up, as far as the log
 * still goes back.
 */
export async function tellFirsts(
  read: Read,
  events: readonly LoggedEvent[],
): Promise<LoggedEvent[]> {
  const kinds = new Map<string, number>()
  const emailIds = events.filter((event) => kindOf(event) !== undefined).map((one) => one.emailId)
  if (emailIds.length === 0) return [...events]
  const rows = await read
    .selectFrom('events')
    .select(['id', 'email_id as emailId', 'delivery_id as deliveryId', 'type', 'detail'])
    .where('email_id', 'in', idsIn([...new Set(emailIds)], 'text'))
    .where('type', 'in', [...ends, ...visits] as LoggedEvent['type'][])
    .execute()
  for (const row of rows) {
    const kind = kindOf({ ...row, detail: (storedJson(row.detail) ?? null) as EventDetail | null })
    if (kind !== undefined) kinds.set(kind, Math.min(row.id, kinds.get(kind) ?? row.id))
  }
  return events.map((event) => {
    const kind = kindOf(event)
    if (kind === undefined) return event
    const isFirst = kinds.get(kind) === event.id
    if (visits.includes(event.type)) {
      return isFirst ? { ...event, detail: { ...event.detail, first: true as const } } : event
    }
    // How it had ended is not known, and does not matter for the figures.
    return isFirst ? event : { ...event, detail: { ...event.detail, before: 'delivered' as const } }
  })
}

/** The kind that an event may be the first of: an end of its delivery, or what a person did with the mail. */
function kindOf({
  type,
  emailId,
  deliveryId,
  detail,
}: Pick<LoggedEvent, 'type' | 'emailId' | 'deliveryId' | 'detail'>): string | undefined {
  if (ends.includes(type)) return `end ${deliveryId}`
  return visits.includes(type) && detail?.machine !== true ? `${type} ${emailId}` : undefined
}
