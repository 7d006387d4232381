import { attachmentsOf } from '../contents/index.js'
import type { ReturnPaths } from '../deliveries/index.js'
import type { DkimKey } from '../dkim/index.js'
import { type Signer, signMessageAsync, type ToSign } from '../dkim/index.js'
import { signingKeys } from '../domains/index.js'
import {
  composeMessage,
  type Mailbox,
  type MessageInput,
  parseMailbox,
  structuredField,
} from '../mime/index.js'
import {
  makePreferenceLinks,
  makeUnsubscribeLinks,
  unsubscribeHeaders,
  withFooter,
} from '../preferences/index.js'
import type { StreamedMessage } from '../smtp/index.js'
import { prepared, type Read, readExtras } from '../store/index.js'
import { topicName } from '../topics/index.js'
import { makeTracker } from '../tracking/index.js'
import { blankLine, makeAttached, sum } from './attached.js'
import { MailFault, makeCampaignContent } from './campaign-content.js'
import type { OutboundDeps } from './deps.js'
import { plainTextOf } from './plain-text.js'
import { type Decorated, makeSubmitted } from './submitted.js'

/** A message ready for the wire, and what the envelope has to know. */
export interface SignedMessage {
  message: readonly Buffer[] | StreamedMessage
  /** Of it, what is held until it is sent: all, but for attachments. */
  heldBytes: number
  smtpUtf8: boolean
  /** Where bounces go: at the domain's own return path host, or at the appliance's. */
  returnPath: string
}

/** The message of an email as the recipient of this delivery gets it. */
export type Composer = (delivery: {
  id: number
  emailId: string
  recipient: string
}) => Promise<SignedMessage>

interface StoredEmail {
  id: string
  domain_id: string
  from_header: string
  to_list: string
  reply_to: string | null
  subject: string
  message_id: string
  created_at: number
  scheduled_at: number | null
  html: string | null
  text: string | null
  account_id: string
  account_name: string
  type: 'transactional' | 'marketing'
  topic_id: string | null
  body_id: number | null
  attachments: string | null
  broadcast_id: string | null
  automation_step_id: number | null
  extras: string | null
  broadcast_extras: string | null
}

interface Signing {
  keys: DkimKey[]
  returnPathHost: string | undefined
}

// Long enough to unseal a key once for thousands of mails, short enough that a rotation is seen.
const signingTtlMs = 60_000
const maxCachedDomains = 1_000
const maxTexts = 30

const storedEmail = prepared<{ emailId: string }, StoredEmail>((db, { emailId }) =>
  db
    .selectFrom('emails')
    .leftJoin('bodies', 'bodies.id', 'emails.body_id')
    .innerJoin('accounts', 'accounts.id', 'emails.account_id')
    .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
    .select(['emails.id', 'emails.domain_id', 'emails.from_header', 'to_list', 'emails.reply_to'])
    .select(['emails.subject', 'message_id', 'emails.created_at', 'emails.scheduled_at'])
    .select(['bodies.html', 'bodies.text', 'emails.account_id', 'accounts.name as account_name'])
    .select(['type', 'emails.topic_id'])
    .select(['emails.body_id', 'bodies.attachments', 'broadcast_id', 'automation_step_id'])
    .select(['emails.extras', 'broadcasts.extras as broadcast_extras'])
    .where('emails.id', '=', emailId),
)

