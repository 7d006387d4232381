import { existsSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { applianceKeyFile } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import { systemClock } from '../clock/index.js'
import { type Config, loadConfig } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import type { Finding } from '../doctor/index.js'
import { OperatorError } from '../errors/index.js'
import {
  answersIn,
  type FoundSettings,
  foundSettings,
  guessMachine,
  type MachineFacts,
  portsOf,
  preflight,
  readMachine,
  type SetupAnswers,
} from '../setup/index.js'
import { say, sayJson } from './output.js'
import { refuseHalfRestored, settingsOf } from './place.js'
import { openQuestions, type Questions } from './questions.js'
import { areSandboxSettings } from './sandbox-set-up.js'
import { gatherAnswers, type SetupOptions } from './setup-answers.js'
import { finishSetup } from './setup-finish.js'
import { type SetupPlace, setupPlace } from './setup-place.js'
import { sayFindings, sayStep, sayTitle } from './setup-screens.js'
import { knownDomain, makeAll, planOf, textOf } from './setup-steps.js'

/**
 * `posthorn setup`: the way from a bare machine to a mail server, with one question before anything
 * is changed.
 */
export function setupCommand(program: Command): void {
  program
    .command('setup')
    .description('make a server of this machine: settings, first account and key, records, start')
    .option('--host-name <name>', 'of this machine, as other mail servers are to know it')
    .option('--address <ip>', 'as the world sees it; several with commas between')
    .option('--domain <name>', 'the domain that you send from')
    .option('--operator <mail>', 'who is told what goes wrong, and gets postmaster@')
    .option('--acme', "get certificates from Let's Encrypt, and agree to its terms")
    .option('--no-acme', 'get none: a proxy speaks TLS')
    .option('--known-sender', 'mail has left from its address lately: nothing is held by a warm-up')
    .option('--no-known-sender', 'it is new as a sender: it begins with 50 mails on the first day')
    .option('--account <name>', 'the account that has the domain (default: named after it)')
    .option('--sandbox', 'a trial: nothing leaves this machine, and nothing is asked')
    .option('--no-start', 'do not start the appliance')
    .option('--yes', 'ask nothing: take what is found out, and go on')
    .option('--dry-run', 'show what would be done, and do nothing')
    .addHelpText('after', help)
    .action(async (options: SetupOptions, command: Command) => {
      await setUp(setupPlace(command), options)
    })
}

const help = `
What is there already is kept: run it again after it was broken off, or to see the records again.
A file of settings that you have written or changed is only read. Without a terminal, every answer is
an option; --json tells all that is done as one object.

Examples:
  $ posthorn setup
  $ posthorn setup --sandbox --yes
  $ posthorn setup --dry-run --yes --host-name mail.example.com --address 192.0.2.25 \\
      --domain example.com --operator ann@example.org --no-acme`

/**
 * First everything is found out and shown, then comes one question, then the work. Its order lets
 * each step be repeated, as a setup that was broken off is run again.
 */
async function setUp(place: SetupPlace, options: SetupOptions): Promise<void> {
  refuseHalfRestored(place.dataDir)
  const found = whoseSettings(place.configFile)
  // The environment counts even without a file.
  const before = found === 'none' ? loadConfig({ env: process.env }) : settingsOf(place)
  const wasTrial = found !== 'none' && before.outbound.route === 'sandbox'
  if (wasTrial && !options.sandbox && found === 'theirs') {
    throw new OperatorError(
      `outbound.route is "sandbox" in ${place.configFile}, which is your own: no mail would leave this machine`,
      { advice: 'take that line out, or choose another --data directory for the server' },
    )
  }
  if (options.sandbox && found !== 'none' && before.outbound.route !== 'sandbox') {
    throw new OperatorError(
      `outbound.route is "${before.outbound.route}" in ${place.configFile}, so mail would leave this machine`,
      { advice: 'choose another --data directory for the trial' },
    )
  }
  const isFixed = found === 'theirs'
  const resolver = openResolver(before.dns, systemClock)
  const facts = readMachine()
  const stopped = options.dryRun ? 'Stopped' : 'Stopped: nothing was changed'
  const asks = !place.json && !options.yes && !options.sandbox
  const questions = asks ? openQuestions(stopped) : undefined
  try {
    if (questions) greet(place, isFixed)
    const answers = await ask({ place, options, before, isFixed, resolver, facts, questions })
    const checks = await look({ place, before, found, resolver, answers, facts })
    if (!place.json && checks.length > 0) {
      sayTitle('This machine')
      sayFindings(checks)
    }
    const isThere = existsSync(applianceKeyFile(place.dataDir))
    const endsTrial = wasTrial && isThere && answers.route === 'direct'
    const work = { place, options, answers, found, facts, endsTrial, checks }
    const plan = await planOf(work)
    if (options.dryRun && place.json) return sayJson({ dryRun: true, answers, plan, checks })
    if (options.dryRun || questions) {
      sayTitle('What will be done')
      for (const { verb, what, detail } of plan) {
        sayStep(verb, what)
        if (options.dryRun && detail) say(`\n${detail.replaceAll(/^(?=.)/gm, '      ')}`)
      }
    }
    if (options.dryRun) return say('\nNothing was changed.')
    if (questions && !(await questions.confirm('Go on?', true))) throw new OperatorError(stopped)
    questions?.close()
    const made = await makeAll(work)
    await finishSetup(work, made)
  } finally {
    questions?.close()
  }
}

/** A file as `init --sandbox` wrote it is ours too. */
const whoseSettings = (file: string): FoundSettings =>
  existsSync(file) && areSandboxSettings(readFileSync(file, 'utf8')) ? 'ours' : foundSettings(file)

/** What will happen, so that nobody fears the first question. */
function greet({ configFile }: SetupPlace, isFixed: boolean): void {
  say('Posthorn setup: some questions, then one more before anything is changed.')
  say('Enter takes what stands in brackets.')
  if (isFixed) say(`\n${configFile} is your own: what it says is not asked, and it is kept.`)
}

/** The answers, which begin with guesses about the machine. A trial needs none. */
async function ask(given: {
  place: SetupPlace
  options: SetupOptions
  before: Config
  isFixed: boolean
  resolver: Resolver
  facts: MachineFacts
  questions: Questions | undefined
}): Promise<SetupAnswers> {
  const { place, options, before, isFixed, resolver, facts, questions } = given
  // A dry run does not even open the database, which could write to it.
  const domain = options.sandbox || options.dryRun ? undefined : await knownDomain(place)
  const inSettings = place.hasSettings ? answersIn(before, place.configFile) : {}
  const known = { ...inSettings, ...(domain !== undefined && { domain }) }
  const guess = options.sandbox
    ? { hostName: undefined, addresses: [], leftOut: [] }
    : await guessMachine(resolver, facts)
  const describe = (hostName: string) => whereItLeads(resolver, hostName)
  return gatherAnswers({ options, known, isFixed, guess, describe, questions })
}

/**
 * Told during the questions, because a name that leads elsewhere is the commonest mistake, and now
 * is cheap to mend.
 */
async function whereItLeads(resolver: Resolver, hostName: string): Promise<string> {
  const answers = await Promise.all([resolver.a(hostName), resolver.aaaa(hostName)])
  const addresses = answers.flatMap((one) => (one.kind === 'records' ? one.records : []))
  if (addresses.length > 0) return `${hostName} leads to ${addresses.join(', ')}`
  return answers.some(({ kind }) => kind === 'failed')
    ? 'The DNS does not answer now; that can wait'
    : `${hostName} has no address in the DNS yet; its records are shown at the end`
}

/** A trial needs nothing of the outside world; a running appliance holds its ports itself. */
async function look(given: {
  place: SetupPlace
  before: Config
  found: FoundSettings
  resolver: Resolver
  answers: SetupAnswers
  facts: MachineFacts
}): Promise<Finding[]> {
  const { place, before, found, resolver, answers } = given
  if (answers.route === 'sandbox') return []
  // The settings that will be in effect: a trial's addresses and ports are not a server's.
  const config =
    found === 'theirs'
      ? before
      : loadConfig({ env: process.env, file: place.configFile, text: textOf(given) })
  const { isServed } = await import('../app/lock.js')
  const certificates = before.tls.acme ? 'acme' : 'proxy'
  const own = isServed(place.dataDir) ? portsOf(before, { certificates }) : []
  const ports = portsOf(config, answers).filter((port) => !own.includes(port))
  return preflight({ config, clock: systemClock, resolver, random: Math.random }, ports)
}
