import { stoppedForClient } from '../billing/index.js'
import { isoTime } from '../clock/index.js'
import { type Attachment, attachmentsOf } from '../contents/index.js'
import { type RecipientStatus, readRecipients } from '../deliveries/index.js'
import { ApiError, internalFault, OperatorError } from '../errors/index.js'
import type { MailEvent } from '../events/index.js'
import { parseMailbox } from '../mime/index.js'
import {
  isRemote,
  type Read,
  storedJson,
  storedTexts,
  type WholeExtras,
  wholeExtras,
} from '../store/index.js'
import { type EmailSummary, extrasOfRow, summaryOf } from './summary.js'

/** The contract's email record with the additions of decisions.md. */
export interface EmailRecord extends EmailSummary, WholeExtras {
  metadata: unknown
  attachments: EmailAttachment[]
  /** Text, HTML and attachments were deleted because of their age; `attachments` is then empty. */
  contentDeleted: boolean
  /**
   * Some of the mail waits until the operator releases it: the account's whole mail, or this mail.
   */
  held: Held | null
  recipients: (Omit<RecipientStatus, 'nextAttemptAt' | 'updatedAt' | 'held'> & {
    /** The field that the recipient was given in; `to` before `cc` before `bcc`. */
    kind: 'to' | 'cc' | 'bcc'
    nextAttemptAt: string | null
    updatedAt: string | null
    held: Held | null
  })[]
}

interface EmailAttachment {
  filename: string
  contentType: string
  /** In bytes. */
  size: number
  contentId: string | null
  disposition: 'attachment' | 'inline'
}

interface Held {
  /** Null if the whole account is stopped. */
  since: string | null
  reason: string
}

/** The unreadable parts of a damaged row are told to `onDamage`, and the rest is answered. */
export async function readEmail(
  read: Read,
  accountId: string,
  id: string,
  onDamage: (columns: string[]) => void = () => {},
): Promise<EmailRecord> {
  const { row, found } = await readWhole(read, accountId, id)
  const to = storedTexts(row.to_list)
  const extras = extrasOfRow(row)
  const whole = wholeExtras(extras)
  const kindOf = kinds(to ?? [], whole.cc, whole.bcc)
  const recipients = found.map((recipient) => ({
    ...recipient,
    kind: kindOf(recipient.email),
    nextAttemptAt: isoTime(recipient.nextAttemptAt),
    updatedAt: isoTime(recipient.updatedAt),
    held: recipient.held && {
      since: isoTime(recipient.held.since),
      reason: recipient.held.by === 'fault' ? internalFault : recipient.held.reason,
    },
  }))
  const stop = row.waiting === 0 ? undefined : await stoppedForClient(read, accountId, row.type)
  const heldOne = recipients.find(({ held }) => held !== null)?.held ?? null
  const metadata = storedJson(row.metadata)
  const attachments = attachmentsOf(row.attachments)
  const stored = { to_list: to, metadata, extras, attachments }
  const damaged = Object.entries(stored).filter(([, one]) => one === undefined)
  if (damaged.length > 0) onDamage(damaged.map(([column]) => column))
  return {
    ...summaryOf(row),
    ...whole,
    ...(to === undefined ? { to: recipients.map(({ email }) => email).join(', ') } : {}),
    replyTo: row.reply_to === null ? whole.replyTo : [row.reply_to],
    metadata: metadata ?? null,
    attachments: (attachments ?? []).map(shownAttachment),
    contentDeleted: row.has_no_body === 1 && row.has_message === 0,
    held: stop === undefined ? heldOne : { since: null, reason: stop },
    recipients,
  }
}

/**
 * The field that each recipient was given in; most mails have only `to`, and nothing is parsed for
 * them.
 */
function kinds(
  to: readonly string[],
  cc: readonly string[],
  bcc: readonly string[],
): (address: string) => 'to' | 'cc' | 'bcc' {
  if (cc.length + bcc.length === 0) return () => 'to'
  const addresses = (given: readonly string[]) =>
    new Set(given.map((text) => parseMailbox(text)?.address))
  const [inTo, inCc] = [addresses(to), addresses(cc)]
  return (address: string) => (inTo.has(address) ? 'to' : inCc.has(address) ? 'cc' : 'bcc')
}

/** The account of a mail, for operators, who may read all mails. */
export async function accountOfEmail(read: Read, id: string): Promise<string> {
  const row = await read
    .selectFrom('emails')
    .select('account_id')
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined) throw new OperatorError(`No email ${id}`)
  return row.account_id
}

