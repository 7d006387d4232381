import { mailsByMessageIds } from '../emails/index.js'
import type { Read } from '../store/index.js'

// How many references are looked up; those of the newest mails come last.
const mostLooked = 20

/**
 * The account's mail that one of these Message-IDs names. The answered one is tried first, then the newest reference.
 * Only this account's mails count: nobody's forged reference leads to another's mail.
 */
export async function answeredMail(
  read: Read,
  accountId: string,
  [answered = '', ...references]: readonly string[],
): Promise<string | undefined> {
  const named = [answered, ...references.toReversed()].filter((one) => one !== '')
  const asked = [...new Set(named)].slice(0, mostLooked)
  if (asked.length === 0) return undefined
  const found = await mailsByMessageIds(read, accountId, asked)
  return asked.flatMap((one) => found.get(one) ?? [])[0]
}
