import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { listAccounts } from '../accounts/index.js'
import { applianceKeyFile } from '../app/files.js'
import { systemClock } from '../clock/index.js'
import { openApplianceKey, packageFile } from '../config/index.js'
import type { Finding } from '../doctor/index.js'
import { listDomains } from '../domains/index.js'
import {
  endTrial,
  type First,
  type FoundSettings,
  findUser,
  hasUnit,
  installUnit,
  type MachineFacts,
  makeFirst,
  makeUser,
  ownUnitFile,
  refuseWaitingTrial,
  type SetupAnswers,
  sandboxAnswers,
  serviceName,
  settingsDifferences,
  settingsText,
  systemdRuns,
  userCommand,
} from '../setup/index.js'
import { withStore } from './database.js'
import { firstLink } from './first-link.js'
import { say, styled } from './output.js'
import { actAsOwner, databaseOf, lastingPath, settingsOf } from './place.js'
import type { SetupOptions } from './setup-answers.js'
import type { SetupPlace } from './setup-place.js'
import { sayStep, sayTitle } from './setup-screens.js'

/** What the steps work with. */
export interface SetupWork {
  place: SetupPlace
  options: SetupOptions
  answers: SetupAnswers
  found: FoundSettings
  facts: MachineFacts
  /** The machine was tried in sandbox mode, and now becomes a server. */
  endsTrial: boolean
  checks: readonly Finding[]
}

/** What the steps have made, or found there. */
export interface MadeBySetup {
  settings: 'written' | 'written anew' | 'kept'
  /** Where the kept settings differ from the options. */
  differences: string[]
  first: First
  /** The first operator opens it; undefined if somebody can log in already. */
  setupUrl: string | undefined
}

/** A step as `--dry-run` shows it. */
interface PlannedStep {
  verb: string
  what: string
  /** The contents of a file that would be written. */
  detail?: string
}

/** The settings that would be written, with paths that outlast an upgrade. */
export const textOf = ({ answers, facts }: Pick<SetupWork, 'answers' | 'facts'>) =>
  settingsText(answers, {
    ownAddresses: facts.addresses,
    example: lastingFile('config/posthorn.example.toml'),
  })

/** A file of the release, by a path that stays right after an upgrade. */
export const lastingFile = (name: string) => lastingPath(packageFile(name))

/** Lists the steps without doing them. */
export async function planOf(work: SetupWork): Promise<PlannedStep[]> {
  const { place, options, answers } = work
  const { dataDir, configFile, isSystem } = place
  const starts = isSystem && options.start
  const steps: (PlannedStep | false)[] = [
    isSystem &&
      findUser() === undefined && {
        verb: 'make',
        what: `the user ${serviceName}`,
        detail: userCommand.join(' '),
      },
    work.found !== 'theirs'
      ? { verb: 'write', what: configFile, detail: textOf(work) }
      : { verb: 'keep', what: `${configFile}, which is your own` },
    existsSync(applianceKeyFile(dataDir))
      ? { verb: 'keep', what: `${dataDir}: database and keys` }
      : { verb: 'make', what: `${dataDir}: database and keys` },
    work.endsTrial && {
      verb: 'remove',
      what: `the trial's domain ${sandboxAnswers.domain}, and its names`,
    },
    { verb: 'make', what: `an account with an API key, and ${answers.domain} with its DKIM keys` },
    isSystem && !hasUnit() && { verb: 'write', what: ownUnitFile },
    starts &&
      (systemdRuns()
        ? { verb: 'run', what: `systemctl enable --now ${serviceName}` }
        : {
            verb: 'leave',
            what: 'the start, as systemd does not run here: setup names the command',
          }),
    answers.route === 'direct' && { verb: 'run', what: 'posthorn doctor' },
  ]
  return steps.filter((step) => step !== false)
}

/** Makes what does not exist yet. Each step may be repeated, so that a run after a broken one goes on. */
export async function makeAll(work: SetupWork): Promise<MadeBySetup> {
  const { place, options, answers } = work
  const tell = place.json ? () => {} : sayStep
  // Before the settings change: a run after a kill knows by them that this was a trial.
  const removed = work.endsTrial ? await takeTrialAway(work) : []
  if (!place.json) sayTitle('Done')
  const isNew = !existsSync(applianceKeyFile(place.dataDir))
  makeDirs(place, isNew, tell)
  for (const one of removed) tell('removed', one)
  const settings = writeSettings(work)
  tell(settings === 'kept' ? 'kept' : 'written', place.configFile)
  const differ = work.found === 'theirs' ? settingsDifferences(settingsOf(place), given(work)) : []
  for (const one of differ) tell('', styled('yellow', `differs: ${one}`))
  const first = await asOwner(place, async () => {
    const { makeDatabase } = await import('../app/own-database.js')
    await makeDatabase(databaseOf(place), systemClock)
    tell(isNew ? 'made' : 'kept', `${place.dataDir}: database and keys`)
    return firstOf(place, answers, options.account)
  })
  const { account, domain, domainIsNew, apiKey } = first
  tell(account.isNew ? 'made' : 'kept', `account ${account.name}`)
  tell(domainIsNew ? 'added' : 'kept', `${domain.name}, with its DKIM keys`)
  if (apiKey === undefined) tell('kept', "its API key ('posthorn key create NAME' makes another)")
  else if (!place.json) {
    tell('made', 'its API key; keep it now, it is not shown again:')
    say(`\n            ${styled('bold', apiKey)}\n`)
    keyIsShown(place)
  }
  if (place.isSystem && !hasUnit()) {
    installUnit(packageFile('systemd/posthorn.service'), lastingFile('bin/posthorn'))
    tell('written', ownUnitFile)
  }
  const setupUrl = await asOwner(place, () => firstLink(place))
  return { settings, differences: differ, first, setupUrl }
}

