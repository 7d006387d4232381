import { type AccountBilling, checkSending } from '../billing/index.js'
import { blockedOfEach } from '../deliveries/index.js'
import { ApiError, messageOf } from '../errors/index.js'
import { refuseInexact } from '../json/index.js'
import { isTextCut, type Mailbox } from '../mime/index.js'
import {
  type EmailRow,
  type GivenExtras,
  keptOf,
  type MailTag,
  type Tx,
  writeExtras,
} from '../store/index.js'
import type { HeldMail } from '../surges/index.js'
import { findTemplate, renderTemplate } from '../templates/index.js'
import { findTopic } from '../topics/index.js'
import type { AskedAttachment } from './attachment-fields.js'
import { type AttachmentReader, makeAttachmentReader, type NewAttachment } from './attachments.js'
import type { EmailDeps } from './deps.js'
import { checkHeaders } from './header-fields.js'
import type { RawMessage } from './raw-message.js'
import { listed, type Recipients, recipientsOf } from './recipients.js'
import { parseScheduledAt } from './schedule.js'
import type { SendInput } from './send-body.js'
import { knownSender, noSenders, type Senders, verifiedSender } from './sender.js'

/** A mail that passed all checks, ready to be written. */
export interface PreparedEmail {
  row: Omit<
    EmailRow,
    'relayed' | 'opens' | 'clicks' | 'body_id' | 'broadcast_id' | 'automation_step_id' | 'variant'
  >
  html: string
  text: string | null
  tags: readonly MailTag[]
  attachments: readonly NewAttachment[]
  /** A message that was handed in whole; `html` and `text` are then empty. */
  raw?: RawMessage | undefined
  /** Who gets it, and who must not (`suppression`). */
  recipients: Mailbox[]
  suppressed: Mailbox[]
  /** Present if its deliveries are held from the beginning because of a surge. */
  held?: HeldMail | undefined
  /** When its deliveries fall due. */
  dueAt: number
}

/** A mail that passed all checks except its recipients' suppression. */
export interface MailDraft {
  /** Status and waiting count are set once it is known who gets the mail. */
  row: PreparedEmail['row']
  html: string
  text: string | null
  /** What its sender should know of it although it is accepted. */
  warnings: readonly string[]
  tags: readonly MailTag[]
  attachments: readonly NewAttachment[]
  raw?: RawMessage | undefined
  sender: Mailbox
  mailboxes: Mailbox[]
  /** It asks for a confirmation of a form. */
  isConfirmation: boolean
}

/** A send as clients of the API write it, or with a message that is already whole. */
export type SendRequest = SendInput & { raw?: RawMessage }

/** What the mails of one request share. */
export interface OfRequest {
  senders: Senders
  reader: AttachmentReader
  /** Attachments that each of them has. */
  shared: readonly AskedAttachment[]
  /** Only a form sets it: no field of a request does. */
  isConfirmation: boolean
  /** It came by a test key: it goes to the account's test inbox, and never to a recipient. */
  isTest: boolean
}

/**
 * Checks everything about a mail that can be refused before anything is written. `now` is when it is
 * accepted, one time for a whole batch, so that a cancelled mail is given back to the period that it
 * was counted in.
 */
