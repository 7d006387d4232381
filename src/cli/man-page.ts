import type { Command } from 'commander'
import { packageVersion } from '../config/index.js'
import { type CommandNode, commandTree, type OptionNode } from './command-tree.js'
import { exitMeanings } from './program.js'

/** `posthorn man-page`: made of the commands themselves, at the build of a release. */
export function manPageCommand(program: Command): void {
  program
    .command('man-page')
    .description('write the manual page, posthorn(1), to stdout')
    .addHelpText(
      'after',
      '\nExample:\n  $ posthorn man-page > /usr/local/share/man/man1/posthorn.1',
    )
    .action((_options, command: Command) => {
      process.stdout.write(manPage(commandTree(command)))
    })
}

/** The manual page in the macros of man(7); the same commands give the same bytes. */
function manPage(program: CommandNode): string {
  const groups = [...new Set(program.children.map(({ group }) => group))]
  return [
    `.TH POSTHORN 1 "${madeOn(process.env)}" "Posthorn ${text(packageVersion())}" "User Commands"`,
    ...section('NAME', `posthorn \\- ${text(lowered(program.about))}`),
    ...section('SYNOPSIS', '.B posthorn', `.RI [ options ] " command " [ arguments ]`),
    ...section('DESCRIPTION', ...described),
    ...section('OPTIONS', ...program.options.flatMap(optionLines)),
    ...groups.flatMap((group) =>
      section(
        text(group.replace(/:$/, '').toUpperCase()),
        ...program.children.filter((child) => child.group === group).flatMap(commandLines),
      ),
    ),
    ...section('EXIT STATUS', ...tagged(Object.entries(exitMeanings))),
    ...section('ENVIRONMENT', ...tagged(Object.entries(environment))),
    ...section('FILES', ...tagged(Object.entries(files))),
    ...section('SEE ALSO', '.BR systemctl (1),', '.BR journalctl (1)'),
    '',
  ].join('\n')
}

/** The date of the release, which its build names (reproducible-builds.org); none otherwise. */
function madeOn({ SOURCE_DATE_EPOCH: seconds }: NodeJS.ProcessEnv): string {
  return /^\d{1,11}$/.test(seconds ?? '')
    ? new Date(Number(seconds) * 1_000).toISOString().slice(0, 10)
    : ''
}

// These lines are roff already.
const described = [
  'Posthorn takes mail over HTTP or SMTP, signs it, and delivers it to the servers of its recipients.',
  'One process and one SQLite file, in one data directory; these commands work on that directory,',
  'beside the running appliance or without it.',
  '.PP',
  'The answer goes to standard output, everything else to standard error.',
  'With \\fB\\-\\-json\\fR both are JSON: the answer one document, standard error an object a line:',
  '\\(dqremark\\(dq, \\(dqwarning\\(dq, and at last \\(dqerror\\(dq with its code, message and advice.',
]

// Variables that belong to no setting.
const environment = {
  POSTHORN_CONFIG: 'The file of settings, in place of --config.',
  POSTHORN_DATA: 'The data directory, in place of --data.',
  'POSTHORN_*': 'Each setting: POSTHORN_OUTBOUND_HELO_NAME is helo_name of [outbound].',
  POSTHORN_BACKUP_PASSPHRASE: 'The passphrase of backups.',
  STATE_DIRECTORY: 'The data directory where systemd names it.',
  NO_COLOR: 'When it is set, nothing is coloured.',
}

const files = {
  '/etc/posthorn/posthorn.toml': 'The settings of a machine.',
  '/var/lib/posthorn': 'The data directory of the packaged service.',
  'posthorn.toml, plans.toml, shaping.toml, bounce-rules.toml':
    'In the data directory: its own settings, and data that operators may edit.',
}

/** A heading and the lines below it. */
const section = (title: string, ...lines: string[]) => [`.SH ${title}`, ...lines]

/**
 * A command and all below it. roff is written by hand: a library for it would be larger than these
 * lines.
 */
function commandLines(command: CommandNode): string[] {
  const own = [
    `.SS "${text(command.name)}"`,
    text(sentence(command.about)),
    ...(command.children.length > 0 && command.values.length === 0
      ? []
      : ['.PP', `.B ${text(command.usage)}`]),
    ...command.options.filter(({ names }) => !names.includes('--help')).flatMap(optionLines),
    ...(command.more === '' ? [] : ['.PP', '.nf', ...command.more.split('\n').map(text), '.fi']),
  ]
  return [...own, ...command.children.flatMap(commandLines)]
}

/** An option with its flags in front. */
const optionLines = ({ flags, about }: OptionNode) => tagged([[flags, sentence(about)]])

/** A list of terms, as man(7) has it. */
const tagged = (entries: readonly (readonly [string, string])[]) =>
  entries.flatMap(([tag, about]) => ['.TP', `.B ${text(tag)}`, text(about)])

/** NAME has a phrase and no sentence. */
const lowered = (sentence: string) => sentence.replace(/^A /, 'a ').replace(/\.$/, '')

/** Help begins in lower case and has no full stop; the manual page has both. */
const sentence = (about: string) => `${about.charAt(0).toUpperCase()}${about.slice(1)}.`

/**
 * roff(7): escapes what would be read as a macro, an escape, a typographic hyphen or a quotation mark
 * of a macro.
 */
const text = (given: string) =>
  given
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replace(
      /[^\p{ASCII}]/gu,
      (c) => `\\[u${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^\./, '\\&.')
