import { type Command, CommanderError } from 'commander'
import { unfitSystem } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { errorInJson, explain, failureInJson, statusOf } from './failure.js'
import { answerAs } from './output.js'
import {
  arrange,
  deepest,
  flagsOf,
  helpAsOption,
  helpHint,
  makeProgram,
  overviewOf,
  wordsOf,
} from './program.js'

/**
 * The `posthorn` command: a file per sub-command, each entered in `commandGroups` by one line. What must
 * hold: stdout carries the answer alone (a table, or JSON for machines); errors go to stderr, say what to
 * do, and end with a status of `exitMeanings`; a secret is printed only where it is made; what cannot be
 * undone is asked first (`confirm.ts`).
 */
export type AddCommand = (program: Command) => void
/** By the name of the command. */
type Loaders = Readonly<Record<string, () => Promise<AddCommand>>>

/**
 * By task, in the order in which help lists them. Only the named command is loaded: all of them take most
 * of a second, a single one a fraction of it.
 */
export const commandGroups: Readonly<Record<string, Loaders>> = {
  'Set up and run:': {
    setup: async () => (await import('./setup.js')).setupCommand,
    quickstart: async () => (await import('./quickstart.js')).quickstartCommand,
    init: async () => (await import('./init.js')).initCommand,
    serve: async () => (await import('./serve.js')).serveCommand,
    config: async () => (await import('./config.js')).configCommands,
    doctor: async () => (await import('./doctor.js')).doctorCommand,
    sandbox: async () => (await import('./sandbox.js')).sandboxCommand,
  },
  'Who sends:': {
    account: async () => (await import('./account.js')).accountCommands,
    user: async () => (await import('./user.js')).userCommands,
    key: async () => (await import('./key.js')).keyCommands,
    'operator-key': async () => (await import('./operator-key.js')).operatorKeyCommands,
    domain: async () => (await import('./domain.js')).domainCommands,
    receiving: async () => (await import('./receiving.js')).receivingCommands,
    surge: async () => (await import('./surge.js')).surgeCommands,
    plan: async () => (await import('./plan.js')).planCommands,
    inbox: async () => (await import('./inbox.js')).inboxCommands,
    webhook: async () => (await import('./webhook.js')).webhookCommands,
  },
  'What is sent, and to whom:': {
    template: async () => (await import('./template.js')).templateCommands,
    contact: async () => (await import('./contact.js')).contactCommands,
    field: async () => (await import('./field.js')).fieldCommands,
    form: async () => (await import('./form.js')).formCommands,
    segment: async () => (await import('./segment.js')).segmentCommands,
    list: async () => (await import('./list.js')).listCommands,
    picture: async () => (await import('./picture.js')).pictureCommands,
    topic: async () => (await import('./topic.js')).topicCommands,
    broadcast: async () => (await import('./broadcast.js')).broadcastCommands,
    automation: async () => (await import('./automation.js')).automationCommands,
    suppression: async () => (await import('./suppression.js')).suppressionCommands,
  },
  'What became of it:': {
    email: async () => (await import('./email.js')).emailCommands,
    received: async () => (await import('./received.js')).receivedCommands,
    queue: async () => (await import('./queue.js')).queueCommands,
    stats: async () => (await import('./stats.js')).statsCommand,
    bounce: async () => (await import('./bounce.js')).bounceCommands,
    submission: async () => (await import('./submission.js')).submissionCommands,
    postmaster: async () => (await import('./postmaster.js')).postmasterCommands,
    dmarc: async () => (await import('./dmarc.js')).dmarcCommand,
  },
  'How it goes:': {
    status: async () => (await import('./status.js')).statusCommand,
    top: async () => (await import('./top.js')).topCommand,
    notice: async () => (await import('./notice.js')).noticeCommands,
    site: async () => (await import('./site.js')).siteCommands,
    shaping: async () => (await import('./shaping.js')).shapingCommands,
    failover: async () => (await import('./failover.js')).failoverCommands,
    node: async () => (await import('./node.js')).nodeCommands,
  },
  'Look after it:': {
    backup: async () => (await import('./backup.js')).backupCommands,
    restore: async () => (await import('./restore.js')).restoreCommand,
    'key-file': async () => (await import('./key-file.js')).keyFileCommands,
    certificate: async () => (await import('./certificate.js')).certificateCommands,
    upgrade: async () => (await import('./upgrade.js')).upgradeCommand,
    job: async () => (await import('./job.js')).jobCommands,
    retention: async () => (await import('./retention.js')).retentionCommand,
    database: async () => (await import('./database-commands.js')).databaseCommands,
  },
  'The command itself:': {
    version: async () => (await import('./version.js')).versionCommand,

    completions: async () => (await import('./completions.js')).completionsCommand,
    'man-page': async () => (await import('./man-page.js')).manPageCommand,
  },
}

/** All of them, whatever their heading. */
export const commands: Loaders = Object.assign({}, ...Object.values(commandGroups))

/** Runs one command line and returns the exit status. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const flags = flagsOf(args)
  answerAs(flags)
  const program = makeProgram(flags)
  const words = wordsOf(args)
  try {
    if (!flags.help && !flags.version) requireFitSystem(words[0])
    for (const load of named(words[0], flags.help)) (await load())(program)
    arrange(program, commandGroups)
    await program.parseAsync(helpAsOption(program, args), { from: 'user' })
    // Commands that found something bad have set `process.exitCode`.
    if (words.length > 0) return Number(process.exitCode ?? 0)
    if (!flags.json) process.stderr.write(overviewOf(commandGroups))
    throw new CommanderError(1, 'posthorn.noCommand', 'error: a command is missing')
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      process.stderr.write(flags.json ? errorInJson(error) : `${explain(error)}\n`)
      return statusOf(error)
    }
    // Commander has already written its text: help that was asked for is a success, everything else
    // misuse.
    if (error.exitCode === 0) return 0
    if (flags.json) process.stderr.write(misuseInJson(error, deepest(program, words).command))
    return 2
  }
}

/** The command that is named; all commands for help, and for an unknown name. */
function named(first: string | undefined, help: boolean): readonly (() => Promise<AddCommand>)[] {
  if (first === undefined) return help ? Object.values(commands) : []
  const load = Object.hasOwn(commands, first) ? commands[first] : undefined
  return load === undefined || ofWholeTree.includes(first) ? Object.values(commands) : [load]
}

/** Refused before anything is made or loaded: the system's loader would only name a symbol in a file. */
function requireFitSystem(first = ''): void {
  if (!Object.hasOwn(commands, first) || withoutNativePackages.includes(first)) return
  const unfit = unfitSystem()
  if (unfit !== undefined) throw new OperatorError(unfit)
}

// These describe all other commands.
const ofWholeTree = ['completions', 'man-page']

// `version` itself tells what is wrong.
const withoutNativePackages = [...ofWholeTree, 'version']

/**
 * Commander writes its error as text for people; under --json, stderr has an object a line, even
 * for a wrong command line.
 */
function misuseInJson({ code, message }: CommanderError, command: Command): string {
  const said = code === 'commander.help' ? 'a sub-command is missing' : message
  const lines = said.replace(/^error: /, '').replaceAll('\n', ' ')
  return failureInJson({ code: 'usage', message: lines, advice: helpHint(command) })
}
