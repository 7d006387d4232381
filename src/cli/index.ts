import { Command, CommanderError } from 'commander'
import { packageVersion } from '../config/index.js'
import { explain, statusOf } from './failure.js'

/**
 * The `posthorn` command: a file per sub-command, each entered in `commands` by one line. What must
 * hold: stdout carries the answer alone (a table, or JSON for machines), errors go to stderr with
 * status 1 (2 when the command line itself is wrong, 65 and 78 where the database is damaged or not
 * the key's) and say what to do; a secret is printed only where it is made.
 */
export type AddCommand = (program: Command) => void

/**
 * In the order in which help lists them. Only the one that is named is loaded: together they take most
 * of a second, a single one a fraction of it.
 */
export const commands: Readonly<Record<string, () => Promise<AddCommand>>> = {
  init: async () => (await import('./init.js')).initCommand,
  serve: async () => (await import('./serve.js')).serveCommand,
  sandbox: async () => (await import('./sandbox.js')).sandboxCommand,
  config: async () => (await import('./config.js')).configCommands,
  account: async () => (await import('./account.js')).accountCommands,
  key: async () => (await import('./key.js')).keyCommands,
  domain: async () => (await import('./domain.js')).domainCommands,
  template: async () => (await import('./template.js')).templateCommands,
  plan: async () => (await import('./plan.js')).planCommands,
  contact: async () => (await import('./contact.js')).contactCommands,
  topic: async () => (await import('./topic.js')).topicCommands,
  broadcast: async () => (await import('./broadcast.js')).broadcastCommands,
  automation: async () => (await import('./automation.js')).automationCommands,
  suppression: async () => (await import('./suppression.js')).suppressionCommands,
  email: async () => (await import('./email.js')).emailCommands,
  stats: async () => (await import('./stats.js')).statsCommand,
  webhook: async () => (await import('./webhook.js')).webhookCommands,
  queue: async () => (await import('./queue.js')).queueCommands,
  dmarc: async () => (await import('./dmarc.js')).dmarcCommand,
  postmaster: async () => (await import('./postmaster.js')).postmasterCommands,
  submission: async () => (await import('./submission.js')).submissionCommands,
  shaping: async () => (await import('./shaping.js')).shapingCommands,
  bounce: async () => (await import('./bounce.js')).bounceCommands,
  job: async () => (await import('./job.js')).jobCommands,
  retention: async () => (await import('./retention.js')).retentionCommand,
  database: async () => (await import('./vacuum.js')).databaseCommands,
  doctor: async () => (await import('./doctor.js')).doctorCommand,
  notice: async () => (await import('./notice.js')).noticeCommands,
  failover: async () => (await import('./failover.js')).failoverCommands,
  status: async () => (await import('./status.js')).statusCommand,
  top: async () => (await import('./top.js')).topCommand,
  backup: async () => (await import('./backup.js')).backupCommands,
  restore: async () => (await import('./restore.js')).restoreCommand,
  version: async () => (await import('./version.js')).versionCommand,
}

/** Runs one command line and returns the exit status. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    const program = makeProgram()
    for (const load of named(args)) (await load())(program)
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    // Commander has said it already: help that was asked for is a success, all else misuse.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`${explain(error)}\n`)
    return statusOf(error)
  }
}

function makeProgram(): Command {
  const program = new Command('posthorn')
    .description('A mail appliance: HTTP API in, signed SMTP out, over one SQLite file.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .option(
      '--config <file>',
      'settings (POSTHORN_CONFIG; else posthorn.toml in the data directory)',
    )
    .option('--data <dir>', 'data directory (POSTHORN_DATA; else ./data)')
    .option('--json', 'answer in JSON, for scripts')
    .showHelpAfterError("('posthorn --help' shows what there is)")
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  $ posthorn init --sandbox                try it out: no DNS, no internet
  $ posthorn serve                         run the appliance
  $ posthorn domain add example.com        the DNS records to publish
  $ posthorn domain verify example.com     whether they are there

The file of settings is the first of: --config, POSTHORN_CONFIG, posthorn.toml in the data
directory, /etc/posthorn/posthorn.toml. The data directory is the first of: --data, POSTHORN_DATA,
STATE_DIRECTORY (systemd), ./data.`,
    )
  return program
}

/** The command that the arguments name; all of them for help, and for a name that is not there. */
function named(args: readonly string[]): readonly (() => Promise<AddCommand>)[] {
  const [first = ''] = args.filter(
    (arg, i) => !arg.startsWith('-') && !['--config', '--data'].includes(args[i - 1] ?? ''),
  )
  const load = Object.hasOwn(commands, first) ? commands[first] : undefined
  return load === undefined ? Object.values(commands) : [load]
}
