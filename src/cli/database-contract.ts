import type { Command } from 'commander'
import { OperatorError } from '../errors/index.js'
import { type AskOptions, askOptions, confirmed } from './confirm.js'
import { withStore } from './database.js'
import { say, sayJson } from './output.js'
import { databaseOf, placeOf } from './place.js'

/** `posthorn database contract`: removes what only the previous release needed. */
export function databaseContract(database: Command): void {
  const command = database
    .command('contract')
    .description('take away what the release before needed, when all nodes are of this one')
    .addHelpText(
      'after',
      `
Example:
  $ posthorn node list                 all are of this version
  $ posthorn database contract

An upgrade of several nodes over a PostgreSQL adds to the database, so that nodes of the release before work on beside the new
ones, and any of them can go back. This ends that: no node of the release before starts any more. The next release needs it.
A database in a file has nothing that waits, as one appliance alone has it.`,
    )
  for (const option of askOptions()) command.addOption(option)
  command.action(async (options: AskOptions, command: Command) => {
    const place = placeOf(command)
    const database = databaseOf(place)
    const { contractsOf, contractStore, livingNodes, noteContract } = await import(
      '../store/index.js'
    )
    await withStore(place, async ({ store }) => {
      const due = await contractsOf(database)
      if (due.length === 0) {
        if (place.json) return sayJson({ contracted: [] })
        return say('There is nothing to take away: this release has only added to the database')
      }
      const facts = [
        'No node of the release before starts on it from then on, and none can go back to it',
      ]
      const to = `take away what the release before needed (${due.join(', ')})`
      if (!(await confirmed(place, options, { to, facts, how: 'moderate' }))) return
      const last = due.at(-1) ?? ''
      const old = async () => (await livingNodes(database)).filter(({ schema }) => schema < last)
      refuse(await old())
      // Puts the change into the log of changes; the note made here refuses a node of the previous
      // release that starts now.
      await store.write(async () => {})
      await noteContract(database)
      refuse(await old())
      await contractStore(database)
      if (place.json) return sayJson({ contracted: due })
      say(`Taken away: ${due.join(', ')}`)
    })
  })
}

function refuse(old: readonly { name: string; version: string }[]): void {
  if (old.length === 0) return
  const named = old.map(({ name, version }) => `${name} (${version})`).join(', ')
  throw new OperatorError(
    `Nodes of the release before are alive: ${named}. Bring them to this one first ('posthorn upgrade' on each)`,
  )
}
