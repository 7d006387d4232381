import {
  type AccountBilling,
  checkSending,
  countBatch,
  countMails,
  readBilling,
} from '../billing/index.js'
import { ApiError, messageOf } from '../errors/index.js'
import type { Mailbox } from '../mime/index.js'
import type { Tx } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import { makeAttachmentReader } from './attachments.js'
import type { EmailDeps } from './deps.js'
import { insertEmails, ringOf } from './insert.js'
import {
  draftEmail,
  FaultyDraft,
  type Handed,
  type MailDraft,
  type PreparedEmail,
  prepareEmails,
} from './prepare.js'
import { enterIfLate } from './recipient-index.js'
import type { SendInput } from './send-body.js'
import { type Senders, verifiedSender } from './sender.js'

export interface AcceptedEmail {
  id: string
  /** ISO 8601, for a mail that leaves later. */
  scheduledAt: string | undefined
}

/** Runs in the same transaction as the mail: what is committed with it or not at all. */
export type Alongside<T> = (tx: Tx, accepted: T) => Promise<void>

/** Takes one mail in: resolves once it and all its deliveries are on disk. */
export async function acceptEmail(
  deps: EmailDeps,
  accountId: string,
  input: Handed,
  alongside: Alongside<AcceptedEmail> = async () => {},
): Promise<AcceptedEmail> {
  const now = deps.clock.now()
  const billing = await readBilling(deps.store.read, deps.plans, accountId)
  const draft = await draftEmail(deps, billing, input, now)
  const [email] = await prepareEmails(deps, [draft])
  const { id, scheduled_at: at } = email.row
  const accepted = { id, scheduledAt: at === null ? undefined : new Date(at).toISOString() }
  await deps.store.write(async (tx) => {
    const standing = await checkAgain(tx, deps, accountId, [email])
    await countMails(tx, standing, email.recipients.length, now)
    await insertEmails(deps, tx, [email])
    await enterIfLate(tx, deps.clock, [email])
    await alongside(tx, accepted)
  })
  deps.backlog.change(email.recipients.length)
  deps.ring(ringOf([email]))
  const { length: recipients } = email.recipients
  const what = { emailId: id, accountId, recipients, ...scheduled(accepted) }
  deps.log.info({ ...what, ...warned(email.recipients) }, 'Accepted')
  return accepted
}

/** What is odd about addresses that are taken all the same, for the log: without the addresses. */
function warned(recipients: readonly Mailbox[]): { warnings?: string[] } {
  const warnings = new Set(recipients.flatMap(({ warning }) => warning ?? []))
  return warnings.size > 0 ? { warnings: [...warnings] } : {}
}

const scheduled = ({ scheduledAt }: AcceptedEmail) =>
  scheduledAt === undefined ? {} : { scheduledAt }

export const maxBatch = 100

interface BatchInput {
  /** Mails, and in their place what is wrong with some. */
  items: readonly (SendInput | ApiError)[]
  /** Each of the mails has these beside its own: given once, and decoded once. */
  attachments?: readonly unknown[] | undefined
}

/**
 * Takes all the mails in or none: every item is checked first, and all that are wrong, or were found so
 * by whoever read them, are named in one 422. Resolves with the ids in input order once everything is on disk.
 */
export async function acceptBatch(
  deps: EmailDeps,
  accountId: string,
  { items, attachments }: BatchInput,
  alongside: Alongside<{ ids: string[] }> = async () => {},
): Promise<{ ids: string[] }> {
  const now = deps.clock.now()
  const billing = await readBilling(deps.store.read, deps.plans, accountId)
  // What holds for all of it is not told item by item.
  checkSending(billing, 'transactional')
  const reader = makeAttachmentReader(deps, accountId)
  const shared = { senders: new Map(), reader, shared: reader.check(attachments) }
  const drafts: MailDraft[] = []
  const errors: { index: number; error: string }[] = []
  for (const [index, item] of items.entries()) {
    try {
      if (item instanceof ApiError) throw item
      drafts.push(await draftEmail(deps, billing, item, now, shared))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      const faults = error instanceof FaultyDraft ? error.faults : [error]
      errors.push({ index, error: faults.map(messageOf).join('; ') })
    }
  }
  if (errors.length > 0) {
    const message = `${errors.length} of ${items.length} emails are invalid; nothing was queued`
    throw new ApiError('validation_error', message, { status: 422, fields: { errors } })
  }
  const emails = await prepareEmails(deps, drafts)
  const accepted = { ids: emails.map((email) => email.row.id) }
  const recipients = emails.reduce((sum, email) => sum + email.recipients.length, 0)
  await deps.store.write(async (tx) => {
    const standing = await checkAgain(tx, deps, accountId, emails)
    await countBatch(tx, standing, recipients, now)
    await insertEmails(deps, tx, emails)
    await enterIfLate(tx, deps.clock, emails)
    await alongside(tx, accepted)
  })
  deps.backlog.change(recipients)
  deps.ring(ringOf(emails))
  const odd = warned(emails.flatMap((email) => email.recipients))
  deps.log.info({ accountId, emails: emails.length, recipients, ...odd }, 'Batch accepted')
  return accepted
}

/**
 * Asked in the write that accepts an account's mails, as what they were checked for may have changed
 * since: the account be stopped, the domain deleted, the topic archived. Throws as `draftEmail` does, and
 * resolves with the account as it stands. Each look-up is by a key, once for mails that are alike.
 */
async function checkAgain(
  tx: Tx,
  { plans }: Pick<EmailDeps, 'plans'>,
  accountId: string,
  emails: readonly PreparedEmail[],
): Promise<AccountBilling> {
  const billing = await readBilling(tx, plans, accountId)
  const senders: Senders = new Map()
  const topics = new Set<string>()
  for (const { row } of emails) {
    checkSending(billing, row.type)
    const { domainId } = await verifiedSender(tx, accountId, row.from_header, senders)
    // Deleted and added again, it has other keys.
    row.domain_id = domainId
    if (row.topic_id !== null) topics.add(row.topic_id)
  }
  for (const id of topics) await findTopic(tx, accountId, id)
  return billing
}
