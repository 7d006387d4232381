import { keepNewest } from '../../bounded/index.js'
import { type Mailbox, type MessageInput, parseMailbox, textOfHtml } from '../../mime/index.js'
import {
  type CopyLinks,
  footerPlace,
  makeFooterPlaces,
  makePreferenceLinks,
  makeUnsubscribeLinks,
  makeViewLinks,
  shownLinks,
  stringsIn,
  unsubscribeHeaders,
  withFooter,
  withOwnLinks,
} from '../../preferences/index.js'
import { prepared, type Read, readExtras } from '../../store/index.js'
import { topicName } from '../../topics/index.js'
import { makeTracker } from '../../tracking/index.js'
import type { OutboundDeps } from '../deps.js'
import { MailFault, makeCampaignContent } from './campaign-content.js'
import { makeStoredEmails, type StoredEmail } from './stored-emails.js'
import type { Decorated } from './submitted.js'

/** Whose copy of a mail is meant. */
export interface RecipientCopy {
  id: number
  emailId: string
  recipient: string
}

/** What making content needs. */
export type ContentDeps = Pick<
  OutboundDeps,
  'store' | 'clock' | 'key' | 'publicUrl' | 'tracking' | 'renderer'
>

// How many texts made of HTML are kept, one for each body.
const maxTexts = 30

/**
 * What a mail says to each of its recipients, before it is a message. `forShow`: the mail is shown to somebody else,
 * who must not get the links by which the recipient unsubscribes.
 */
export function makeMailContent(deps: ContentDeps, { forShow = false } = {}) {
  const { key, publicUrl } = deps
  const campaignContent = makeCampaignContent(deps.store.read, deps)
  const links = forShow
    ? shownLinks(publicUrl)
    : {
        unsubscribe: makeUnsubscribeLinks(key, publicUrl),
        preferences: makePreferenceLinks(key, publicUrl),
        view: makeViewLinks(key, publicUrl),
      }
  const tracker = makeTracker(deps)
  const footerPlaces = makeFooterPlaces()
  const texts = new Map<number | string, string>()

  /**
   * The text is made once for a body's recipients, in one mail or in several alike, because their deliveries come
   * close together.
   */
  const textOf = ({ id, body_id: bodyId }: StoredEmail, html: string): string => {
    const key = bodyId ?? id
    const known = texts.get(key)
    if (known !== undefined) return known
    const { text } = textOfHtml(html)
    keepNewest(texts, key, text, maxTexts)
    return text
  }

  const plainContentFor = async (email: StoredEmail, recipient: string) => {
    const { account_id: accountId, body_id: bodyId, broadcast_id: broadcastId } = email
    const html = email.html ?? ''
    const { text } = email
    if (broadcastId !== null && bodyId !== null) {
      const previewText = email.preview_text
      return await campaignContent({ accountId, bodyId, html, text, previewText }, recipient)
    }
    if (email.automation_step_id !== null && bodyId !== null) {
      const variables = await mergedAtStep(deps.store.read, email.id)
      return await campaignContent({ accountId, bodyId, html, text, variables }, recipient)
    }
    return { html, text: email.text ?? textOf(email, html) }
  }

  /**
   * Adds tracked links, and in marketing mail the ways to unsubscribe: a footer and the headers of RFC 8058, with
   * each recipient's own links.
   */
  const decorate = async (
    email: StoredEmail,
    { recipient, deliveryId, domain }: { recipient: string; deliveryId: number; domain: string },
    { html, text }: { html: string; text: string },
  ): Promise<Decorated> => {
    const { account_id: accountId, id: emailId, domain_id: domainId, body_id: bodyId } = email
    const { type } = email
    const copy = { accountId, emailId, deliveryId, domainId, bodyId, type }
    const reader = { accountId, address: recipient, emailId }
    const viewUrl = email.archive === 1 ? links.view.url(reader) : ''
    if (type === 'transactional') {
      // This is a notice to everybody, which nobody can leave, so the tags for that are empty.
      const own = { unsubscribeUrl: '', preferencesUrl: '', viewUrl }
      const made = email.broadcast_id === null ? { html, text } : noticeOf({ html, text }, own)
      return { extraHeaders: [], html: await tracker.track(copy, made.html), text: made.text }
    }
    const topicId = email.topic_id ?? undefined
    const own = {
      unsubscribeUrl: links.unsubscribe.url({ topicId, ...reader }),
      preferencesUrl: links.preferences.url(reader),
      postalAddress: email.postal_address ?? '',
      viewUrl,
    }
    // The own links go in before tracking, which leaves links to the appliance itself as they are.
    const written = withOwnLinks({ html, text }, own)
    const placed = footerPlaces(written.html, own, email.text === null ? written.text : undefined)
    const tracked = await tracker.track(copy, placed.html)
    const name = topicId && (await topicName(deps.store.read, accountId, topicId))
    const footer = { accountName: email.account_name, topicName: name, ...own }
    return {
      extraHeaders: unsubscribeHeaders({ url: own.unsubscribeUrl, domain, topicId }),
      ...withFooter(
        { html: tracked, isWanted: placed.isWanted, text: written.text },
        footer,
        stringsIn(email.account_language),
      ),
    }
  }

  const findStored = makeStoredEmails(deps.store.read)

  return {
    /** Throws a `MailFault` when the mail is gone. */
    async find(emailId: string): Promise<StoredEmail> {
      const email = await findStored(emailId)
      if (email === undefined) throw new MailFault('The mail itself is gone')
      return email
    },
    plainContentFor,
    decorate,
  }
}

