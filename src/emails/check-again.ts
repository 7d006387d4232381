import { type AccountBilling, checkSending, readBilling } from '../billing/index.js'
import type { Tx } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import type { EmailDeps } from './deps.js'
import { type PreparedEmail, type Senders, verifiedSender } from './prepare.js'

/**
 * Asked in the write that accepts an account's mails, as what they were checked for may have changed
 * since: the account be stopped, the domain deleted, the topic archived. Throws as `draftEmail` does, and
 * resolves with the account as it stands. Each look-up is by a key, once for mails that are alike.
 */
export async function checkAgain(
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
