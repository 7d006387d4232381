import type { Command } from 'commander'
import { createKey, deleteKey, listKeys } from '../accounts/index.js'
import { accountOption, chosenAccount, withStore } from './database.js'
import { forceOption, plansUnlessForced, withForceHint } from './limits.js'
import { jsonTime, remark, say, sayJson, sayTable, shownTime } from './output.js'
import { placeOf } from './place.js'

interface KeyOptions {
  account?: string
  force?: boolean
}

export function keyCommands(program: Command): void {
  const key = program.command('key').description('API keys: how an application shows who it is')

  key
    .command('create <name>')
    .description('make an API key and show it, this once')
    .addOption(accountOption())
    .addOption(forceOption())
    .addHelpText(
      'after',
      "\nExample:\n  $ posthorn key create 'Web shop'\n  $ KEY=$(posthorn key create ci --json | jq -r .key)",
    )
    .action(async (name: string, options: KeyOptions, command: Command) => {
      const place = placeOf(command)
      const made = await withStore(place, async (deps) => {
        const { id: accountId } = await chosenAccount(deps.store.read, options.account)
        const plans = plansUnlessForced(place, options)
        const key = await withForceHint(() => createKey(deps, accountId, name, { plans }))
        return { accountId, ...key }
      })
      if (place.json) return sayJson({ ...made, name: name.trim() })
      say(made.key)
      remark('Keep it now: it is not stored and cannot be shown again.')
    })

  key
    .command('list')
    .description('show the API keys of an account')
    .addOption(accountOption())
    .addHelpText('after', "\nExample:\n  $ posthorn key list --account 'City library'")
    .action(async (options: KeyOptions, command: Command) => {
      const place = placeOf(command)
      const keys = await withStore(place, async ({ store: { read } }) =>
        listKeys(read, (await chosenAccount(read, options.account)).id),
      )
      if (place.json) {
        return sayJson(
          keys.map((row) => ({
            ...row,
            createdAt: jsonTime(row.createdAt),
            lastUsedAt: jsonTime(row.lastUsedAt),
          })),
        )
      }
      sayTable(
        ['ID', 'NAME', 'ENDS IN', 'CREATED', 'LAST USED'],
        keys.map(({ id, name, last4, createdAt, lastUsedAt }) => [
          ...[id, name, `…${last4}`],
          ...[shownTime(createdAt), lastUsedAt === null ? 'never' : shownTime(lastUsedAt)],
        ]),
        "No API key yet; 'posthorn key create NAME' makes one",
      )
    })

  key
    .command('delete <id>')
    .description('delete an API key; requests with it fail at once')
    .addOption(accountOption())
    .addHelpText(
      'after',
      '\nExample:\n  $ posthorn key delete 019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11',
    )
    .action(async (id: string, options: KeyOptions, command: Command) => {
      const place = placeOf(command)
      await withStore(place, async (deps) => {
        const account = await chosenAccount(deps.store.read, options.account)
        await deleteKey(deps, account.id, id)
      })
      if (place.json) return sayJson({ id: id.toLowerCase(), deleted: true })
      say(`Key ${id} is deleted`)
    })
}
