import type { Argument, Command, Option } from 'commander'
import type { Operation } from '../contract/index.js'

/**
 * One sub-command, as a row of the table of its group: what help, completions and the manual page say of it,
 * and the function that runs it. A group is such a table and one call of `addCommands`.
 */
export interface CommandRow {
  /** Its name and its arguments, as Commander reads them: `replay <id> [delivery]`. */
  usage: string
  /** Another name of it, which help does not advertise. */
  alias?: string
  about: string
  /** The API's operation that this command does too. */
  does?: Operation
  /** Fields of its --json beside the operation's answer, for the operator alone. */
  adds?: readonly string[]
  /** Arguments that have choices or words of their own, after those of `usage`. */
  values?: readonly Argument[]
  /** In the order of help. */
  options?: readonly Option[]
  /** What help shows below the options: an example, and what else one has to know. */
  help: string
  /** This row runs when the group is named alone: `posthorn notice`. */
  isDefault?: true
  /**
   * Gets the arguments of `usage`, the options, and the command. The type is `never` because each row names
   * the types of its own `usage` and `options`: Commander reads these as text, from which no type follows.
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

/**
 * The row's own words, and what a script may read of its answer, which is said once in the operation's
 * contract.
 */
function helpOf({ does, adds = [], help }: CommandRow): string {
  if (does === undefined) return help
  const more = adds.length === 0 ? '' : `, and ${adds.join(', ')}`
  return `${help}\n\n--json is what ${does.route} answers${more}.`
}
