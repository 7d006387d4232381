import { randomBytes } from 'node:crypto'
import { addressKey } from '../mime/index.js'
import { type Read, storedObject, type Tx } from '../store/index.js'
import { erasureKey, forgetErased, hashesAmong, hashWith } from './erased-hash.js'
import { lift, suppress } from './suppress.js'

const perQuery = 1_000

/** Which of `addresses` were erased, spelled as they were given: nobody mails them again. */
export async function erasedAmong(
  read: Read,
  accountId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const erased = new Set<string>()
  const key = addresses.length === 0 ? undefined : await erasureKey(read, accountId)
  if (key === undefined) return erased
  for (let start = 0; start < addresses.length; start += perQuery) {
    const some = addresses.slice(start, start + perQuery).map((one) => [one, hashWith(key, one)])
    const found = await hashesAmong(
      read,
      accountId,
      some.map(([, hash]) => hash ?? ''),
    )
    for (const [address = '', hash = ''] of some) if (found.has(hash)) erased.add(address)
  }
  return erased
}

/**
 * Keeps only a hash of an address, so that it is never mailed again, and deletes what was recorded under its name.
 * Resolves with the text that replaces the address from now on.
 */
export async function eraseSuppressions(
  tx: Tx,
  accountId: string,
  email: string,
  now: number,
): Promise<string> {
  const made = { account_id: accountId, key: randomBytes(32).toString('hex') }
  await tx
    .insertInto('erasure_keys')
    .values(made)
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .execute()
  const hash = hashWith((await erasureKey(tx, accountId)) ?? made.key, email)
  await tx
    .insertInto('erasures')
    .values({ account_id: accountId, hash, erased_at: now })
    .onConflict((conflict) => conflict.columns(['account_id', 'hash']).doNothing())
    .execute()
  for (const table of ['suppressions', 'soft_bounces'] as const) {
    await tx
      .deleteFrom(table)
      .where('account_id', '=', accountId)
      .where('address', '=', addressKey(email))
      .execute()
  }
  // An address that belongs to nobody (RFC 2606 §2), so that code that reads addresses can read it.
  return `erased-${hash.slice(0, 16)}@erased.invalid`
}

/**
 * Suppresses people who were erased and become contacts again, so that nothing is sent to them and everybody sees
 * why.
 */
export async function suppressReturned(
  tx: Tx,
  accountId: string,
  emails: readonly string[],
  now: number,
): Promise<void> {
  const detail = 'Was erased on request: mail them only if they ask for it again'
  for (const email of await erasedAmong(tx, accountId, emails)) {
    await suppress(tx, accountId, { email, reason: 'manual', detail, by: 'erasure' }, now)
  }
}

/**
 * Which of `addresses`, spelled as they were given, get no mail only because they were erased. If such a person asks
 * for mail, they may be asked to confirm it.
 */
export async function erasedAlone(
  read: Read,
  accountId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const alone = await erasedAmong(read, accountId, addresses)
  for (const address of alone) {
    const rows = await read
      .selectFrom('suppressions')
      .select(['reason', 'created_at'])
      .where('account_id', '=', accountId)
      .where('address', '=', addressKey(address))
      .where('scope', '=', 'all')
      .execute()
    for (const { reason, created_at: at } of rows) {
      const isOfErasure = reason === 'manual' && (await isByErasure(read, accountId, address, at))
      if (!isOfErasure) alone.delete(address)
    }
  }
  return alone
}

/** Lifts the suppression of an erasure on the recipient's own word; what somebody else has recorded since stays. */
export async function liftErasure(
  tx: Tx,
  accountId: string,
  email: string,
  now: number,
): Promise<void> {
  if ((await erasedAlone(tx, accountId, [email])).has(email)) {
    await lift(tx, accountId, email, { by: 'recipient', at: now, reasons: ['manual'] })
  } else await forgetErased(tx, accountId, email)
}

/** Whether the record made at that time is that of `suppressReturned`: the consent record says who made it. */
async function isByErasure(read: Read, accountId: string, email: string, at: number) {
  const rows = await read
    .selectFrom('consent')
    .select(['kind', 'detail'])
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(email))
    .where('at', '=', at)
    .execute()
  return rows.some(
    ({ kind, detail }) => kind === 'suppressed' && storedObject(detail).by === 'erasure',
  )
}