/** As clients see it, without its bytes. */
export const shownAttachment = ({ filename, contentType, ...of }: Attachment): EmailAttachment => ({
  filename,
  contentType,
  size: of.sizeBytes,
  contentId: of.contentId ?? null,
  disposition: of.disposition,
})

/** What happened to a mail, in the order of time. */
export interface MailHappening {
  /** In ms. */
  at: number
  what: MailEvent['type'] | 'accepted' | 'cancelled'
  recipient: string | null
  deliveryId: number | null
  /** Word for word. */
  reply: string | null
  /** What was concluded from it, and by which rule; for an open or click, who fetched what. */
  means: string
  /** The class, if it is a refusal. */
  bounceClass?: string | undefined
  /** For a complaint: whether it provably comes from a feedback loop. */
  isProved?: boolean | undefined
  /** A machine made this open or click, so it counts for nothing. */
  byMachine: boolean
}

/**
 * All events from its acceptance on, and the recipients who were never tried, which have no event.
 */
export function timelineOf(email: EmailRecord, events: readonly MailEvent[]): MailHappening[] {
  const told = new Set(events.map(({ type, recipient }) => `${type} ${recipient}`))
  const silent = { deliveryId: null, reply: null, means: '', byMachine: false }
  const untried = email.recipients.flatMap(({ email: recipient, status, updatedAt }) => {
    if (status !== 'suppressed' && status !== 'cancelled') return []
    if (told.has(`${status} ${recipient}`)) return []
    return [{ ...silent, at: Date.parse(updatedAt ?? email.createdAt), what: status, recipient }]
  })
  const rows: MailHappening[] = [
    { ...silent, at: Date.parse(email.createdAt), what: 'accepted', recipient: null },
    ...untried,
    ...events.map((event) => ({
      at: event.at,
      what: event.type,
      recipient: event.recipient,
      deliveryId: event.deliveryId,
      reply: event.reply,
      means: meaningOf(event),
      bounceClass: event.detail?.bounceClass,
      ...(event.type === 'complained' && { isProved: event.detail?.evidence !== undefined }),
      byMachine: event.detail?.machine === true,
    })),
  ]
  return rows.sort((a, b) => a.at - b.at)
}

/**
 * What an event means, in words; for a complaint also whether it provably comes from a feedback
 * loop.
 */
function meaningOf({ type, detail }: MailEvent): string {
  if (type === 'opened' || type === 'clicked') {
    const who = detail?.machine ? `[machine: ${detail.sign ?? 'unknown'}]` : detail?.userAgent
    return [detail?.url, who].filter(Boolean).join('  ')
  }
  if (type === 'complained') {
    const { feedbackType, evidence } = detail ?? {}
    const proof = evidence === undefined ? 'unproved' : `proved, ${evidence}`
    return `[${[feedbackType, proof].filter(Boolean).join(', ')}]`
  }
  const { bounceType, bounceClass, rule } = detail ?? {}
  const words = [bounceType, bounceClass, rule === undefined ? undefined : `rule ${rule}`]
  const known = words.filter((word) => word !== undefined)
  return known.length === 0 ? '' : `[${known.join(', ')}]`
}

const mostReads = 5

/**
 * The row and its recipients as of one moment. They are two queries, and over a server a result may be committed
 * between them: then both are read again.
 */
async function readWhole(read: Read, accountId: string, id: string) {
  for (let left = mostReads; ; left--) {
    const row = await read
      .selectFrom('emails')
      .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
      .leftJoin('bodies', 'bodies.id', 'emails.body_id')
      .selectAll('emails')
      .select(['broadcasts.extras as broadcast_extras', 'bodies.attachments'])
      .select((eb) => [
        eb('bodies.id', 'is', null).as('has_no_body'),
        eb
          .exists(
            eb.selectFrom('raw_messages').select('email_id').whereRef('email_id', '=', 'emails.id'),
          )
          .as('has_message'),
      ])
      .where('emails.id', '=', id)
      .where('emails.account_id', '=', accountId)
      .executeTakeFirst()
    if (row === undefined) throw new ApiError('not_found', 'The account has no email with this id')
    const found = await readRecipients(read, id)
    if (!isRemote(read) || left === 1) return { row, found }
    const now = await read
      .selectFrom('emails')
      .select(['status', 'waiting'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (now?.status === row.status && now.waiting === row.waiting) return { row, found }
  }
}
