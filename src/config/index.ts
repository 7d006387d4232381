import { OperatorError } from '../errors/index.js'
import { checkDnsUpdate } from './dns-update.js'
import { checkHttp, httpListeners } from './https.js'
import { checkPorts } from './listeners.js'
import { checkOidc } from './oidc.js'
import { type ConfigSource, readConfig } from './read.js'
import { settings } from './sections.js'
import type { Values } from './settings.js'
import { checkSubmission, submissionListeners } from './submission.js'

/** What the operator has set, with the defaults for all else (`sections.ts`). */
export type Config = Values<typeof settings>
export { type ExternalAccount, externalAccountOf } from './acme.js'
export type { ApplianceKey } from './appliance-key.js'
export {
  createApplianceKeyFile,
  keyCheckOf,
  keyNameOf,
  makeApplianceKey,
  openApplianceKey,
} from './appliance-key.js'
export { updateKeyOf, updateServerOf } from './dns-update.js'
export {
  type JobDefinition,
  type JobLane,
  type JobName,
  jobCatalogue,
  jobNames,
  lanes,
} from './jobs.js'
export { addNewestKey, dropEndedKeys, endOlderKeys, readKeyFile } from './key-file.js'
export { orNothing, readAllKeys, readKeys, type Settings, texts } from './keys.js'
export { makeMac } from './mac.js'
export { faultOfNodeName, nameBesideOthers, nodeNameOf, usualSourceOf } from './node.js'
export { checkLogInSecret, clientSecretOf, type GivenRole, givenRoles } from './oidc.js'
export { allSourceAddresses, type PoolSettings, type PoolsSettings } from './pools.js'
export { type ConfigSource, environmentName, readPart, settingName } from './read.js'
export {
  glibcHere,
  isSupported,
  packageFile,
  packageVersion,
  type Runtime,
  runtimeInUse,
  unfitSystem,
  wayToFixes,
} from './runtime.js'
export { readSchedule, type Schedule } from './schedule.js'
export { settings } from './sections.js'
export {
  ownSourceAddresses,
  type SeenAs,
  seenAddress,
  seenSourceAddresses,
} from './seen-as.js'
export {
  duration,
  integer,
  isNetwork,
  isSetting,
  type Section,
  type Setting,
  setting,
  type Values,
} from './settings.js'
export { authoritiesOf, checkSmartHosts, passwordOf, type SmartHost } from './smart-hosts.js'
export { type SettingInForce, type ShownSetting, settingsInForce, shownSetting } from './sources.js'
export { databaseAt, withoutPassword } from './store.js'
export { certificatePaths, listenOf, type TrustedNetwork } from './submission.js'

/** Reads the settings and judges those that depend on each other; throws an OperatorError that names what is wrong. */
export function loadConfig(source: ConfigSource): Config {
  const config = readConfig(settings, source)
  if (config.outbound.tls.dane && config.dns.validatingResolver === '') {
    throw new OperatorError(
      'outbound.tls.dane needs dns.validating_resolver, a resolver that checks DNSSEC, such as "127.0.0.1:53"',
    )
  }
  for (const name of ['bounces', 'complaints'] as const) {
    const { warn, pause } = config.protection[name]
    // The warning would never come.
    if (warn > pause) throw new OperatorError(`protection.${name}.warn is above its pause`)
  }
  const [program] = config.operator.command
  if (program !== undefined && !program.startsWith('/')) {
    throw new OperatorError(`operator.command: ${program} is not the absolute path of a program`)
  }
  // Checked at the start, and not when the first mail server asks for TLS.
  const { certificate, key } = config.inbound.tls
  if ((certificate === '') !== (key === '')) {
    throw new OperatorError('inbound.tls needs both files, certificate and key')
  }
  if (config.tls.acme && !config.tls.agreeToTerms) {
    throw new OperatorError(
      `tls.acme needs tls.agree_to_terms = true: read the terms of the authority (${new URL(config.tls.directory).host}) first`,
    )
  }
  checkDnsUpdate(config)
  checkSubmission(config.submission, config.inbound.tls, config.tls.acme)
  checkHttp(config.http, config.tls.acme)
  checkOidc(config.dashboard.oidc)
  const { inbound } = config
  checkPorts([
    ...httpListeners(config.http),
    ...(inbound.enabled ? [{ name: 'inbound', host: inbound.host, port: inbound.port }] : []),
    ...submissionListeners(config.submission),
  ])
  return config
}

/** Whether recipients can follow links to the public listener; in the sandbox nobody else has to. */
export const isReachable = ({ http, outbound }: Config) =>
  http.public.url !== '' || outbound.route === 'sandbox'

/**
 * What is tracked where neither account nor domain says it; undefined: nobody out there could reach what links and pixels
 * lead to, so nothing is.
 */
export const usualTracking = (config: Config) => (isReachable(config) ? config.tracking : undefined)
