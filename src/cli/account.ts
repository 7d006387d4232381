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
import { accountBillingCommands } from './account-billing.js'
import { accountLogoCommand } from './account-logo.js'
import { accountProtectionCommands } from './account-protection.js'
import { withStore } from './database.js'
import { jsonTime, say, sayFields, sayJson, sayTable, shownTime } from './output.js'
import { placeOf } from './place.js'
import { accountTrackingCommand } from './tracking.js'

export function accountCommands(program: Command): void {
  const account = program.command('account').description('accounts: who sends')

  account
    .command('create <name>')
    .description('make an account')
    .addHelpText('after', "\nExample:\n  $ posthorn account create 'City library'")
    .action(async (name: string, _options, command: Command) => {
      const place = placeOf(command)
      const made = await withStore(place, (deps) => createAccount(deps, name))
      if (place.json) return sayJson(shown(made))
      say(`Account "${made.name}" is there: ${made.id}`)
      say(`Next: posthorn key create 'My application' --account ${made.id}`)
    })

  account
    .command('rename <account> <name>')
    .description('give an account another name')
    .addHelpText('after', "\nExample:\n  $ posthorn account rename 'City library' 'City libraries'")
    .action(async (idOrName: string, name: string, _options, command: Command) => {
      const place = placeOf(command)
      const renamed = await withStore(place, async (deps) => {
        const found = await findAccount(deps.store.read, idOrName)
        return renameAccount(deps, found.id, name)
      })
      if (place.json) return sayJson(renamed)
      say(`The account is called "${renamed.name}"`)
    })

  account
    .command('list')
    .description('show all accounts')
    .addHelpText('after', '\nExample:\n  $ posthorn account list --json')
    .action(async (_options, command: Command) => {
      const place = placeOf(command)
      const accounts = await withStore(place, ({ store }) => listAccounts(store.read))
      if (place.json) return sayJson(accounts.map(shown))
      sayTable(
        ['ID', 'NAME', 'CREATED'],
        accounts.map(({ id, name, createdAt }) => [id, name, shownTime(createdAt)]),
        "No account yet; 'posthorn account create NAME' makes one",
      )
    })

  account
    .command('show <account>')
    .description('show one account, by id or name')
    .addHelpText('after', "\nExample:\n  $ posthorn account show 'City library'")
    .action(async (idOrName: string, _options, command: Command) => {
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
    })

  accountBillingCommands(account)
  accountProtectionCommands(account)
  accountLogoCommand(account)
  accountTrackingCommand(account)
}

const shown = ({ id, name, createdAt }: Account) => ({ id, name, createdAt: jsonTime(createdAt) })
