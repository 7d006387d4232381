import { createAccount } from '../../src/accounts/index.js'
import type { Clock } from '../../src/clock/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { type EventDetail, type MailEvent, makeLandEvents } from '../../src/events/index.js'
import { queueClass, type Store } from '../../src/store/index.js'

export interface LoggedMail {
  id: string
  accountId: string
  domain: string
  type: 'transactional' | 'marketing'
  broadcastId: string | null
  tags: { name: string; value: string }[]
  createdAt: number
  copies: { id: number; recipient: string; remote: string }[]
}

/** Writes mails and what happened to them straight into the logs, as the appliance's threads do. */
export function openHappenings({ store, clock }: { store: Store; clock: Clock }) {
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const land = makeLandEvents([])
  const domains = new Map<string, string>()
  return {
    async account(name: string, ...names: string[]): Promise<string> {
      const { id } = await createAccount({ store, clock }, name)
      for (const one of names) {
        domains.set(one, (await addDomain({ store, clock, key }, id, one, { trust: true })).id)
      }
      return id
    },
    /** Adds accepted mails whose copies have left the queue. */
    accept: (mails: readonly LoggedMail[]) =>
      store.write(async (tx) => {
        for (const mail of mails) {
          await tx
            .insertInto('emails')
            .values({
              id: mail.id,
              account_id: mail.accountId,
              domain_id: domains.get(mail.domain) ?? 'gone',
              body_id: null,
              from_header: `a@${mail.domain}`,
              to_list: '[]',
              reply_to: null,
              subject: 's',
              type: mail.type,
              topic_id: null,
              metadata: null,
              status: 'sent',
              message_id: `<${mail.id}@x>`,
              provider: 'primary',
              waiting: 0,
              delivered: 0,
              bounced: 0,
              failed: 0,
              opened_at: null,
              clicked_at: null,
              scheduled_at: null,
              sent_at: null,
              created_at: mail.createdAt,
              broadcast_id: mail.broadcastId,
              extras: mail.tags.length > 0 ? JSON.stringify({ tags: mail.tags }) : null,
            })
            .execute()
          for (const { id, recipient, remote } of mail.copies) {
            const ended = { attempts: 1, reply: null, tls: null, transcript: null }
            const at = mail.createdAt + 1_000
            const row = { id, email_id: mail.id, recipient, remote, ended_at: at, ...ended }
            await tx
              .insertInto('deliveries')
              .values({ ...row, status: 'delivered' })
              .execute()
          }
        }
      }),
    happen: (events: readonly MailEvent[]) => store.write((tx) => land(tx, events)),
  }
}

/** An event of a mail's copy. */
export function eventOf(
  mail: LoggedMail,
  copy: LoggedMail['copies'][number],
  type: MailEvent['type'],
  more: { at?: number; detail?: EventDetail | null; before?: MailEvent['before'] } = {},
): MailEvent {
  const { at = mail.createdAt + 1_000, detail = null, before } = more
  return {
    accountId: mail.accountId,
    emailId: mail.id,
    deliveryId: copy.id,
    type,
    at,
    detail,
    recipient: copy.recipient,
    class: queueClass.transactional,
    reply: null,
    ...(before === undefined ? {} : { before }),
  }
}
