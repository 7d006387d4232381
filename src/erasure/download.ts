import { strToU8, zipSync } from 'fflate'
import { isoTime } from '../clock/index.js'
import { contactAnswer, contactHistory, findContact } from '../contacts/index.js'
import { listEmails } from '../emails/index.js'
import { readTimeline } from '../events/index.js'
import { entriesOf } from '../forms/index.js'
import { addressKey } from '../mime/index.js'
import { type CampaignDeeds, campaignDeedsOf } from '../stats/index.js'
import type { Read } from '../store/index.js'
import { csvLine, suppressionsOf } from '../suppression/index.js'
import { optOutsOf } from '../topics/index.js'

// What one file holds: it is made in memory.
const mostMails = 1_000
const mostEvents = 50

/** All that an account has of an address: a ZIP of JSON, and of its mails and events as CSV. */
export async function downloadOf(
  read: Read,
  accountId: string,
  email: string,
): Promise<Uint8Array> {
  const contact = await findContact(read, accountId, email)
  const { emails, next } = await listEmails(
    read,
    accountId,
    { to: addressKey(email) },
    { limit: mostMails },
  )
  const mails = []
  const address = addressKey(email)
  for (const mail of emails) {
    const events = await readTimeline(read, accountId, mail.id, { limit: mostEvents })
    mails.push({
      ...mail,
      to: email,
      events: events
        .filter(({ recipient }) => recipient === null || addressKey(recipient) === address)
        .map(({ type, at, reply, detail }) => ({ type, at: isoTime(at), reply, detail })),
    })
  }
  const suppressions = await suppressionsOf(read, accountId, email)
  const consent = await contactHistory(read, accountId, email)
  const topics = await optOutsOf(read, accountId, email)
  const everything = {
    address: email,
    contact: contact === undefined ? null : await contactAnswer(read, accountId, contact.id),
    suppressions: suppressions.map(({ createdAt, expiresAt, ...one }) => ({
      ...one,
      createdAt: isoTime(createdAt),
      expiresAt: isoTime(expiresAt),
    })),
    leftTopics: [...topics].map(([topicId, at]) => ({ topicId, at: isoTime(at) })),
    consent: consent.map(({ at, ...event }) => ({ ...event, at: isoTime(at) })),
    forms: (await entriesOf(read, accountId, email)).map(
      ({ formId, typed, agreed, state, createdAt }) => ({
        formId,
        typed,
        agreed,
        state,
        sentInAt: isoTime(createdAt),
      }),
    ),
    campaigns: (contact === undefined ? [] : await campaignDeedsOf(read, contact.id)).map(
      shownDeeds,
    ),
    mails,
    // More mails than one file takes: the log of mail has the older ones.
    isWhole: next === undefined,
  }
  const lines = [
    csvLine(['mail', 'subject', 'accepted', 'event', 'at', 'reply']),
    ...mails.flatMap(({ id, subject, createdAt, events }) => [
      csvLine([id, subject, String(createdAt), 'accepted', String(createdAt), '']),
      ...events.map(({ type, at, reply }) =>
        csvLine([id, subject, String(createdAt), type, at ?? '', reply ?? '']),
      ),
    ]),
  ]
  return zipSync({
    'everything.json': strToU8(`${JSON.stringify(everything, null, 2)}\n`),
    'mails.csv': strToU8(lines.join('')),
    'consent.csv': strToU8(
      [
        csvLine(['at', 'what', 'detail']),
        ...everything.consent.map(({ at, kind, detail }) =>
          csvLine([at ?? '', kind, JSON.stringify(detail)]),
        ),
      ].join(''),
    ),
  })
}

/** What they did with a campaign. */
const shownDeeds = ({ broadcastId, links, ...times }: CampaignDeeds) => ({
  campaignId: broadcastId,
  openedAt: isoTime(times.openedAt),
  clickedAt: isoTime(times.clickedAt),
  leftAt: isoTime(times.leftAt),
  complainedAt: isoTime(times.complainedAt),
  notReachedAt: isoTime(times.unreachedAt),
  links,
})
