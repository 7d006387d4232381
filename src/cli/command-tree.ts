import type { Argument, Command, Option } from 'commander'

/** One command as completions and the manual page describe it. */
export interface CommandNode {
  /** `posthorn queue retry`. */
  name: string
  /** Its last word, and the aliases of that word. */
  words: readonly string[]
  about: string
  /** `queue retry [options] [id...]`, with the words before it. */
  usage: string
  /** What stands below the options in its help. */
  more: string
  options: readonly OptionNode[]
  values: readonly ValueNode[]
  children: readonly CommandNode[]
  /** The heading under which help lists it. */
  group: string
}

/** An option of a command. */
export interface OptionNode {
  flags: string
  /** `-q`, `--quiet`. */
  names: readonly string[]
  about: string
  value: ValueNode | undefined
  isRepeatable: boolean
}

/** What stands for an argument, or after an option. */
export interface ValueNode {
  name: string
  choices: readonly string[]
  /** It is the path of a file, or of a directory. */
  path: 'file' | 'directory' | undefined
  isVariadic: boolean
  isOptional: boolean
}

/** The tree of all commands that help shows, whichever command is given. */
export function commandTree(command: Command): CommandNode {
  const root = command.parent
  return root === null ? nodeOf(command, command.name()) : commandTree(root)
}

/**
 * Completions and the manual page are made from this tree, and this tree from Commander's commands.
 * No list of commands is kept by hand, so none can be stale.
 */
function nodeOf(command: Command, name: string): CommandNode {
  const help = command.createHelp()
  return {
    name,
    words: [command.name(), ...command.aliases()],
    about: help.commandDescription(command),
    usage: help.commandUsage(command),
    more: moreOf(command),
    options: help.visibleOptions(command).map((option) => optionOf(option, help)),
    values: command.registeredArguments.map(argumentOf),
    // Commander's own `help` is among the visible ones.
    children: help
      .visibleCommands(command)
      .filter((child) => command.commands.includes(child))
      .map((child) => nodeOf(child, `${name} ${child.name()}`)),
    group: command.helpGroup(),
  }
}

/**
 * Commander knows whether an option takes a value but not what kind; the placeholder in its flags
 * (`<file>`, `<dir>`) says that.
 */
function optionOf(option: Option, help: ReturnType<Command['createHelp']>): OptionNode {
  const [, placeholder] = /[<[](.+?)[>\]]/.exec(option.flags) ?? []
  const takesValue = option.required || option.optional
  const about = help.optionDescription(option)
  return {
    flags: option.flags,
    names: [option.short, option.long].filter((name) => name !== undefined && name !== null),
    about,
    isRepeatable: option.variadic || /repeat/.test(about),
    value: takesValue
      ? valueNode(placeholder ?? 'value', option.argChoices, option.variadic, option.optional)
      : undefined,
  }
}

/** An argument of a command. */
const argumentOf = (argument: Argument): ValueNode =>
  valueNode(argument.name(), argument.argChoices, argument.variadic, !argument.required)

/** What the shells need to know of a value. */
const valueNode = (
  name: string,
  choices: readonly string[] | undefined,
  isVariadic: boolean,
  isOptional: boolean,
) => ({ name, choices: choices ?? [], path: pathOf(name), isVariadic, isOptional })

/** Shells complete paths by themselves once they know that one is wanted. */
function pathOf(name: string): ValueNode['path'] {
  if (/\bfile\b/.test(name)) return 'file'
  return name === 'dir' ? 'directory' : undefined
}

/** The text of `addHelpText('after')`, which Commander shows but gives no other access to. */
function moreOf(command: Command): string {
  let help = ''
  const before = command.configureOutput()
  const writeOut = (text: string) => {
    help += text
  }
  command.configureOutput({ ...before, writeOut })
  command.outputHelp()
  command.configureOutput(before)
  return help.slice(command.helpInformation().length).trim()
}

/** A command and all commands below it, each with the names that lead to it, aliases included. */
export function allCommands(
  node: CommandNode,
  names: readonly string[] = [node.name],
): { node: CommandNode; names: readonly string[] }[] {
  const below = node.children.flatMap((child) =>
    allCommands(
      child,
      names.flatMap((name) => child.words.map((word) => `${name} ${word}`)),
    ),
  )
  return [{ node, names }, ...below]
}

/** What a command takes: its own options and those of the whole program. */
export function allOptions(program: CommandNode, node: CommandNode): readonly OptionNode[] {
  if (node === program) return node.options
  const own = new Set(node.options.flatMap(({ names }) => names))
  const ofProgram = program.options.filter(({ names }) => !names.some((name) => own.has(name)))
  return [...node.options, ...ofProgram.filter(({ names }) => !names.includes('--version'))]
}
