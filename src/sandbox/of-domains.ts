import { parseMailbox } from '../mime/index.js'
import { idsIn } from '../store/index.js'
import type { Inbox } from './inbox.js'

/** An inbox as a key sees it: a key that is limited to domains sees only copies of mails from these. */
export type SeenInbox = Inbox & { domains?: readonly string[] | null }

/**
 * The messages that the inbox's key may see. The mail of which a message is a copy decides, as for `GET
 * /v1/emails/:id`: the message's own header may have a name that looks like an address. A copy of a mail that is gone
 * belongs to no domain.
 */
export async function ofDomains<M extends { email_id: string | null }>(
  { read, domains }: SeenInbox,
  messages: M[],
): Promise<M[]> {
  if (domains === null || domains === undefined || messages.length === 0) return messages
  const wanted = messages.flatMap(({ email_id }) => email_id ?? [])
  const mails = await read
    .selectFrom('emails')
    .select(['id', 'from_header'])
    .where('id', 'in', idsIn([...new Set(wanted)], 'text'))
    .execute()
  const own = new Set(
    mails.flatMap(({ id, from_header }) =>
      domains.includes(parseMailbox(from_header)?.domain ?? '') ? [id] : [],
    ),
  )
  return messages.filter(({ email_id }) => email_id !== null && own.has(email_id))
}
