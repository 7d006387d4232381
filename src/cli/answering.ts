import type { Command } from 'commander'
import type { Account } from '../accounts/index.js'
import { type CliDeps, chosenAccount, withStore } from './database.js'
import { sayJson } from './output.js'
import { type CommandPlace, placeOf } from './place.js'

/** What a command works with while it has the database open. */
export interface CommandDeps extends CliDeps {
  place: CommandPlace
  /** The account that --account names, or the only one. */
  account(): Promise<Account>
}

/** What a command answers: `json` to scripts, and to people what `say` writes. */
export interface CommandAnswer {
  json: unknown
  say: () => void
}

/** What a command does with its arguments and options. Undefined: a question was answered with no. */
type Work<Deps, Given extends unknown[]> = (
  deps: Deps,
  ...given: Given
) => Promise<CommandAnswer | undefined>

/**
 * A command that answers from the database, which is open during the work alone. The answer is written afterwards.
 */
export const answering = <Given extends unknown[]>(work: Work<CommandDeps, Given>) =>
  answeringWith(() => ({}), work)

/**
 * The same, with settings that are read first: only root may be able to read them, and a process that has opened the
 * database is no longer root.
 */
export function answeringWith<More extends object, Given extends unknown[]>(
  read: (place: CommandPlace) => More,
  work: Work<CommandDeps & More, Given>,
): (...given: Given) => Promise<void> {
  return async (...given) => {
    // Commander gives the options and then the command, behind the arguments.
    const command = given[given.length - 1] as Command
    const place = placeOf(command)
    const more = read(place)
    const answer = await withStore(place, (deps) => {
      const { account: named } = command.opts<{ account?: string }>()
      const account = () => chosenAccount(deps.store.read, named)
      return work({ ...deps, ...more, place, account }, ...given)
    })
    if (answer === undefined) return
    if (place.json) sayJson(answer.json)
    else answer.say()
  }
}