/** A notice has no footer, even where its body asks for one. */
function noticeOf(content: { html: string; text: string }, own: CopyLinks) {
  const { html, text } = withOwnLinks(content, own)
  return { html: html.replaceAll(footerPlace, ''), text: text.replaceAll(footerPlace, '') }
}

/** All of a message; the content and the headers that depend on the recipient are given. */
export function inputOf(email: StoredEmail, { html, text, extraHeaders }: Decorated): MessageInput {
  const extras = readExtras(email.extras ?? email.broadcast_extras)
  if (extras === undefined) throw new Error('What the mail has beside its columns is damaged')
  const { cc, replyTo, headers } = extras
  return {
    from: senderOf(email.from_header),
    to: (JSON.parse(email.to_list) as string[]).map(stored),
    cc: cc?.map(stored),
    replyTo: email.reply_to === null ? replyTo?.map(stored) : [stored(email.reply_to)],
    subject: email.subject,
    html,
    text,
    extraHeaders: extraHeaders.concat(feedbackId(email, headers)),
    customHeaders: headers,
    messageId: email.message_id,
    dateMs: email.scheduled_at ?? email.created_at,
  }
}

/**
 * Google's Feedback-ID, by which Postmaster Tools tell campaigns apart: three fields, and last the sender's id of 5
 * to 15 characters. No field may hold a colon; these are ids, which name nobody. The sender's own Feedback-ID takes
 * precedence.
 */
function feedbackId(email: StoredEmail, headers: Record<string, string> = {}) {
  const { account_id: accountId, broadcast_id: campaign, automation_step_id: step } = email
  const isOwn = Object.keys(headers).some((name) => name.toLowerCase() === 'feedback-id')
  if ((campaign === null && step === null) || isOwn) return []
  const [id, type] = campaign === null ? [`step-${step}`, 'automation'] : [campaign, 'campaign']
  return [{ name: 'Feedback-ID', value: `${id}:${accountId}:${type}:posthorn` }]
}

/** The values that were known at the automation's step that sent the mail. */
async function mergedAtStep(read: Read, emailId: string): Promise<object | null> {
  const [row] = await mergeOf(read, { emailId })
  return row === undefined ? null : JSON.parse(row.variables)
}

const mergeOf = prepared<{ emailId: string }, { variables: string }>((db, { emailId }) =>
  db.selectFrom('email_merges').select('variables').where('email_id', '=', emailId),
)

// Mailboxes that were parsed; an account's mails have few senders.
const senders = new Map<string, Mailbox>()
const maxSenders = 1_000

/**
 * The mailbox in a stored From. It is remembered, because parsing costs more than looking up. Throws where the stored
 * address is broken.
 */
export function senderOf(text: string): Mailbox {
  const known = senders.get(text)
  if (known !== undefined) return known
  const mailbox = stored(text)
  keepNewest(senders, text, mailbox, maxSenders)
  return mailbox
}

/** A stored address. It was parsed when the mail was accepted, so if it does not parse now, it is broken. */
function stored(text: string): Mailbox {
  const mailbox = parseMailbox(text)
  if (mailbox === undefined) throw new Error('A stored address does not parse')
  return mailbox
}
