import { Command, CommanderError } from 'commander'
import { packageVersion } from '../config/index.js'
import { exitStatus } from '../errors/index.js'
import { rememberCommand } from './audited.js'
import { rowOf } from './command-row.js'
import { requireNamed } from './place.js'

/** The exit statuses of every command, for help, the manual page, and bin/README.md. */
export const exitMeanings: Readonly<Record<number, string>> = {
  0: 'it is done, and what was looked at is good',
  [exitStatus.failed]: 'it failed or was not confirmed, or what was looked at is not good',
  2: 'the command line is wrong; nothing was done',
  3: "of 'posthorn status': no appliance runs",
  [exitStatus.damaged]: 'the database is damaged',
  [exitStatus.disk]: 'the disk failed',
  [exitStatus.misplaced]: 'the data directory or its key is not the right one',
  130: 'it was stopped by Ctrl-C',
  143: "of 'posthorn backup': it was stopped by SIGTERM",
}

const after = `
Examples:
  $ posthorn setup                         make a server of this machine, question by question
  $ posthorn init --sandbox                try it out: no DNS, no internet
  $ posthorn serve                         run the appliance
  $ posthorn domain add example.com        the DNS records to publish
  $ posthorn domain verify example.com     whether they are there

The file of settings is the first of: --config, POSTHORN_CONFIG, posthorn.toml in the data
directory, /etc/posthorn/posthorn.toml. The data directory is the first of: --data, POSTHORN_DATA,
STATE_DIRECTORY (systemd), ./data; of an installed release /var/lib/posthorn comes before ./data,
unless that is one.

Exit status:
${Object.entries(exitMeanings)
  .map(([status, meaning]) => `  ${status.padEnd(5)}${meaning}`)
  .join('\n')}`

/** The program without its sub-commands. With `json` its errors are left to the caller. */
export function makeProgram({ json }: { json: boolean }): Command {
  return (
    new Command('posthorn')
      .description(
        'A mail appliance: HTTP API in, signed SMTP out, over one SQLite file or a PostgreSQL.',
      )
      .version(packageVersion(), '-V, --version', 'print the version')
      .option(
        '--config <file>',
        'settings (POSTHORN_CONFIG; else posthorn.toml in the data directory)',
      )
      .option('--data <dir>', 'data directory (POSTHORN_DATA; else ./data)')
      .option('--json', 'answer in JSON, for scripts; errors too, on stderr')
      .option('-q, --quiet', 'no remarks beside the answer, only warnings and errors')
      .option('--no-color', 'without colours (NO_COLOR)')
      .configureHelp({ showGlobalOptions: true })
      .configureOutput(json ? { writeErr: () => {} } : {})
      // Commander throws instead of ending the process: the status is ours to choose.
      .exitOverride()
      // Before any command does anything, also before root becomes another user.
      .hook('preAction', (_program, command) => {
        // `serve` checks by itself, as the reason why it cannot start goes into its log.
        if (command.name() !== 'serve') requireNamed(command)
        // An action that the API and pages do too has one name in the log.
        rememberCommand(command, rowOf.get(command)?.does?.audit ?? nameOf(command))
      })
      .addHelpText('after', after)
  )
}

/** The options of the whole program, wherever they stand among the arguments. */
export function flagsOf(args: readonly string[]) {
  const [end] = [args.indexOf('--'), args.length].filter((at) => at >= 0)
  const flags = new Set(args.slice(0, end))
  return {
    json: flags.has('--json'),
    quiet: flags.has('--quiet') || flags.has('-q'),
    color: !flags.has('--no-color'),
    // Commander answers these two by itself.
    help: flags.has('-h') || flags.has('--help'),
    version: flags.has('-V') || flags.has('--version'),
  }
}

/** The arguments without the options of all commands and their values: the command comes first. */
export const wordsOf = (args: readonly string[]) =>
  args.filter(
    (arg, i) => !arg.startsWith('-') && !['--config', '--data'].includes(args[i - 1] ?? ''),
  )

/** Puts the commands under the headings of their groups, and has each error name its own command's help. */
export function arrange(program: Command, groups: Readonly<Record<string, object>>): void {
  for (const [heading, members] of Object.entries(groups)) {
    for (const command of program.commands) {
      if (Object.hasOwn(members, command.name())) command.helpGroup(heading)
    }
  }
  program.addHelpCommand(
    new Command('help [command...]').description('show the help of a command').helpGroup('Help:'),
  )
  const visit = (command: Command): void => {
    command.showHelpAfterError(helpHint(command))
    command.commands.forEach(visit)
  }
  visit(program)
}

/** Where to read how a command is used; it follows each error of its command line. */
export const helpHint = (command: Command) => `'${nameOf(command)} --help' shows how it is used`

/** `posthorn queue retry`. */
export const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`

/** The command that the words lead to, and the first word that is not a command. */
export function deepest(program: Command, words: readonly string[]) {
  let command = program
  for (const word of words) {
    const next = command.commands.find((one) => [one.name(), ...one.aliases()].includes(word))
    if (next === undefined) return { command, rest: word }
    command = next
  }
  return { command, rest: undefined }
}

/** `help queue retry` and `queue help retry` are `queue retry --help`; an unknown name is refused. */
export function helpAsOption(program: Command, args: readonly string[]): readonly string[] {
  const words = wordsOf(args)
  const { command, rest } = deepest(program, words)
  if (rest !== 'help' || command.commands.length === 0) {
    // Commander passes a misspelt name to the default command (`notice lst`).
    if (rest !== undefined && rest === args[args.indexOf(command.name()) + 1]) {
      refuseUnlessValue(command, rest)
    }
    return args
  }
  const named = deepest(program, words.toSpliced(words.indexOf('help'), 1))
  if (named.rest !== undefined) refuseUnlessValue(named.command, named.rest)
  return [...args.toSpliced(args.indexOf('help'), 1), '--help']
}

/**
 * A word that is no sub-command may still be an argument of the group, as in `posthorn
 * certificate`.
 */
function refuseUnlessValue(command: Command, name: string): void {
  if (command.commands.length === 0 || command.registeredArguments.length > 0) return
  refuseName(command, name)
}

/** Refuses as Commander does in a group without a default command, with its suggestion. */
function refuseName(group: Command, name: string): never {
  // A program that has only names and does nothing: Commander makes the suggestion only for unknown
  // commands.
  const names = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  for (const command of group.commands) names.command(command.name()).action(() => {})
  try {
    names.parse([name], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) group.error(error.message, { code: error.code })
  }
  return group.error(`error: unknown command '${name}'`)
}

/** The text of `posthorn` alone: which commands exist, by task. */
export function overviewOf(groups: Readonly<Record<string, object>>): string {
  const wide = Math.max(...Object.keys(groups).map((heading) => heading.length))
  const lines = Object.entries(groups).map(
    ([heading, members]) => `  ${heading.padEnd(wide)}  ${Object.keys(members).join(' ')}`,
  )
  return `Usage: posthorn [options] <command>

${lines.join('\n')}

To try it out: posthorn init --sandbox, then posthorn serve
'posthorn --help' says what each does, 'posthorn help <command>' how it is used.
`
}
