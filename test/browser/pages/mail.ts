import type { Page } from 'playwright-core'
import { systemClock as clock } from '../../../src/clock/index.js'
import type { PlacePages, World } from '../every-page.js'

const long = 'a-very-long-subject-without-a-space'.repeat(8)

/** Overview and mails: with the longest subjects, addresses and replies, and without any. */
export const place: PlacePages = {
  async fill(world) {
    const { ids } = world
    const mails = [
      mailRow(world, { status: 'delivered', subject: 'Your order 4711' }),
      mailRow(world, { status: 'bounced', subject: long }),
      mailRow(world, { status: 'sending', subject: '<script>alert(1)</script>' }),
      ...Array.from({ length: 60 }, (_, n) => mailRow(world, { subject: `Newsletter ${n}` })),
    ]
    const [delivered, bounced, waiting] = mails
    if (!delivered || !bounced || !waiting) return
    Object.assign(ids, { delivered: delivered.id, bounced: bounced.id, deferred: waiting.id })
    await world.store.write(async (tx) => {
      for (const mail of mails) await tx.insertInto('emails').values(mail).execute()
      const body = { id: 900_001, html: '<p>Hello</p>', text: `Hello ${long}` }
      await tx.insertInto('bodies').values(body).execute()
      const reply = `550 5.1.1 ${'no such user here '.repeat(20)}`
      await tx
        .insertInto('deliveries')
        .values({
          id: 900_002,
          email_id: bounced.id,
          recipient: address,
          status: 'bounced',
          attempts: 3,
          reply,
          remote: `mx.${domain} [192.0.2.1]`,
          tls: 'TLSv1.3',
          transcript: `S: 220 ${long}\nC: EHLO`,
          ended_at: clock.now(),
        })
        .execute()
      const { id: email_id } = bounced
      const event = { account_id: world.accountId, email_id, class: 0, recipient: address } as const
      for (const type of ['sent', 'deferred', 'bounced'] as const) {
        await tx
          .insertInto('events')
          .values({
            ...event,
            type,
            at: clock.now(),
            reply: type === 'sent' ? null : reply,
            delivery_id: 900_002,
            detail: null,
          })
          .execute()
      }
      await tx
        .insertInto('queue')
        .values({
          id: 900_003,
          email_id: waiting.id,
          account_id: world.accountId,
          class: 0,
          recipient: address,
          lane: domain,
          due_at: clock.now() + 9e6,
          lease: null,
          attempts: 4,
          expires_at: clock.now() + 9e8,
          last_attempt_at: clock.now(),
          last_reply: `451 ${'come back later '.repeat(20)}`,
          last_transcript: 'S: 451',
        })
        .execute()
    })
  },
  pages: ({ full, empty, ids }) => [
    { path: full, as: 'owner', name: 'overview' },
    { path: full, as: 'operator', name: 'overview-operator' },
    { path: empty, as: 'empty', name: 'overview-empty' },
    { path: `${full}/emails`, as: 'owner', name: 'emails' },
    { path: `${full}/emails`, as: 'viewer', name: 'emails-viewer' },
    { path: `${full}/emails?q=wrong`, as: 'owner', name: 'emails-wrong' },
    { path: `${full}/emails?status=failed`, as: 'owner', name: 'emails-none' },
    { path: `${empty}/emails`, as: 'empty', name: 'emails-empty' },
    { path: `${full}/emails/${ids.delivered}`, as: 'owner', name: 'email' },
    { path: `${full}/emails/${ids.bounced}`, as: 'owner', name: 'email-bounced', open: openAll },
    { path: `${full}/emails/${ids.deferred}`, as: 'owner', name: 'email-deferred', open: openAll },
    { path: `${full}/emails/${ids.deferred}`, as: 'operator', name: 'email-operator' },
    { path: `${full}/emails/${ids.bounced}/content`, as: 'owner', name: 'email-content' },
    { path: `${full}/emails/${ids.bounced}/headers`, as: 'owner', name: 'email-headers' },
    { path: `${full}/emails/${ids.bounced}/api`, as: 'viewer', name: 'email-json' },
    { path: `${full}/emails/new`, as: 'member', name: 'email-new' },
    { path: `${empty}/emails/new`, as: 'empty', name: 'email-new-empty' },
    { path: `${full}/emails/${ids.bounced}`, as: 'outsider', status: 404, name: 'email-outsider' },
  ],
}

const domain = 'a-very-long-label-that-nobody-would-choose.example.com'
const address = `${'first.last.'.repeat(5)}x@${domain}`

function mailRow(
  { store, accountId }: World,
  of: { status?: 'delivered' | 'bounced' | 'sending'; subject: string },
) {
  const id = store.ids.uuid()
  const { status = 'delivered', subject } = of
  const waiting = status === 'sending' ? 1 : 0
  return {
    id,
    account_id: accountId,
    domain_id: id,
    body_id: 900_001,
    reply_to: null,
    subject,
    from_header: 'Shop <shop@sender.test>',
    to_list: JSON.stringify([address]),
    waiting,
    type: 'transactional' as const,
    topic_id: null,
    metadata: null,
    status,
    message_id: `<${id}@sender.test>`,
    provider: 'primary' as const,
    delivered: 1 - waiting,
    bounced: 0,
    failed: 0,
    opened_at: null,
    clicked_at: null,
    scheduled_at: null,
    sent_at: null,
    created_at: clock.now(),
    template: null,
    extras: null,
  }
}

/** Everything that opens is looked at too. */
async function openAll(page: Page): Promise<void> {
  for (const details of await page.locator('main details').all()) {
    await details.evaluate((one) => one.setAttribute('open', ''))
  }
}
