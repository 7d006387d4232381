import { idsIn, type QueueClass, queueClass, type Read, readExtras } from '../store/index.js'
import type { MailFacts } from './tally.js'

/** What the figures tell apart, by mail. A statement for all of them. */
export async function mailFacts(
  read: Read,
  emailIds: Iterable<string>,
): Promise<Map<string, MailFacts>> {
  const rows = await read
    .selectFrom('emails')
    .leftJoin('domains', 'domains.id', 'emails.domain_id')
    .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
    .select(['emails.id', 'emails.type', 'emails.broadcast_id as broadcastId', 'emails.extras'])
    .select(['domains.name as domain', 'broadcasts.extras as broadcastExtras'])
    .where('emails.id', 'in', idsIn([...new Set(emailIds)]))
    .execute()
  return new Map(
    rows.map(({ id, type, broadcastId, domain, extras, broadcastExtras }) => {
      const { tags = [] } = readExtras(extras ?? broadcastExtras) ?? {}
      return [
        id,
        { type, broadcastId, domain: domain ?? '', tags: Array.isArray(tags) ? tags : [] },
      ]
    }),
  )
}

/** Of a mail that is gone. */
export const noFacts = (of: QueueClass): MailFacts => ({
  type: of === queueClass.campaign ? 'marketing' : 'transactional',
  domain: '',
  broadcastId: null,
  tags: [],
})