export async function draftEmail(
  deps: EmailDeps,
  billing: AccountBilling,
  input: SendRequest,
  now: number,
  {
    senders = noSenders(),
    reader = makeAttachmentReader(deps, billing.accountId),
    shared,
    isConfirmation = false,
    isTest = false,
  }: Partial<OfRequest> = {},
): Promise<MailDraft> {
  const { accountId } = billing
  const { type = 'transactional' } = input
  const topicId = input.topicId?.toLowerCase()
  refuseOverload(deps)
  checkSending(billing, type)
  const faults: ApiError[] = []
  const noted = (error: unknown): undefined => {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    faults.push(error)
  }
  const tried = <T>(look: () => T): T | undefined => {
    try {
      return look()
    } catch (error) {
      return noted(error)
    }
  }
  // Most mails have nothing to await: a promise for each check made a quarter of all garbage of a
  // batch.
  if (topicId !== undefined) await checkTopic(deps, accountId, type, topicId).catch(noted)
  const scheduledAt = tried(() => parseScheduledAt(input.scheduledAt, now))
  const sender =
    knownSender(input.from, senders) ??
    (await verifiedSender(deps.store.read, accountId, input.from, senders).catch(noted))
  const recipients = tried(() => recipientsFor(type, input))
  tried(() => checkHeaders(input.headers))
  if (input.metadata !== undefined) tried(() => refuseInexact('metadata', input.metadata))
  const content = contentGiven(input) ?? (await contentOf(deps, accountId, input).catch(noted))
  const asked = tried(() => reader.check(input.attachments, shared)) ?? []
  if (sender === undefined || recipients === undefined || content === undefined || faults[0]) {
    throw new FaultyDraft(faults)
  }
  const { to, mailboxes } = recipients
  // Only now, so that nothing is fetched for a refused mail.
  const attachments = asked.length === 0 ? [] : await reader.take(asked)
  const id = isTest ? deps.store.ids.testUuid() : deps.store.ids.uuid()
  const warnings = warningsAbout(content)
  const { reply_to, extras } = extrasOf(input, { recipients, warnings })
  return {
    html: content.html,
    text: content.text,
    warnings,
    tags: input.tags ?? [],
    attachments,
    raw: input.raw,
    sender: sender.mailbox,
    mailboxes,
    isConfirmation,
    row: {
      id,
      account_id: accountId,
      domain_id: sender.domainId,
      from_header: input.from.trim(),
      to_list: JSON.stringify(to),
      reply_to,
      extras,
      subject: content.subject,
      type,
      topic_id: topicId ?? null,
      template: input.template ?? null,
      metadata: input.metadata === undefined ? null : JSON.stringify(input.metadata),
      status: 'queued',
      waiting: 0,
      message_id: input.raw?.messageId ?? `<${id}@${sender.mailbox.domain}>`,
      provider: 'primary',
      delivered: 0,
      bounced: 0,
      failed: 0,
      opened_at: null,
      clicked_at: null,
      scheduled_at: scheduledAt ?? null,
      sent_at: null,
      created_at: now,
    },
  }
}

/** A single send is told its first fault; a batch is told all faults. */
export class FaultyDraft extends ApiError {
  constructor(readonly faults: readonly ApiError[]) {
    const [first] = faults
    super(first?.code ?? 'validation_error', messageOf(first), first)
  }
}

/** 422 for a topic on transactional mail, and 404 for one that the account does not have. */
async function checkTopic(
  { store }: EmailDeps,
  accountId: string,
  type: SendInput['type'],
  topicId: string,
): Promise<void> {
  if (type === 'marketing') await findTopic(store.read, accountId, topicId)
  else {
    const message = 'topicId is only for mail of type "marketing"'
    const says = 'Only marketing mail has a topic'
    const slips = [{ field: 'topicId', says }]
    throw new ApiError('validation_error', message, { status: 422, slips })
  }
}

/**
 * Drops suppressed recipients, in the write: one look-up for all mails of an account, type and topic.
 */
export async function prepareEmails(
  tx: Tx,
  drafts: readonly MailDraft[],
): Promise<PreparedEmail[]> {
  const blocked = await blockedOfEach(
    tx,
    drafts.map(({ row, mailboxes, isConfirmation }) => ({
      accountId: row.account_id,
      type: row.type,
      topicId: row.topic_id,
      isConfirmation,
      addresses: mailboxes.map(({ address }) => address),
    })),
  )
  return drafts.map((draft, i) => prepared(draft, blocked[i] ?? new Set()))
}

/**
 * A suppressed recipient gets no delivery but stays in the mail's header, where the others see to
 * whom it was written.
 */
function prepared(draft: MailDraft, blocked: ReadonlySet<string>): PreparedEmail {
  const { row, mailboxes, html, text, tags, attachments, raw } = draft
  const isFree = blocked.size === 0
  const recipients = isFree ? mailboxes : mailboxes.filter(({ address }) => !blocked.has(address))
  const suppressed = isFree ? [] : mailboxes.filter(({ address }) => blocked.has(address))
  // Set in each run, as the write may run again.
  row.status = initialStatus(recipients.length, row.scheduled_at)
  row.waiting = recipients.length
  const dueAt = row.scheduled_at ?? row.created_at
  return { row, html, text, tags, attachments, raw, recipients, suppressed, dueAt }
}

