import type { Command } from 'commander'
import {
  type Account,
  createAccount,
  findAccount,
  listAccounts,
  listKeys,
  renameAccount,
} from '../accounts/index.js'
import { listDomains } from '../domains/index.js'
import { accountBillingRows } from './account-billing.js'
import { accountLanguageRows } from './account-language.js'
import { accountLogoRows } from './account-logo.js'
import { accountProtectionRows } from './account-protection.js'
import { addCommands, type CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { jsonTime, say, sayFields, sayJson, sayNext, sayTable, shownTime } from './output.js'
import { placeOf } from './place.js'
import { accountTrackingRows } from './tracking.js'

/** `posthorn account`: accounts, their plans, their protection, their logo, their language, their tracking. */
export function accountCommands(program: Command): void {
  const account = program.command('account').description('accounts: who sends')
  addCommands(account, rows)
}

// Each group's rows stand in the file of their subject; help lists them in this order.
const rows: readonly CommandRow[] = [
  {
    usage: 'create <name>',
    about: 'make an account',
    help: "Example:\n  $ posthorn account create 'City library'",
    run: runCreate,
  },
  {
    usage: 'rename <account> <name>',
    about: 'give an account another name',
    help: "Example:\n  $ posthorn account rename 'City library' 'City libraries'",
    run: runRename,
  },
  {
    usage: 'list',
    about: 'show all accounts',
    help: 'Example:\n  $ posthorn account list --json',
    run: runList,
  },
  {
    usage: 'show <account>',
    about: 'show one account, by id or name',
    help: "Example:\n  $ posthorn account show 'City library'",
    run: runShow,
  },
  ...accountBillingRows,
  ...accountProtectionRows,
  ...accountLogoRows,
  ...accountLanguageRows,
  ...accountTrackingRows,
]

/**
 * The first account of an appliance is unlimited and later ones have the smallest plan
 * (`plans.toml`, [defaults]), as the first one is nearly always the operator's own.
 */
async function runCreate(name: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const made = await withStore(place, (deps) => createAccount(deps, name))
  if (place.json) return sayJson(shown(made))
  say(`Account "${made.name}" is made: ${made.id}`)
  sayNext(`Next: posthorn key create 'My application' --account ${made.id}`)
}

/** The id stays, and with it keys, domains and mail; only people see the name. */
async function runRename(
  idOrName: string,
  name: string,
  _options: unknown,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const renamed = await withStore(place, async (deps) => {
    const found = await findAccount(deps.store.read, idOrName)
    return renameAccount(deps, found.id, name)
  })
  if (place.json) return sayJson(renamed)
  say(`The account is now called "${renamed.name}"`)
}

/** All of them: an appliance has tens of accounts, seldom thousands. */
async function runList(_options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const accounts = await withStore(place, ({ store }) => listAccounts(store.read))
  if (place.json) return sayJson(accounts.map(shown))
  sayTable(
    ['ID', 'NAME', 'CREATED'],
    accounts.map(({ id, name, createdAt }) => [id, name, shownTime(createdAt)]),
    "No account yet; 'posthorn account create NAME' makes one",
  )
}

/** The number of keys, not the keys: only their hashes are stored. */
async function runShow(idOrName: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const found = await withStore(place, async ({ store: { read } }) => {
    const account = await findAccount(read, idOrName)
    const domains = await listDomains(read, account.id)
    const keys = await listKeys(read, account.id)
    return { account, domains: domains.map(({ name }) => name), keys: keys.length }
  })
  if (place.json) {
    return sayJson({ ...shown(found.account), domains: found.domains, keys: found.keys })
  }
  sayFields({
    Id: found.account.id,
    Name: found.account.name,
    Created: shownTime(found.account.createdAt),
    Domains: found.domains.join(', ') || 'none',
    'API keys': String(found.keys),
  })
}

/** An account for scripts. */
const shown = ({ id, name, createdAt }: Account) => ({ id, name, createdAt: jsonTime(createdAt) })
