import { behaviourOf } from '../simulator/index.js'
import type { Read } from '../store/index.js'
import { suppressedAmong } from '../suppression/index.js'
import { optedOutAmong } from '../topics/index.js'

/**
 * Which of `addresses` must not get a mail of this type and topic, spelled as given. Asked when a
 * mail is accepted and again when a delivery leaves: they may have bounced or left since.
 */
export async function blockedAmong(
  read: Read,
  mail: {
    accountId: string
    type: 'transactional' | 'marketing'
    topicId?: string | null | undefined
  },
  addresses: readonly string[],
): Promise<Set<string>> {
  const blocked = await suppressedAmong(read, mail.accountId, addresses, mail.type)
  for (const address of addresses) {
    if (behaviourOf(address)?.kind === 'suppressed') blocked.add(address)
  }
  if (mail.topicId == null) return blocked
  const left = await optedOutAmong(read, mail.accountId, mail.topicId, addresses)
  return new Set([...blocked, ...left])
}
