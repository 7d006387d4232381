import { idsIn, type Read } from '../store/index.js'

// Of a long thread the newest are named last; the one that is answered is among them.
const mostLooked = 10

/**
 * The account's mail that one of these Message-IDs names, the first that there is: our own have the mail's id before the
 * `@` (`emails/prepare.ts`). By the primary key, and by the account: nobody's forged reference leads to another's mail.
 */
export async function answeredMail(
  read: Read,
  accountId: string,
  messageIds: readonly string[],
): Promise<string | undefined> {
  const [answered, ...references] = messageIds
  const ids = [answered ?? '', ...references.toReversed()]
    .flatMap((one) => /^<([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/.exec(one)?.[1] ?? [])
    .slice(0, mostLooked)
  if (ids.length === 0) return undefined
  const rows = await read
    .selectFrom('emails')
    .select('id')
    .where('id', 'in', idsIn([...new Set(ids)], 'text'))
    .where('account_id', '=', accountId)
    .execute()
  const found = new Set(rows.map(({ id }) => id))
  return ids.find((id) => found.has(id))
}
