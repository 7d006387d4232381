import { hourMs } from '../../src/clock/index.js'
import type { Store } from '../../src/store/index.js'

/** A campaign whose figures are written as the thread of figures writes them, with people for some of them. */
export interface CampaignRows {
  id: string
  accountId: string
  subject: string
  /** Default: a list that is not there. */
  listId?: string
  sentAt: number
  status?: 'sent' | 'sending'
  /** Mails, of which nine in ten arrived. */
  mails: number
  hours?: number
  links?: readonly string[]
  providers?: readonly string[]
  /** What servers said. */
  words?: readonly string[]
  /** Contacts who opened and clicked the first link; the last one was not reached. */
  people?: readonly string[]
}

const emailId = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`

/** Writes the campaign in one transaction. */
export async function insertCampaignRows(store: Store, of: CampaignRows): Promise<void> {
  const { id, accountId, mails, sentAt, status = 'sent', hours = 5, people = [] } = of
  const arrived = Math.floor(mails * 0.9)
  const none = { mails: 0, accepted: 0, suppressed: 0, relayed: 0, failed: 0, bounced_soft: 0 }
  const counts = (all: number) => ({
    ...none,
    answered: all,
    delivered: Math.floor(all * 0.9),
    bounced_hard: Math.floor(all * 0.1),
    deferred: Math.floor(all * 0.2),
    complained: 1,
    complained_unproved: 0,
    unsubscribed: 2,
    opened: Math.floor(all * 0.4),
    opened_unique: Math.floor(all * 0.3),
    opened_machine: Math.floor(all * 0.2),
    clicked: Math.floor(all * 0.1),
    clicked_unique: Math.floor(all * 0.08),
    clicked_machine: Math.floor(all * 0.05),
  })
  await store.write(async (tx) => {
    await tx
      .insertInto('broadcasts')
      .values({
        id,
        account_id: accountId,
        list_id: of.listId ?? emailId(9),
        domain_id: emailId(8),
        from_header: 'News <news@sender.test>',
        subject: of.subject,
        body_id: 0,
        status,
        created_at: sentAt,
        sent_at: sentAt,
        ended_at: status === 'sent' ? sentAt + hourMs : null,
        audience: mails,
        cursor: '',
        expanded: 1,
        recipients: mails,
        waiting: status === 'sent' ? 0 : mails - arrived,
        delivered: arrived,
        relayed: 0,
        bounced: status === 'sent' ? mails - arrived : 0,
        failed: 0,
        suppressed: 0,
        cancelled: 0,
        opened: 0,
        clicked: 0,
      })
      .execute()
    for (let hour = 0; hour < hours; hour++) {
      const at = sentAt - (sentAt % hourMs) + hour * hourMs
      const row = { broadcast_id: id, at, ...counts(Math.floor(mails / hours)) }
      await tx.insertInto('broadcast_hours').values(row).execute()
    }
    const { providers = ['Google', 'Microsoft'], links = ['https://shop.test/'] } = of
    for (const provider of providers) {
      const row = { broadcast_id: id, provider, ...counts(Math.floor(mails / providers.length)) }
      await tx.insertInto('broadcast_providers').values(row).execute()
    }
    for (const [at, url] of links.entries()) {
      const clicks = { clicked: 9, people: people.length, clicked_machine: 3 }
      const row = { broadcast_id: id, number: at + 1, url, ...clicks }
      await tx.insertInto('broadcast_links').values(row).execute()
    }
    for (const [at, words] of (of.words ?? ['550 5.1.1 no such user']).entries()) {
      const reason = { kind: 'bounced' as const, class: 'bad-mailbox', words, count: 4 }
      await tx
        .insertInto('broadcast_bounces')
        .values({ broadcast_id: id, number: at + 1, ...reason })
        .execute()
    }
    for (const [at, contact_id] of people.entries()) {
      const isLast = at === people.length - 1
      const person = { broadcast_id: id, contact_id, email_id: emailId(at) }
      const did = isLast
        ? { unreached_at: sentAt, bounce: 1 }
        : { opened_at: sentAt, clicked_at: sentAt }
      await tx
        .insertInto('broadcast_people')
        .values({ ...person, ...did })
        .execute()
      const click = { broadcast_id: id, link: 1, contact_id, at: sentAt }
      if (!isLast) await tx.insertInto('broadcast_link_people').values(click).execute()
    }
  })
}
