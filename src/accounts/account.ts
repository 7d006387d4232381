import { openSubscription } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import type { Read, Store, Tx } from '../store/index.js'

export interface Account {
  id: string
  name: string
  createdAt: number
}

export interface AccountDeps {
  store: Store
  clock: Clock
}

const maxNameLength = 100

/**
 * The appliance's own mail is of this account: no customer's pause, plan or quota holds it. It has
 * no key, so no client can be it, and no command finds it.
 */
export const applianceAccountId = '00000000-0000-7000-8000-000000000000'

export async function openApplianceAccount(tx: Tx): Promise<void> {
  await tx
    .insertInto('accounts')
    .values({ id: applianceAccountId, name: 'Posthorn itself', created_at: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Makes an account; names are for people, but two alike would confuse them. */
export async function createAccount({ store, clock }: AccountDeps, name: string): Promise<Account> {
  const account = { id: store.ids.uuid(), name: checkedName(name), createdAt: clock.now() }
  await store.write(async (tx) => {
    const twin = await tx
      .selectFrom('accounts')
      .select('id')
      .where('name', '=', account.name)
      .executeTakeFirst()
    if (twin !== undefined) {
      throw new OperatorError(`There is an account named "${account.name}" already (${twin.id})`)
    }
    await tx
      .insertInto('accounts')
      .values({ id: account.id, name: account.name, created_at: account.createdAt })
      .execute()
    await openSubscription(tx, account.id)
  })
  return account
}

export async function listAccounts(read: Read): Promise<Account[]> {
  const rows = await read
    .selectFrom('accounts')
    .selectAll()
    .where('id', '<>', applianceAccountId)
    .orderBy('id')
    .execute()
  return rows.map(toAccount)
}

/** By id or by name, as an operator types it; throws OperatorError when there is none. */
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

function checkedName(name: string): string {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > maxNameLength || /\p{Cc}/u.test(trimmed)) {
    throw new OperatorError(
      `An account's name has 1 to ${maxNameLength} characters and no control characters`,
    )
  }
  return trimmed
}

const toAccount = (row: { id: string; name: string; created_at: number }): Account => ({
  id: row.id,
  name: row.name,
  createdAt: row.created_at,
})