/** Composes and signs. The same mail gets the same bytes on every attempt but for the signatures' time. */
export function makeComposer(
  deps: Pick<
    OutboundDeps,
    'store' | 'clock' | 'key' | 'publicUrl' | 'tracking' | 'renderer' | 'config'
  >,
  returnPaths: ReturnPaths,
  signer: Pick<Signer, 'sign'>,
): Composer {
  const campaignContent = makeCampaignContent(deps.store.read, deps)
  const unsubscribeLinks = makeUnsubscribeLinks(deps.key, deps.publicUrl)
  const preferenceLinks = makePreferenceLinks(deps.key, deps.publicUrl)
  const tracker = makeTracker(deps)
  const attached = makeAttached(deps.store.read)
  const submitted = makeSubmitted(deps.store.read)
  const cached = new Map<string, { signing: Promise<Signing | undefined>; until: number }>()
  const texts = new Map<string, string>()

  const signing = (domainId: string): Promise<Signing | undefined> => {
    const now = deps.clock.now()
    const known = cached.get(domainId)
    if (known !== undefined && known.until > now) return known.signing
    // Found once, also for the hundreds of mails that begin at the same moment.
    const found = signingKeys(deps.store.read, deps.key, domainId)
    if (cached.size >= maxCachedDomains) cached.clear()
    cached.set(domainId, { signing: found, until: now + signingTtlMs })
    found.catch(() => cached.delete(domainId))
    return found
  }

  /** Made once for a mail's recipients, whose deliveries come close together. */
  const textOf = (emailId: string, html: string): string => {
    const known = texts.get(emailId)
    if (known !== undefined) return known
    const text = plainTextOf(html)
    const [oldest] = texts.keys()
    if (texts.size >= maxTexts && oldest !== undefined) texts.delete(oldest)
    texts.set(emailId, text)
    return text
  }

  const plainContentFor = async (email: StoredEmail, recipient: string) => {
    const { account_id: accountId, body_id: bodyId, broadcast_id: broadcastId } = email
    const html = email.html ?? ''
    const { text } = email
    if (broadcastId !== null && bodyId !== null) {
      return await campaignContent({ accountId, bodyId, html, text }, recipient)
    }
    if (email.automation_step_id !== null && bodyId !== null) {
      const variables = await mergedAtStep(deps.store.read, email.id)
      return await campaignContent({ accountId, bodyId, html, text, variables }, recipient)
    }
    return { html, text: email.text ?? textOf(email.id, html) }
  }

  /**
   * Tracked links, and in marketing mail how to leave it: a footer and the headers of RFC 8058, each
   * recipient's own.
   */
  const decorate = async (
    email: StoredEmail,
    { recipient, deliveryId, domain }: { recipient: string; deliveryId: number; domain: string },
    { html, text }: { html: string; text: string },
  ): Promise<Decorated> => {
    const { account_id: accountId, id: emailId, domain_id: domainId, body_id: bodyId } = email
    const copy = { accountId, emailId, deliveryId, domainId, bodyId }
    const content = { html: await tracker.track(copy, html), text }
    if (email.type === 'transactional') return { ...content, extraHeaders: [] }
    const topicId = email.topic_id ?? undefined
    const reader = { accountId, address: recipient, emailId }
    const unsubscribeUrl = unsubscribeLinks.url({ ...reader, topicId })
    const name = topicId && (await topicName(deps.store.read, accountId, topicId))
    const footer = {
      unsubscribeUrl,
      preferencesUrl: preferenceLinks.url(reader),
      accountName: email.account_name,
      topicName: name,
    }
    return {
      ...withFooter(content, footer),
      extraHeaders: unsubscribeHeaders({ url: unsubscribeUrl, domain, topicId }),
    }
  }

  return async ({ id, emailId, recipient }) => {
    const [email] = await storedEmail(deps.store.read, { emailId })
    if (email === undefined) throw new MailFault('The mail itself is gone')
    const from = senderOf(email.from_header)
    const copy = { recipient, deliveryId: id, domain: from.domain }
    const signs = await signing(email.domain_id)
    if (signs === undefined) throw new MailFault(`The sending domain ${from.domain} was deleted`)
    const { keys, returnPathHost } = signs
    const { returnPathHost: ownHost, heloName } = deps.config
    const returnPath = returnPaths.addressOf(id, returnPathHost ?? (ownHost || heloName))
    // RFC 9477: complaints come to the return path. Whoever shows it has got this very copy.
    const complaints = { name: 'CFBL-Address', value: `${returnPath}; report=arf` }
    const sign = (message: ToSign) =>
      signMessageAsync(message, keys, { timeSeconds: Math.floor(deps.clock.now() / 1000) }, signer)
    const raw = email.body_id === null ? await submitted.find(email.id) : undefined
    if (raw !== undefined) {
      const firstField = structuredField(complaints.name, complaints.value)
      const decorated = (content: { html: string; text: string }) => decorate(email, copy, content)
      return { ...(await submitted.compose(raw, decorated, { sign, firstField })), returnPath }
    }
    const content = await plainContentFor(email, recipient)
    const { html, text, extraHeaders } = await decorate(email, copy, content)
    const extras = readExtras(email.extras ?? email.broadcast_extras)
    if (extras === undefined) throw new Error('What the mail has beside its columns is damaged')
    const { cc, replyTo, headers } = extras
    const input: MessageInput = {
      from,
      to: (JSON.parse(email.to_list) as string[]).map(stored),
      cc: cc?.map(stored),
      replyTo: email.reply_to === null ? replyTo?.map(stored) : [stored(email.reply_to)],
      subject: email.subject,
      html,
      text,
      extraHeaders: [complaints, ...extraHeaders],
      customHeaders: headers,
      messageId: email.message_id,
      dateMs: email.scheduled_at ?? email.created_at,
    }
    if (email.attachments !== null) {
      const attachments = attachmentsOf(email.attachments)
      if (attachments === undefined) throw new Error('The list of its attachments is damaged')
      return { ...(await attached.compose(input, attachments, sign)), returnPath }
    }
    const composed = composeMessage(input)
    const signatures = await sign(composed)
    const message = [signatures, composed.header, blankLine, composed.body]
    return { message, heldBytes: sum(message), smtpUtf8: composed.smtpUtf8, returnPath }
  }
}

/** What was known at the step of an automation that sent the mail. */
async function mergedAtStep(read: Read, emailId: string): Promise<object | null> {
  const [row] = await mergeOf(read, { emailId })
  return row === undefined ? null : JSON.parse(row.variables)
}

const mergeOf = prepared<{ emailId: string }, { variables: string }>((db, { emailId }) =>
  db.selectFrom('email_merges').select('variables').where('email_id', '=', emailId),
)

// An account's mails have few senders.
const senders = new Map<string, Mailbox>()
const maxSenders = 1_000

function senderOf(text: string): Mailbox {
  const known = senders.get(text)
  if (known !== undefined) return known
  const mailbox = stored(text)
  if (senders.size >= maxSenders) senders.clear()
  senders.set(text, mailbox)
  return mailbox
}

function stored(text: string): Mailbox {
  const mailbox = parseMailbox(text)
  if (mailbox === undefined) throw new Error('A stored address does not parse')
  return mailbox
}
