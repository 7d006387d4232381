import { checkSending, countBatch, readBilling } from '../billing/index.js'
import { ApiError, messageOf } from '../errors/index.js'
import { type Alongside, warned } from './accept.js'
import { makeAttachmentReader } from './attachments.js'
import { checkAgain } from './check-again.js'
import type { EmailDeps } from './deps.js'
import { insertEmails, ringOf } from './insert.js'
import { type Draft, draftEmail, FaultyDraft, prepareEmails } from './prepare.js'
import { enterIfLate } from './recipient-index.js'
import type { SendInput } from './send-body.js'

export const maxBatch = 100

export interface BatchInput {
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
  const drafts: Draft[] = []
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
