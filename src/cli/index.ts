import { Command, CommanderError } from 'commander'
import { packageVersion } from '../config/index.js'
import { accountCommands } from './account.js'
import { bounceCommands } from './bounce.js'
import { configCommands } from './config.js'
import { contactCommands } from './contact.js'
import { doctorCommand } from './doctor.js'
import { domainCommands } from './domain.js'
import { emailCommands } from './email.js'
import { failoverCommands } from './failover.js'
import { explain } from './failure.js'
import { initCommand } from './init.js'
import { keyCommands } from './key.js'
import { planCommands } from './plan.js'
import { postmasterCommands } from './postmaster.js'
import { queueCommands } from './queue.js'
import { serveCommand } from './serve.js'
import { shapingCommands } from './shaping.js'
import { suppressionCommands } from './suppression.js'
import { templateCommands } from './template.js'
import { topicCommands } from './topic.js'
import { versionCommand } from './version.js'
import { webhookCommands } from './webhook.js'

/**
 * The `posthorn` command: a file per sub-command, each entered in `commands` by one line. What must
 * hold: stdout carries the answer alone (a table, or JSON for machines), errors go to stderr with
 * status 1 (2 when the command line itself is wrong) and say what to do; a secret is printed only
 * where it is made.
 */
export type AddCommand = (program: Command) => void

const commands: readonly AddCommand[] = [
  initCommand,
  serveCommand,
  configCommands,
  accountCommands,
  keyCommands,
  domainCommands,
  templateCommands,
  planCommands,
  contactCommands,
  topicCommands,
  suppressionCommands,
  emailCommands,
  webhookCommands,
  queueCommands,
  postmasterCommands,
  shapingCommands,
  bounceCommands,
  doctorCommand,
  failoverCommands,
  versionCommand,
]

/** Runs one command line and returns the exit status. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    await makeProgram().parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    // Commander has said it already: help that was asked for is a success, all else misuse.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`${explain(error)}\n`)
    return 1
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
  for (const add of commands) add(program)
  return program
}
