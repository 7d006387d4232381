import type { Argument, Command, Option } from 'commander'
import type { Operation } from '../contract/index.js'

/**
 * One sub-command, as a row of the table of its group: what help, completions and the manual page say of it,
 * and the function that does it. A group is such a table and one call of `addCommands`.
 */
export interface CommandRow {
  /** Its name and its arguments, as Commander reads them: `replay <id> [delivery]`. */
  usage: string
  /** Another name of it, which help does not advertise. */
  alias?: string
  about: string
  /** The operation of the API that it does by another door. */
  does?: Operation
  /** What its --json has beside the answer of that operation, for the operator alone. */
  adds?: readonly string[]
  /** Arguments that have choices or words of their own, after those of `usage`. */
  values?: readonly Argument[]
  /** In the order in which help lists them. */
  options?: readonly Option[]
  /** What help shows below the options: an example, and what has to be known besides. */
  help: string
  /** It is meant where the group is named alone: `posthorn notice`. */
  isDefault?: true
  /**
   * Gets the arguments of `usage`, the options, and the command. `never`, as each row names the types that its
   * own `usage` and `options` lead to: Commander reads these as text, and no type follows from them.
   */
  run: (...given: never[]) => void | Promise<void>
}

/** The row that a command was made of. */
export const rowOf = new WeakMap<Command, CommandRow>()

/** Adds the sub-commands of a table to their group, in the order in which help lists them. */
export function addCommands(group: Command, rows: readonly CommandRow[]): void {
  for (const row of rows) {
    const { usage, alias, about, values = [], options = [], isDefault, run } = row
    const command = group
      .command(usage, { isDefault: isDefault === true })
      .description(about)
      .addHelpText('after', `\n${helpOf(row)}`)
      .action((...given: unknown[]) => run(...(given as never[])))
    if (alias !== undefined) command.alias(alias)
    rowOf.set(command, row)
    for (const value of values) command.addArgument(value)
    for (const option of options) command.addOption(option)
  }
}

/** Its own words, and what a script may read of its answer: that is said once, in the operation's contract. */
function helpOf({ does, adds = [], help }: CommandRow): string {
  if (does === undefined) return help
  const more = adds.length === 0 ? '' : `, and ${adds.join(', ')}`
  return `${help}\n\n--json is what ${does.route} answers${more}.`
}
