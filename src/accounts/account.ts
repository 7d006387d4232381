import { openSubscription } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import { likeAnyCase, type Read, type Store, type Tx } from '../store/index.js'

/** An account that sends by this appliance: everything else belongs to one. */
export interface Account {
  id: string
  name: string
  createdAt: number
}

/** What the functions of accounts and keys need. */
export interface AccountDeps {
  store: Store
  clock: Clock
}

const maxNameLength = 100

/**
 * The appliance's own mail belongs to this account: no customer's pause, plan or quota holds it.
 * The account has no key, so no client can act for it, and no command finds it.
 */
export const applianceAccountId = '00000000-0000-7000-8000-000000000000'

/** Makes the account of the appliance itself, where there is none yet. */
export async function openApplianceAccount(tx: Tx): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({ id: applianceAccountId, name: 'Posthorn itself', created_at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Makes an account. Names are for people, so two accounts may not have the same one. */
export async function createAccount({ store, clock }: AccountDeps, name: string): Promise<Account> {
  const given = { id: store.ids.uuid(), name, createdAt: clock.now() }
  return await store.write((tx) => insertAccount(tx, given))
}

/** Makes an account within a larger change. Throws an `OperatorError` for a bad name. */
export async function insertAccount(tx: Tx, given: Account): Promise<Account> {
  const account = { ...given, name: checkedName(given.name) }
  const { id, name, createdAt } = account
  await refuseTwin(tx, name, id)
  await tx.insertInto('accounts').values({ id, name, created_at: createdAt }).execute()
  await openSubscription(tx, id)
  return account
}

/** Gives an account a name that no other account has; throws an OperatorError otherwise. */
export async function renameAccount(
  { store }: Pick<AccountDeps, 'store'>,
  accountId: string,
  name: string,
): Promise<{ id: string; name: string }> {
  return await store.write((tx) => renameWithin(tx, accountId, name))
}

/** Renames an account within a larger change. */
export async function renameWithin(
  tx: Tx,
  accountId: string,
  name: string,
): Promise<{ id: string; name: string }> {
  const given = checkedName(name)
  await refuseTwin(tx, given, accountId)
  await tx.updateTable('accounts').set({ name: given }).where('id', '=', accountId).execute()
  return { id: accountId, name: given }
}

/** Commands take names: two accounts of one name could not be told apart. */
async function refuseTwin(tx: Tx, name: string, accountId: string): Promise<void> {
  const twin = await tx
    .selectFrom('accounts')
    .select('id')
    .where('name', '=', name)
    .where('id', '<>', accountId)
    .executeTakeFirst()
  // Accounts may not learn of each other: the message does not say which other account has the name.
  if (twin !== undefined) throw new OperatorError(`There is an account named "${name}" already`)
}

/** All accounts but the appliance's own, the oldest first. */
export async function listAccounts(read: Read): Promise<Account[]> {
  const rows = await read
    .selectFrom('accounts')
    .selectAll()
    .where('id', '<>', applianceAccountId)
    .orderBy('id')
    .execute()
  return rows.map(toAccount)
}

/** Some accounts for a page, the oldest first, behind `after`; `named`: a part of the name or the whole id. */
export async function pageOfAccounts(
  read: Read,
  { after = '', limit, named = '' }: { after?: string; limit: number; named?: string },
): Promise<Account[]> {
  const rows = await read
    .selectFrom('accounts')
    .selectAll()
    .where('id', '>', after)
    .where('id', '<>', applianceAccountId)
    .$if(named.trim() !== '', (query) =>
      query.where((eb) =>
        eb.or([likeAnyCase('name', named.trim()), eb('id', '=', named.trim().toLowerCase())]),
      ),
    )
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(toAccount)
}

/** Finds an account by id or by name, as an operator types it; throws OperatorError when there is none. */
export async function findAccount(read: Read, idOrName: string): Promise<Account> {
  const row = await read
    .selectFrom('accounts')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', idOrName.toLowerCase()), eb('name', '=', idOrName)]))
    .where('id', '<>', applianceAccountId)
    .executeTakeFirst()
  if (row === undefined) {
    throw new OperatorError(`No account "${idOrName}"; 'posthorn account list' shows them`)
  }
  return toAccount(row)
}

/** Finds an account by its whole id; undefined: there is none. */
export async function accountById(read: Read, id: string): Promise<Account | undefined> {
  const row = await read
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', id)
    .where('id', '<>', applianceAccountId)
    .executeTakeFirst()
  return row && toAccount(row)
}

/**
 * The name without spaces around it. Throws an OperatorError for a name that could disturb a
 * terminal or a page.
 */
function checkedName(name: string): string {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > maxNameLength || /\p{Cc}/u.test(trimmed)) {
    throw new OperatorError(
      `An account's name must have 1 to ${maxNameLength} characters and no control characters`,
    )
  }
  return trimmed
}

const toAccount = (row: { id: string; name: string; created_at: number }): Account => ({
  id: row.id,
  name: row.name,
  createdAt: row.created_at,
})
