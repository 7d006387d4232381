import {
  type Account,
  createAccount,
  createKey,
  deleteKey,
  findAccount,
  listAccounts,
  listKeys,
} from '../accounts/index.js'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { addDomain, type Domain, listDomains } from '../domains/index.js'
import { OperatorError } from '../errors/index.js'
import type { Store } from '../store/index.js'

/** What making the first account needs. */
interface FirstDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
}

/** What is to be made. */
interface FirstWanted {
  domain: string
  /** Id or name; else the only account, or a new one with the domain's name. */
  account: string | undefined
  /** The domain counts as verified without a look: in the sandbox nobody asks the DNS. */
  trust: boolean
  /** An earlier run was broken off, perhaps before it showed the key that it had made. */
  wasBrokenOff: boolean
}

/** The account, key and domain afterwards. */
export interface First {
  account: { id: string; name: string; isNew: boolean }
  /** Undefined where the account already has a key: a key cannot be shown again. */
  apiKey: string | undefined
  domain: Domain
  domainIsNew: boolean
}

const keyName = 'First key'

/** The first account with an API key and a sending domain; what is there already is kept. */
export async function makeFirst(deps: FirstDeps, wanted: FirstWanted): Promise<First> {
  const found = await chosen(deps, wanted)
  const account = found ?? (await createAccount(deps, wanted.account ?? wanted.domain))
  const domains = await listDomains(deps.store.read, account.id)
  const there = domains.find(({ name }) => name === wanted.domain)
  const domain =
    there ?? (await addDomain(deps, account.id, wanted.domain, { trust: wanted.trust }))
  return {
    account: { id: account.id, name: account.name, isNew: found === undefined },
    apiKey: await firstKey(deps, account.id, wanted.wasBrokenOff),
    domain,
    domainIsNew: there === undefined,
  }
}

/** The account that is meant: the one of that name, the domain's, or the only one. */
async function chosen(
  { store: { read } }: FirstDeps,
  { account, domain }: FirstWanted,
): Promise<Account | undefined> {
  const accounts = await listAccounts(read)
  if (account !== undefined) {
    const isThere = accounts.some(({ id, name }) => id === account || name === account)
    return isThere ? await findAccount(read, account) : undefined
  }
  for (const one of accounts) {
    const domains = await listDomains(read, one.id)
    if (domains.some(({ name }) => name === domain)) return one
  }
  if (accounts.length < 2) return accounts[0]
  const names = accounts.map(({ name }) => `'${name}'`).join(', ')
  throw new OperatorError(`There are several accounts; choose one by --account: ${names}`)
}

/**
 * A key for an account that has none. A key from a run that was broken off, and that nobody has used, is replaced:
 * perhaps nobody has seen it.
 */
async function firstKey(
  deps: FirstDeps,
  accountId: string,
  wasBrokenOff: boolean,
): Promise<string | undefined> {
  const keys = await listKeys(deps.store.read, accountId)
  const unseen = wasBrokenOff
    ? keys.filter(({ name, lastUsedAt }) => name === keyName && lastUsedAt === null)
    : []
  if (keys.length > unseen.length) return undefined
  const { key } = await createKey(deps, accountId, keyName)
  for (const { id } of unseen) await deleteKey(deps, accountId, id)
  return key
}
