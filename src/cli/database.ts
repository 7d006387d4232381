import { Option } from 'commander'
import { type Account, findAccount, listAccounts } from '../accounts/index.js'
import { type Clock, systemClock } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import type { Read, Store } from '../store/index.js'
import { becomeOwner, type Place, requireDataDir } from './place.js'

export interface CliDeps {
  store: Store
  clock: Clock
}

/**
 * Opens the database of an initialised data directory for the time of `work`. `isUpToDate`: an appliance runs on
 * it, so that nothing is to be written first, and what only reads needs not wait for whoever holds the database.
 */
export async function withStore<T>(
  place: Place,
  work: (deps: CliDeps) => T | Promise<T>,
  { isUpToDate = false }: { isUpToDate?: boolean } = {},
): Promise<T> {
  becomeOwner(place)
  await requireDataDir(place)
  // Only here: loading the database takes longer than all that a refusal or --help needs.
  const { makeTurns, migrateStore, openStore } = await import('../store/index.js')
  const { isServed } = await import('../app/lock.js')
  const { openOwnKey, rememberKey } = await import('../app/own-database.js')
  const key = openOwnKey(place.dataDir)
  // Never beneath a running appliance, whose statements are of its own version.
  if (!isUpToDate) await migrateStore(place.dataDir, () => isServed(place.dataDir))
  // Turns are between threads; a running appliance is another process, which SQLite itself keeps off.
  const clock = systemClock
  const store = openStore({ dataDir: place.dataDir, clock, turns: makeTurns(), slot: 0 })
  try {
    await rememberKey(store, key, place.dataDir)
    return await work({ store, clock })
  } finally {
    await store.close()
  }
}

/** For commands about the things of one account. */
export const accountOption = () =>
  new Option('--account <id>', 'id or name of the account (default: the only one)')

/** The account that was named, or the only one. */
export async function chosenAccount(read: Read, named: string | undefined): Promise<Account> {
  if (named !== undefined) return findAccount(read, named)
  const accounts = await listAccounts(read)
  const [only, ...others] = accounts
  if (only === undefined) {
    throw new OperatorError("There is no account yet; 'posthorn account create NAME' makes one")
  }
  if (others.length > 0) {
    const list = accounts.map(({ id, name }) => `\n  ${id}  ${name}`).join('')
    throw new OperatorError(`There are several accounts; choose one by --account:${list}`)
  }
  return only
}
