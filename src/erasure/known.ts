import { isoTime } from '../clock/index.js'
import { contactAnswer, contactHistory, findContact } from '../contacts/index.js'
import { type EmailSummary, listEmails } from '../emails/index.js'
import { entriesOf } from '../forms/index.js'
import { addressKey } from '../mime/index.js'
import { receivedFrom } from '../receiving/index.js'
import { segmentsOfContact } from '../segments/index.js'
import { type CampaignDeeds, campaignDeedsOf } from '../stats/index.js'
import { type Read, storedJson } from '../store/index.js'
import { erasedAmong, suppressionsOf } from '../suppression/index.js'
import { optOutsOf } from '../topics/index.js'
import { runsKnown } from './known-life.js'

/** What became of a mail for one of its recipients. */
export interface MailEventKnown {
  type: string
  at: string
  reply: string | null
  detail: unknown
}

/** A mail as somebody's file has it: without its other recipients. */
export interface MailKnown extends Omit<EmailSummary, 'to' | 'cc' | 'bcc'> {
  to: string
  events: MailEventKnown[]
}

/** All that an account has of an address, except mails and events, as there may be many of those. */
export async function knownOf(read: Read, accountId: string, email: string) {
  const address = addressKey(email)
  const contact = await findContact(read, accountId, address)
  const suppressions = await suppressionsOf(read, accountId, address)
  const consent = await contactHistory(read, accountId, address)
  const topics = await optOutsOf(read, accountId, address)
  const entries = await entriesOf(read, accountId, address)
  return {
    address,
    contact: contact === undefined ? null : await contactAnswer(read, accountId, contact.id),
    segments: contact === undefined ? [] : await segmentsOfContact(read, accountId, contact.id),
    suppressions: suppressions.map(({ createdAt, expiresAt, ...one }) => ({
      ...one,
      createdAt: isoTime(createdAt),
      expiresAt: isoTime(expiresAt),
    })),
    // A hash against which sends are checked: nothing else is left of an erased person.
    wasErased: (await erasedAmong(read, accountId, [address])).size > 0,
    leftTopics: [...topics].map(([topicId, at]) => ({ topicId, at: isoTime(at) })),
    consent: consent.map(({ at, ...event }) => ({ ...event, at: isoTime(at) })),
    forms: entries.map(({ formId, typed, agreed, state, createdAt }) => ({
      formId,
      typed,
      agreed,
      state,
      sentInAt: isoTime(createdAt),
    })),
    received: await receivedFrom(read, accountId, address),
    runs: contact === undefined ? [] : await runsKnown(read, contact.id),
    campaigns: (contact === undefined ? [] : await campaignDeedsOf(read, contact.id)).map(
      shownDeeds,
    ),
  }
}

/** What they did with a campaign. */
const shownDeeds = ({ broadcastId, links, ...times }: CampaignDeeds) => ({
  campaignId: broadcastId,
  openedAt: isoTime(times.openedAt),
  clickedAt: isoTime(times.clickedAt),
  leftAt: isoTime(times.leftAt),
  complainedAt: isoTime(times.complainedAt),
  notReachedAt: isoTime(times.unreachedAt),
  arrivedAt: isoTime(times.takenAt),
  links,
})

/** A page of the mails to an address, the newest first, each with what became of it for them. */
export async function mailsKnown(
  read: Read,
  accountId: string,
  email: string,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<{ mails: MailKnown[]; next: string | undefined }> {
  const address = addressKey(email)
  const { emails, next } = await listEmails(read, accountId, { to: address }, { limit, before })
  const mails: MailKnown[] = []
  for (const { to: _, cc: __, bcc: ___, ...mail } of emails) {
    mails.push({ ...mail, to: address, events: await eventsOfMail(read, mail.id, address) })
  }
  return { mails, next }
}

const eventsALook = 500
// For one mail, with the events of its other recipients: fifty of them, with hundreds of opens each.
const mostEvents = 20_000

/** What became of a mail for one recipient, and for all of them together. */
async function eventsOfMail(read: Read, emailId: string, address: string) {
  const found: MailEventKnown[] = []
  for (let after = 0, looked = 0; looked < mostEvents; looked += eventsALook) {
    const rows = await read
      .selectFrom('events')
      .select(['id', 'type', 'recipient', 'at', 'reply', 'detail'])
      .where('email_id', '=', emailId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(eventsALook)
      .execute()
    for (const { type, recipient, at, reply, detail } of rows) {
      if (recipient !== null && addressKey(recipient) !== address) continue
      found.push({ type, at: isoTime(at), reply, detail: storedJson(detail) ?? null })
    }
    after = rows.at(-1)?.id ?? after
    if (rows.length < eventsALook) break
  }
  return found
}