function initialStatus(recipients: number, scheduledAt: number | null) {
  // decisions.md: nobody is left to mail, and only the status tells the client.
  if (recipients === 0) return 'suppressed'
  return scheduledAt === null ? 'queued' : 'scheduled'
}

/** A queue that grows without end would take the disk space of mail that was accepted. */
function refuseOverload({ backlog, maxQueued }: EmailDeps): void {
  if (backlog.left(maxQueued) > 0) return
  if (backlog.isDraining) {
    throw new ApiError('service_unavailable', 'This node takes no mail now: send it to another', {
      headers: { 'retry-after': '5' },
    })
  }
  const what = backlog.outOfRoom ? 'disk' : 'queue'
  throw new ApiError('service_unavailable', `The ${what} is full; try again later`, {
    headers: { 'retry-after': '60' },
  })
}

interface MailContent {
  subject: string
  html: string
  text: string | null
}

/** The content of a mail that came whole or with its HTML; undefined for one from a template. */
function contentGiven({
  html,
  template,
  subject = '',
  text,
  raw,
}: SendRequest): MailContent | undefined {
  if (raw !== undefined) return { subject, html: '', text: null }
  if (html === undefined || template !== undefined) return undefined
  return { subject, html, text: text ?? null }
}

/** The template is filled in now, so that a later mail has the content of its acceptance. */
async function contentOf(
  deps: EmailDeps,
  accountId: string,
  { html, template: slug, subject, text, variables = {}, type }: SendRequest,
): Promise<MailContent> {
  if (slug === undefined || html !== undefined) {
    const message = 'Exactly one of html and template must be given'
    throw new ApiError('validation_error', message, { status: 422 })
  }
  const template = await findTemplate(deps.store.read, accountId, slug)
  const copyTags = type === 'marketing' ? 'kept' : undefined
  return await renderTemplate(deps.renderer, template, { variables, subject, text, copyTags })
}

/** Nobody may leave a list by another's link, so marketing mail has no identical copies. */
function recipientsFor(type: SendInput['type'], input: SendInput): Recipients {
  const recipients = recipientsOf(input)
  if (type === 'marketing' && recipients.cc.length + recipients.bcc.length > 0) {
    const message =
      'cc and bcc are only for mail of type "transactional": every recipient of marketing mail has an unsubscribe link of their own. Put all recipients into to, or send each of them a mail'
    throw new ApiError('validation_error', message, { status: 422 })
  }
  return recipients
}

/** Warnings about content that is accepted. Only HTML of such a length is examined. */
export function warningsAbout({ html, text }: Pick<MailContent, 'html' | 'text'>): string[] {
  if (text !== null || !isTextCut(html)) return []
  return [
    'The HTML is too long to be made into a text part as a whole: that part ends with "… the rest is in the HTML part". Send less HTML, or a text of your own',
  ]
}

/** The columns for what few mails have; most mails have none of it, and cost nothing. */
export function extrasOf(
  given: Pick<SendInput, 'replyTo'> & GivenExtras,
  {
    recipients: { cc, bcc } = { cc: [], bcc: [] },
    warnings = [],
  }: { recipients?: Pick<Recipients, 'cc' | 'bcc'>; warnings?: readonly string[] } = {},
): { reply_to: string | null; extras: string | null } {
  const { replyTo } = given
  const kept = keptOf(given)
  const isPlain = typeof replyTo !== 'object' && kept === undefined
  if (isPlain && cc.length + bcc.length + warnings.length === 0) {
    return { reply_to: replyTo?.trim() ?? null, extras: null }
  }
  const answers = listed(replyTo).map((address) => address.trim())
  const [only = null, ...others] = answers
  const severalAnswers = others.length > 0 ? answers : undefined
  const extras = { cc, bcc, replyTo: severalAnswers, warnings, ...kept }
  return { reply_to: others.length > 0 ? null : only, extras: writeExtras(extras) }
}
