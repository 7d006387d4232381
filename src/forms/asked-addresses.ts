import { addressKey } from '../mime/index.js'
import { isSimulated } from '../simulator/index.js'
import type { Read, Tx } from '../store/index.js'
import { formLimits } from './limits.js'

/**
 * An address in the form that is only used for counting: one mailbox with many names counts once. A tag after a plus is
 * removed (RFC 5233), and so are the dots that Gmail ignores.
 */
export function countedAddress(email: string): string {
  const key = addressKey(email)
  const at = key.lastIndexOf('@')
  const [name = ''] = key.slice(0, at).split('+')
  const domain = key.slice(at + 1)
  // A plus at the beginning is a name, not a tag. Addresses of the simulator reach nobody, and differ only by their
  // tags.
  if (name === '' || isSimulated(domain)) return key
  if (!gmailDomains.has(domain)) return `${name}@${domain}`
  return `${name.replaceAll('.', '')}@gmail.com`
}

const gmailDomains: ReadonlySet<string> = new Set(['gmail.com', 'googlemail.com'])

/** Whether an address may be asked for a confirmation: once a day, and three times before it gives one. */
export async function mayAskAddress(
  read: Read,
  accountId: string,
  hash: string,
  now: number,
): Promise<boolean> {
  return mayBeAsked(await askedOf(read, accountId, hash), now)
}

const askedOf = (read: Read, accountId: string, hash: string) =>
  read
    .selectFrom('form_addresses')
    .select(['mails', 'last_at'])
    .where('account_id', '=', accountId)
    .where('address_hash', '=', hash)
    .executeTakeFirst()

// This protects strangers, so a time in the future counts as recent: a clock that was set back must not ask them again.
const mayBeAsked = (known: { mails: number; last_at: number } | undefined, now: number): boolean =>
  known === undefined ||
  (known.mails < formLimits.perAddress && known.last_at <= now - formLimits.addressEveryMs)

/**
 * Counts that an address is asked for a confirmation; resolves with whether it may be. Nobody is asked more than once a
 * day, nor more than three times before they confirm, in whatever forms of the account their address was typed.
 */
export async function countForAddress(
  tx: Tx,
  accountId: string,
  hash: string,
  now: number,
): Promise<boolean> {
  const known = await askedOf(tx, accountId, hash)
  if (!mayBeAsked(known, now)) return false
  const row = { mails: (known?.mails ?? 0) + 1, last_at: now }
  await tx
    .insertInto('form_addresses')
    .values({ account_id: accountId, address_hash: hash, ...row })
    .onConflict((conflict) => conflict.columns(['account_id', 'address_hash']).doUpdateSet(row))
    .execute()
  return true
}

/** The address has confirmed: counting begins anew. */
export async function forgetAddress(tx: Tx, accountId: string, hash: string): Promise<void> {
  await tx
    .deleteFrom('form_addresses')
    .where('account_id', '=', accountId)
    .where('address_hash', '=', hash)
    .execute()
}