function takeTrialAway({ place, options, answers }: SetupWork): Promise<string[]> {
  return asOwner(place, () =>
    withStore(place, async (deps) => {
      await refuseWaitingTrial(deps.store.read)
      return endTrial(deps, options.account ?? answers.domain)
    }),
  )
}

/** Says what was done; silent with --json. */
type Tell = (verb: string, what: string) => void

/** The directories, and the user that they belong to. */
function makeDirs({ dataDir, configFile, isSystem }: SetupPlace, isNew: boolean, tell: Tell): void {
  if (!isSystem) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    return
  }
  let user = findUser()
  if (user === undefined) {
    user = makeUser()
    tell('made', `user ${serviceName}`)
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (isNew) chownSync(dataDir, user.uid, user.gid)
  const configDir = dirname(configFile)
  if (existsSync(configDir)) return
  mkdirSync(configDir, { recursive: true })
  // Whatever the umask: the service has to read the directory, which holds no secrets.
  chmodSync(configDir, 0o755)
}

/** In one move: a kill leaves the old file or the new one, and never half a file that would pass for a person's. */
function writeSettings(work: SetupWork): MadeBySetup['settings'] {
  const { place, found } = work
  const { configFile, isSystem } = place
  const text = textOf(work)
  if (found === 'theirs') return 'kept'
  if (found === 'ours' && readFileSync(configFile, 'utf8') === text) return 'kept'
  const asBefore = isSystem ? () => {} : actAsOwner(place)
  try {
    const scratch = `${configFile}.new`
    // A killed run may have left the file, and `wx` refuses an existing one, so that no link is
    // followed.
    rmSync(scratch, { force: true })
    writeFileSync(scratch, text, { flag: 'wx', flush: true, mode: 0o600 })
    if (isSystem) chmodSync(scratch, 0o644)
    renameSync(scratch, configFile)
  } finally {
    asBefore()
  }
  return found === 'none' ? 'written' : 'written anew'
}

/** The answers given by options, from which kept settings may differ. */
function given({ answers, options }: SetupWork): Partial<SetupAnswers> {
  if (options.sandbox) return { route: 'sandbox' }
  const { hostName, address, operator, acme, knownSender } = options
  return {
    ...(hostName !== undefined && { hostName }),
    ...(address !== undefined && { addresses: address.split(/[\s,]+/) }),
    ...(operator !== undefined && { operator }),
    ...(acme !== undefined && { certificates: acme ? 'acme' : 'proxy' }),
    ...(knownSender !== undefined && { isKnownSender: knownSender }),
    route: answers.route,
  }
}

// While this file exists, there may be an API key that nobody has seen.
const unseenKey = (dataDir: string) => join(dataDir, 'setup.unfinished')

/**
 * The key is shown once. A file marks a key that was made and not yet seen, so that a run after a
 * broken one makes another instead of ending with a key that nobody knows.
 */
async function firstOf(
  place: SetupPlace,
  { domain, route }: SetupAnswers,
  account: string | undefined,
): Promise<First> {
  const key = openApplianceKey(applianceKeyFile(place.dataDir))
  const wasBrokenOff = existsSync(unseenKey(place.dataDir))
  writeFileSync(unseenKey(place.dataDir), '', { mode: 0o600 })
  const wanted = { domain, account, trust: route === 'sandbox', wasBrokenOff }
  return withStore(place, (deps) => makeFirst({ ...deps, key }, wanted))
}

/** Removes the mark: the next run need not make another key. */
export function keyIsShown(place: SetupPlace): void {
  rmSync(unseenKey(place.dataDir), { force: true })
}

/** The domain that an earlier run added; undefined if none can be read. */
export async function knownDomain(place: SetupPlace): Promise<string | undefined> {
  if (!existsSync(applianceKeyFile(place.dataDir))) return undefined
  return asOwner(place, async () => {
    const { findDatabase, schemaState } = await import('../store/index.js')
    if ((await findDatabase(databaseOf(place))).kind !== 'there') return undefined
    if ((await schemaState(databaseOf(place))).kind !== 'same') return undefined
    return withStore(place, async ({ store: { read } }) => {
      for (const { id } of await listAccounts(read)) {
        const [domain] = (await listDomains(read, id)).filter(
          ({ name }) => name !== sandboxAnswers.domain,
        )
        if (domain !== undefined) return domain.name
      }
      return undefined
    })
  })
}

/** Works as the data directory's owner, then becomes the former user again. */
export async function asOwner<T>(place: SetupPlace, work: () => Promise<T>): Promise<T> {
  const asBefore = actAsOwner(place)
  try {
    return await work()
  } finally {
    asBefore()
  }
}
