import { existsSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { counted } from '../amounts/index.js'
import { certificateFiles } from '../app/certificates.js'
import {
  bounceRuleFiles,
  feedbackLoopFiles,
  plansFile,
  shapingFiles,
  trackingAgentFiles,
} from '../app/files.js'
import { foreignAddresses } from '../app/foreign-addresses.js'
import { refuseUnknownKinds } from '../app/operator.js'
import { passphraseOf } from '../backup/index.js'
import {
  allSourceAddresses,
  checkLogInSecret,
  checkSmartHosts,
  environmentName,
  externalAccountOf,
  isSetting,
  type Section,
  settings,
  updateKeyOf,
} from '../config/index.js'
import { messageOf, OperatorError, systemCode } from '../errors/index.js'
import { loadFeedbackLoops } from '../reports/index.js'
import { hasUnit } from '../setup/index.js'
import { readCertificate } from '../smtpd/index.js'
import { loadTrackingAgents } from '../tracking/index.js'
import { bounceRulesOf } from './bounce.js'
import { addCommands, type CommandRow } from './command-row.js'
import { configShowRows } from './config-show.js'
import { say, sayJson, warn } from './output.js'
import {
  becomeOwner,
  type CommandPlace,
  lastingPath,
  placeOf,
  settingsOf,
  userInRootsPlace,
} from './place.js'
import { plansOf } from './plan.js'
import { shapingOf } from './shaping.js'

/** `posthorn config`: what is in force, and whether a start would accept it. */
export function configCommands(program: Command): void {
  const config = program.command('config').description('settings')
  addCommands(config, rows)
}

const rows: readonly CommandRow[] = [
  ...configShowRows,
  {
    usage: 'check',
    about:
      'check the settings, plans, shaping, bounce rules, feedback loops and tracking agents, as the start does',
    help: `Example:
  $ posthorn config check --config /etc/posthorn/posthorn.toml

What would stop the start ends it with status 1. A warning does not: then the status is 0. Root's check reads the
files as the user whom the data directory belongs to, who is the service.`,
    run: runCheck,
  },
]

/**
 * Reads everything that the start reads, in the same way and order, but opens and binds nothing: so
 * it can run beside the appliance, before a reload.
 */
async function runCheck(_options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const values = settingsOf(place)
  refuseUnknownKinds(values)
  plansOf(place)
  await shapingOf(place)
  bounceRulesOf(place)
  const data = [
    plansFile(place.dataDir),
    ...shapingFiles(place.dataDir),
    ...bounceRuleFiles(place.dataDir),
    ...feedbackLoopFiles(place.dataDir),
    ...trackingAgentFiles(place.dataDir),
  ]
  // As the start does: of root's own files it reads only the settings, and only if root starts it.
  becomeOwner(place)
  const hidden = settingsHidden(place)
  if (hidden !== undefined && hasUnit()) throw new OperatorError(hidden)
  for (const file of data) requireReadable(file)
  loadFeedbackLoops(feedbackLoopFiles(place.dataDir))
  loadTrackingAgents(trackingAgentFiles(place.dataDir))
  for (const files of certificateFiles(values)) readCertificate(files)
  // Both lists, as the start refuses a missing password in either.
  const relays = [...values.outbound.failover.smartHosts, ...values.operator.relays]
  checkSmartHosts(relays, process.env)
  checkLogInSecret(values.dashboard.oidc)
  // Variables that a setting names are known too: `password_env` of a smart host.
  const passwords = relays.map((host) => host.passwordEnv)
  const warnings = unknownVariables(process.env, passwords).map(
    (name) => `${name} in the environment is not a setting; it has no effect`,
  )
  if (hidden !== undefined) warnings.push(hidden)
  const { route, heloName } = values.outbound
  // RFC 5321 §4.1.1.1: a client says its own name, and receivers look it up.
  if (route === 'direct' && !heloName.includes('.')) {
    warnings.push(
      `outbound.helo_name is "${heloName}": many receivers refuse mail from such a host; set the host name that your address resolves to`,
    )
  }
  for (const address of foreignAddresses(allSourceAddresses(values.outbound))) {
    warnings.push(
      `outbound.source_addresses or a pool has ${address}, which this machine has not: no mail can leave from it ('ip addr' shows those that there are)`,
    )
  }
  const sources = allSourceAddresses(values.outbound)
  for (const address of Object.keys(values.outbound.seenAs)) {
    if (sources.includes(address)) continue
    warnings.push(
      `outbound.seen_as has ${address}, which no mail leaves from; name it in outbound.source_addresses or a pool`,
    )
  }
  if (values.tls.acme) {
    warnings.push(...faultOf(() => externalAccountOf(values.tls)))
    warnings.push(...faultOf(() => updateKeyOf(values.tls)))
  }
  const { passphraseFile } = values.backup
  if (passphraseFile !== '') warnings.push(...faultOf(() => passphraseOf(passphraseFile, {})))
  for (const [name, [program]] of [
    ['backup.hook', values.backup.hook],
    ['operator.command', values.operator.command],
    ['tls.dns_hook', [values.tls.dnsHook]],
  ] as const) {
    if (program?.startsWith('/') && !existsSync(program)) {
      warnings.push(`${name}: there is no program ${program}; its arguments are texts of their own`)
    }
  }
  if (place.json) return sayJson({ file: place.configFile ?? null, warnings, settings: values })
  for (const warning of warnings) warn(warning)
  say(
    place.configFile === undefined
      ? 'No file of settings: the defaults and the environment are in effect, and good'
      : `${place.configFile} is good${warnings.length === 0 ? '' : `, but for ${counted(warnings.length, 'warning')}`}`,
  )
  for (const file of data) {
    say(`${lastingPath(file)} is good`)
  }
}

/** Refuses a file that the user of the service may not read. */
function requireReadable(file: string): void {
  try {
    readFileSync(file)
  } catch (error) {
    throw new OperatorError(`Cannot read ${file}: ${messageOf(error)}`, { cause: error })
  }
}

/** The fault of an attempt; empty if the attempt succeeds. */
function faultOf(attempt: () => unknown): string[] {
  try {
    attempt()
    return []
  } catch (error) {
    return [messageOf(error)]
  }
}

/**
 * What to say if root may read the settings and the service's user may not. Systemd starts the service as that user;
 * without systemd root may start it, and reads them before becoming the user.
 */
function settingsHidden({ configFile: file }: CommandPlace): string | undefined {
  const user = userInRootsPlace()
  if (user === undefined || file === undefined) return undefined
  try {
    readFileSync(file)
    return undefined
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    return `${file} cannot be read by ${user.name}, to whom ${user.dataDir} belongs: a service of this user does not start. Make it readable for all ('chmod 0644 ${file}'); secrets belong into files and variables that it names`
  }
}

// Variables of the command itself and of the client library, beside those of settings.
const ownVariables = [
  'POSTHORN_CONFIG',
  'POSTHORN_DATA',
  'POSTHORN_BACKUP_PASSPHRASE',
  'POSTHORN_URL',
  'POSTHORN_API_KEY',
]

/**
 * A misspelt variable has no effect and no error anywhere else; only our own prefix is looked at,
 * as the rest of the environment is not ours.
 */
function unknownVariables(env: NodeJS.ProcessEnv, named: readonly string[]): string[] {
  const known = new Set([...ownVariables, ...named, ...variablesOf(settings)])
  return Object.keys(env).filter((name) => name.startsWith('POSTHORN_') && !known.has(name))
}

/**
 * The names follow from the settings by one rule (`environmentName`), so the list cannot be
 * incomplete.
 */
function variablesOf(section: Section, path: readonly string[] = []): string[] {
  return Object.entries(section).flatMap(([name, entry]) =>
    isSetting(entry) ? [environmentName([...path, name])] : variablesOf(entry, [...path, name]),
  )
}
