import { applianceKeyFile } from '../app/files.js'
import { openResolver } from '../app/resolver.js'
import { type Config, openApplianceKey } from '../config/index.js'
import { examine, type Finding } from '../doctor/index.js'
import { recordSettingsOf, verifyDomain, zoneFile } from '../domains/index.js'
import {
  firstDayInWords,
  leftToDo,
  type StartedService,
  serviceName,
  startService,
  systemdRuns,
  wantedRecords,
} from '../setup/index.js'
import { withStore } from './database.js'
import { sayFirstLink } from './first-link.js'
import { say, sayJson } from './output.js'
import { settingsOf } from './place.js'
import { urlsOf } from './sandbox-set-up.js'
import type { SetupPlace } from './setup-place.js'
import { sayExamination, sayStep, sayTasks, sayTitle, sayWanted } from './setup-screens.js'
import {
  asOwner,
  keyIsShown,
  lastingFile,
  type MadeBySetup,
  type SetupWork,
} from './setup-steps.js'

/** Starts the appliance, and says what the operator does next. */
export async function finishSetup(work: SetupWork, made: MadeBySetup): Promise<void> {
  const { place, answers } = work
  const { first } = made
  const config = settingsOf(place)
  const tell = place.json ? () => {} : sayStep
  const isDirect = config.outbound.route === 'direct'
  const started = start(work, { isChanged: made.settings !== 'kept', isDirect }, tell)
  const records = isDirect ? wantedRecords(config, answers.addresses, first.domain) : []
  if (!place.json && isDirect) sayWanted(records)
  const findings = isDirect ? await examineAll(work, config, made, started.state === 'running') : []
  const example = lastingFile('systemd/Caddyfile.example')
  const tasks = leftToDo(answers, records, findings, example)
  const left = started.state === 'running' ? tasks : [startTask(started.command), ...tasks]
  const { privateUrl } = urlsOf(config.http)
  if (place.json) {
    const { dataDir, configFile } = place
    sayJson({
      dataDir,
      configFile,
      settings: made.settings,
      differences: made.differences,
      account: first.account,
      apiKey: first.apiKey ?? null,
      domain: first.domain.name,
      privateUrl,
      setupUrl: made.setupUrl ?? null,
      appliance: started.state,
      records,
      zone: zoneFile(zoneOf(records)),
      checks: work.checks,
      findings,
      left,
    })
    keyIsShown(place)
    return
  }
  if (findings.length > 0) sayExamination(findings)
  sayTasks(left)
  if (isDirect && config.outbound.warmUp === 'auto') say(`\n  Warm-up, ${firstDayInWords()}`)
  sayFirstLink(made.setupUrl, config.outbound.heloName)
  sayTitle(isDirect ? `Send a mail, once ${first.domain.name} is verified` : 'Send a mail')
  const key = first.apiKey ?? "…   # your API key; 'posthorn key create NAME' makes another"
  say(`  export KEY=${key}`)
  say(`  curl ${privateUrl}/v1/emails/send \\
    -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
    -d '{ "from": "hello@${first.domain.name}", "to": "${(answers.operator || 'you@example.org').replaceAll("'", "'\\''")}",
          "subject": "Hello", "html": "<p>Hello!</p>" }'`)
  if (!isDirect) say(`\n  It arrives in the sandbox inbox: ${privateUrl}/sandbox`)
}

/** The records that stand in the domain's own zone; the others (PTR) are set elsewhere. */
const zoneOf = <T extends { where: string }>(records: readonly T[]) =>
  records.filter(({ where }) => where === 'zone')

/** The task that is left if the appliance does not run yet. */
const startTask = (command: string) => ({ where: 'here', what: `start it: ${command}` })

/** By systemd, if systemd runs and knows the service. */
function start(
  { place, options, checks }: SetupWork,
  { isChanged, isDirect }: { isChanged: boolean; isDirect: boolean },
  tell: (verb: string, what: string) => void,
): StartedService {
  const started = startService({
    isWanted: options.start,
    isSystem: place.isSystem,
    hasSystemd: systemdRuns(),
    isChanged,
    takenPorts: checks.filter(({ check }) => check === 'port').map(({ subject }) => subject),
    byHand: byHand(place, isDirect),
  })
  if (started.state === 'not started') tell('not yet', `the start: ${started.why}`)
  else tell(started.isNew ? 'started' : 'kept', `${serviceName}.service`)
  return started
}

/**
 * The command that runs the appliance as the unit does: as its user, who needs this capability for port
 * 25.
 */
function byHand({ dataDir, configFile, isSystem }: SetupPlace, isDirect: boolean): string {
  const serve = `posthorn serve --data ${dataDir} --config ${configFile}`
  if (!isSystem || !isDirect) return serve
  const right = '+net_bind_service'
  return `setpriv --reuid ${serviceName} --regid ${serviceName} --init-groups --inh-caps ${right} --ambient-caps ${right} ${serve}`
}

/**
 * Checks the domain's records, which are put to use as soon as they exist, and then all that the doctor examines.
 */
async function examineAll(
  { place, answers }: SetupWork,
  config: Config,
  { first }: MadeBySetup,
  isRunning: boolean,
): Promise<Finding[]> {
  if (!place.json && process.stdout.isTTY) say('\nAsking the doctor …')
  return asOwner(place, () =>
    withStore(place, async ({ store, clock }) => {
      const resolver = openResolver(config.dns, clock)
      const settings = await recordSettingsOf(store.read, config)
      await verifyDomain({ store, clock, resolver, settings }, first.account.id, answers.domain)
      const key = openApplianceKey(applianceKeyFile(place.dataDir))
      const { dataDir } = place
      const { random } = Math
      const deps = { config, dataDir, read: store.read, clock, resolver, key, random }
      const findings = await examine(deps)
      return isRunning ? findings : findings.map(beforeStart)
    }),
  )
}

/** Rewords a finding that only a running appliance can answer. */
function beforeStart(finding: Finding): Finding {
  if (finding.state !== 'fail' || !['listener', 'report'].includes(finding.check)) return finding
  return { ...finding, state: 'unchecked', found: 'the appliance does not run yet', fix: '' }
}
