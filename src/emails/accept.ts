import { countMails, readBilling } from '../billing/index.js'
import type { Mailbox } from '../mime/index.js'
import type { Tx } from '../store/index.js'
import { checkAgain } from './check-again.js'
import type { EmailDeps } from './deps.js'
import { insertEmails, ringOf } from './insert.js'
import { draftEmail, type Handed, prepareEmails } from './prepare.js'
import { enterIfLate } from './recipient-index.js'

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
export function warned(recipients: readonly Mailbox[]): { warnings?: string[] } {
  const warnings = new Set(recipients.flatMap(({ warning }) => warning ?? []))
  return warnings.size > 0 ? { warnings: [...warnings] } : {}
}

const scheduled = ({ scheduledAt }: AcceptedEmail) =>
  scheduledAt === undefined ? {} : { scheduledAt }
