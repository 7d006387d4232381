import { createAccount } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { type DeliveryRow, type EmailRow, queueClass, type Store } from '../../src/store/index.js'
import { returnHost, returnPaths } from './start.js'

export interface PastMail {
  id: string
  accountId: string
  messageId: string
  /** In the order of the recipients. */
  deliveries: { id: number; recipient: string; returnPath: string }[]
}

type Status = DeliveryRow['status'] | 'waiting'

/** Accounts with mail that has left, written as the outbound threads leave it. */
export async function makePast(store: Store) {
  const account = await createAccount({ store, clock: systemClock }, 'Shop')
  const now = Date.now()
  let domainId: string | undefined
  return {
    accountId: account.id,
    async mail(
      recipients: Readonly<Record<string, Status>>,
      {
        type = 'transactional',
        stepId = null,
      }: Partial<Pick<EmailRow, 'type'>> & { stepId?: number | null } = {},
    ): Promise<PastMail> {
      const id = store.ids.uuid()
      const deliveries = Object.keys(recipients).map((recipient) => {
        const deliveryId = store.ids.serial()
        const returnPath = returnPaths.addressOf(deliveryId, returnHost)
        return { id: deliveryId, recipient, returnPath }
      })
      const are = (status: Status) => Object.values(recipients).filter((s) => s === status).length
      await store.write(async (tx) => {
        if (domainId === undefined) {
          domainId = store.ids.uuid()
          const domain = { id: domainId, account_id: account.id, name: 'sender.test' }
          const at = { created_at: now, verified_at: now, checked_at: null }
          const how = { status: 'verified' as const, trusted: 1, return_path: 1 }
          await tx
            .insertInto('domains')
            .values({ ...domain, ...how, ...at })
            .execute()
        }
        const ended = { delivered: are('delivered'), relayed: are('relayed') }
        const lost = { bounced: are('bounced'), failed: are('failed') }
        await tx
          .insertInto('emails')
          .values({
            id,
            account_id: account.id,
            domain_id: domainId,
            body_id: null,
            type,
            automation_step_id: stepId,
            from_header: 'a@sender.test',
            to_list: JSON.stringify(Object.keys(recipients)),
            reply_to: null,
            subject: 'Your receipt',
            topic_id: null,
            metadata: null,
            message_id: `<${id}@sender.test>`,
            provider: 'primary',
            waiting: are('waiting'),
            ...ended,
            ...lost,
            opened_at: null,
            clicked_at: null,
            scheduled_at: null,
            status: statusOf(Object.values(recipients)),
            sent_at: now,
            created_at: now,
          })
          .execute()
        for (const { id: deliveryId, recipient } of deliveries) {
          const status = recipients[recipient] ?? 'waiting'
          const of = { email_id: id, recipient }
          if (status === 'waiting') {
            await tx
              .insertInto('queue')
              .values({
                id: deliveryId,
                ...of,
                account_id: account.id,
                lane: 'one.test',
                class: queueClass.transactional,
                due_at: now + 60_000,
                lease: 3,
                attempts: 0,
                expires_at: now * 2,
                last_attempt_at: null,
                last_reply: null,
                last_transcript: null,
              })
              .execute()
          } else {
            await tx
              .insertInto('deliveries')
              .values({
                id: deliveryId,
                ...of,
                status,
                attempts: 1,
                reply: '250 2.0.0 taken',
                remote: null,
                tls: null,
                transcript: null,
                ended_at: now,
              })
              .execute()
          }
        }
      })
      return { id, accountId: account.id, messageId: `${id}@sender.test`, deliveries }
    },
  }
}

function statusOf(all: readonly Status[]): EmailRow['status'] {
  if (all.includes('waiting')) return 'sent'
  const [worst] = ['bounced', 'failed', 'relayed', 'delivered', 'suppressed', 'cancelled'].filter(
    (status) => all.includes(status as Status),
  )
  return worst === 'relayed' ? 'sent' : (worst as EmailRow['status'])
}

/** Everything that a report may change, to be compared. */
export async function stateOf({ read }: Store) {
  const [emails, deliveries, events, suppressions, softBounces] = await Promise.all([
    read.selectFrom('emails').select(['id', 'status', 'delivered', 'relayed', 'bounced']).execute(),
    read.selectFrom('deliveries').select(['id', 'recipient', 'status', 'reply']).execute(),
    read.selectFrom('events').select(['type', 'recipient', 'reply', 'detail', 'class']).execute(),
    read.selectFrom('suppressions').select(['address', 'reason', 'scope', 'email_id']).execute(),
    read.selectFrom('soft_bounces').select(['address', 'failures']).execute(),
  ])
  return { emails, deliveries, events, suppressions, softBounces }
}

interface Words {
  recipient: string
  action?: string
  status?: string
  diagnostic?: string
  /** Of the message that is returned. */
  messageId?: string
  returnPath?: string
  cfbl?: string
}

/** A DSN as Postfix writes it, in as few words as are looked at. */
export function dsn(words: Words): string {
  const { recipient, action = 'failed', status = '5.1.1' } = words
  const { diagnostic = `550 5.1.1 <${recipient}>: User unknown` } = words
  return part('delivery-status', [
    [
      'message/delivery-status',
      `Reporting-MTA: dns; mx.one.test\r\n\r\nFinal-Recipient: rfc822; ${recipient}\r\nAction: ${action}\r\nStatus: ${status}\r\nDiagnostic-Code: smtp; ${diagnostic}\r\n`,
    ],
    ['text/rfc822-headers', returned(words)],
  ])
}

/** A complaint as feedback loops send it. */
export function arf({ type = 'abuse', ...words }: Words & { type?: string }): string {
  return part('feedback-report', [
    [
      'message/feedback-report',
      `Feedback-Type: ${type}\r\nUser-Agent: Loop/1\r\nVersion: 1\r\nOriginal-Rcpt-To: <${words.recipient}>\r\n`,
    ],
    ['message/rfc822', `${returned(words)}\r\nHello\r\n`],
  ])
}

const returned = ({ messageId, returnPath, cfbl }: Words) =>
  `${cfbl === undefined ? '' : `CFBL-Address: ${cfbl}; report=arf\r\n`}${returnPath === undefined ? '' : `Return-Path: <${returnPath}>\r\n`}Message-ID: <${messageId ?? 'x@elsewhere.test'}>\r\nFrom: a@sender.test\r\nSubject: Your receipt\r\n`

function part(type: string, parts: readonly (readonly [string, string])[]): string {
  const shown = parts.map(([name, text]) => `--b\r\nContent-Type: ${name}\r\n\r\n${text}\r\n`)
  return `From: <MAILER-DAEMON@mx.one.test>\r\nSubject: Report\r\nMIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=${type}; boundary="b"\r\n\r\n${shown.join('')}--b--\r\n`
}
