import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../errors/index.js'
import { type SchemaState, sayUnreleased, tryLockFile, whyNotBeside } from '../store/index.js'
import { upgradeLock } from './hold.js'
import { type Journal, readJournal } from './journal.js'
import { commandOf, type Release } from './layout.js'
import { refuseFullDisk, refuseUntimely } from './look-first.js'
import { runWell } from './run.js'
import { goBack, goForward, resume, type SwitchDeps, type Switched } from './switch.js'
import { type Placed, placeRelease, type ReleaseSource } from './unpack.js'
import { compareVersions, type Machine } from './verify.js'

export interface UpgradeDeps extends SwitchDeps {
  dataDir: string
  machine: Machine
  /** What can be said about the database's schema without knowing the migrations. */
  readState(): Promise<SchemaState>
  /** The database is on a server: nothing here can put it back as it was. */
  isOnServer: boolean
}

export interface UpgradeOptions {
  /** A file or folder with a release, or the release that was in use before this one. */
  source: ReleaseSource | 'previous'
  backup: boolean
  /** Asked before anything of an uncompared release is run: whether to go on. */
  trust(release: string): Promise<boolean>
  /** Asked when everything is checked, before anything is changed: whether to go on. */
  confirm(plan: UpgradePlan): Promise<boolean>
}

export interface UpgradePlan {
  /** Undefined: none is installed. */
  from: string | undefined
  to: string
  migrates: boolean
  /** The database is on a server, where the earlier release can go on working with it. */
  isOnServer: boolean
  /** The appliance runs, and is stopped for a while. */
  running: boolean
}

export type Upgraded =
  | Switched
  /** Nothing ran that had to be stopped: the new release is used from the next start on. */
  | { kind: 'installed'; plan: UpgradePlan; backup: string | undefined }
  | { kind: 'not confirmed' }
  | { kind: 'in use'; name: string }

/**
 * Runs `work` while no other upgrade of this prefix or this data directory runs; OperatorError where one does. The lock
 * in the data directory tells the appliance. The appliance's user may remove that lock, but not the one in the prefix.
 */
export async function whileAlone<T>(
  { layout: { prefix }, dataDir, asOwner }: Pick<UpgradeDeps, 'layout' | 'dataDir' | 'asOwner'>,
  work: () => Promise<T>,
): Promise<T> {
  const unlocks: (() => void)[] = []
  const lock = (of: string, unlock: (() => void) | undefined) => {
    if (unlock !== undefined) return unlocks.push(unlock)
    throw new OperatorError(`Another 'posthorn upgrade' of ${of} is under way: wait for it`)
  }
  try {
    lock(prefix, lockPrefix(prefix))
    if (existsSync(dataDir))
      lock(
        dataDir,
        asOwner(() => tryLockFile(upgradeLock(dataDir))),
      )
    return await work()
  } finally {
    for (const unlock of unlocks.reverse()) unlock()
  }
}

function lockPrefix(prefix: string) {
  mkdirSync(prefix, { recursive: true, mode: 0o755 })
  const file = join(prefix, 'upgrade.lock')
  // Whoever may read a file may also lock it.
  closeSync(openSync(file, 'a', 0o600))
  return tryLockFile(file)
}

/** Finishes what a killed upgrade has left, or undoes it; undefined where there was none. */
export async function finishBroken(
  deps: UpgradeDeps,
  { back = false } = {},
): Promise<Switched | undefined> {
  const journal = readJournal(deps.layout.prefix)
  if (journal === undefined) return undefined
  if (journal.dataDir !== deps.dataDir) {
    throw new OperatorError(
      `An upgrade of ${journal.dataDir} was broken off, and this one is of ${deps.dataDir}: run it with --data ${journal.dataDir}`,
    )
  }
  if (back) {
    const done = await goBack(deps, journal, journal.why ?? 'the operator went back')
    return done.kind === 'went back' ? { ...done, asked: true } : done
  }
  return await resume(deps, journal)
}

/** Installs a release and switches to it. Everything is checked before anything is changed. */
export async function upgrade(deps: UpgradeDeps, options: UpgradeOptions): Promise<Upgraded> {
  const { layout, dataDir, service } = deps
  const from = layout.current()
  const before = layout.all().map(({ name }) => name)
  const { release, checked } = await chosen(deps, options.source)
  const { name: to } = release
  const drop = () => {
    if (!before.includes(to)) layout.keepOnly(layout.previous())
  }
  if (to === from) return { kind: 'in use', name: to }
  try {
    if (!checked && !(await options.trust(to))) {
      drop()
      return { kind: 'not confirmed' }
    }
    const migrates = await checkRelease(deps, release, from)
    const running = await service.isActive()
    if (!running && deps.isServed()) {
      throw new OperatorError(
        `An appliance runs on ${dataDir} that the service manager does not know: stop it first, or name its service by --service`,
      )
    }
    const { isOnServer } = deps
    const plan: UpgradePlan = { from, to, migrates, isOnServer, running }
    // On a server, the new release's start adds its tables and columns to the database, and they stay.
    const isCopied = migrates && !isOnServer
    if (running) await refuseUntimely(deps, isCopied)
    if (!(await options.confirm(plan))) {
      drop()
      return { kind: 'not confirmed' }
    }
    const backup = options.backup ? await backUp(deps, from ?? to) : undefined
    // The backup may lie on the same disk.
    if (running) await refuseFullDisk(deps, isCopied)
    if (from === undefined || !running) {
      layout.switchTo(to)
      layout.keepOnly(from)
      return { kind: 'installed', plan, backup }
    }
    const journal: Journal = {
      dataDir,
      from,
      to,
      direction: 'forward',
      step: 'stop',
      migrates: isCopied,
      backup: backup ?? null,
    }
    return await goForward(deps, journal)
  } catch (error) {
    // Nothing was changed yet: an upgrade that has begun has a journal, and ends with a result or its own message.
    if (readJournal(layout.prefix) === undefined && layout.current() === from) drop()
    throw error
  }
}

async function chosen(
  { layout, machine }: UpgradeDeps,
  source: UpgradeOptions['source'],
): Promise<Placed> {
  if (source !== 'previous') return await placeRelease(layout, source, machine)
  const name = layout.previous()
  const release = name === undefined ? undefined : layout.find(name)
  if (release === undefined) {
    throw new OperatorError(
      `There is no release in ${layout.prefix} to go back to: 'posthorn upgrade FILE' installs one`,
    )
  }
  return { release, checked: true }
}

/**
 * Asks the new release itself whether it starts here, accepts the settings and reads the database; true if it will
 * migrate the database.
 */
async function checkRelease(
  { layout, dataDir, placeOptions, readState }: UpgradeDeps,
  { name, version }: Release,
  from: string | undefined,
): Promise<boolean> {
  const command = commandOf(layout.treeOf(name))
  const said = await runWell(command, ['version', '--json'])
  const told = JSON.parse(said) as { version: string; schema: string }
  if (told.version !== version) {
    throw new OperatorError(`${command} says that it is ${told.version}, and not ${version}`)
  }
  if (!existsSync(dataDir)) return false
  const { kind, schema, writtenBy, rolling } = await readState()
  if (schema === undefined) return false
  if (kind === 'unreleased') throw new OperatorError(sayUnreleased({ dataDir }))
  await runWell(command, ['config', 'check', ...placeOptions])
  const whyNot = rolling && whyNotBeside(rolling, told.schema)
  if (rolling !== undefined && told.schema < schema) {
    if (whyNot === undefined) return false
    const cause =
      whyNot === 'contracted'
        ? `'posthorn database contract' has taken away what it needs`
        : 'it is two schemas behind, and only one may be beside the next'
    throw new OperatorError(
      `${name} cannot read the database (schema ${schema}): it knows no schema after ${told.schema}, and ${cause}`,
    )
  }
  if (told.schema < schema) {
    const old = from === undefined ? undefined : layout.find(from)
    const isOlder = old !== undefined && compareVersions(version, old.version) < 0
    const which = isOlder ? `${name} is older than ${from}, and` : name
    throw new OperatorError(
      `${which} cannot read the database in ${dataDir}: it knows no schema after ${told.schema}, and ${writtenBy ?? 'the one in use'} has written ${schema}. To go back all the same, stop the service and restore the backup that was made before that upgrade ('posthorn backup list') by that release's own command, '${command} restore FILE --yes', then run this again; what came since is lost`,
    )
  }
  return told.schema > schema
}

/** Lets the release that wrote the database back it up, where and as the settings say. */
async function backUp(deps: UpgradeDeps, by: string): Promise<string | undefined> {
  const { layout, dataDir, placeOptions, readState } = deps
  const has = existsSync(dataDir) && (await readState()).schema
  if (!has) return undefined
  const command = commandOf(layout.treeOf(by))
  const { file } = JSON.parse(await runWell(command, ['backup', '--json', ...placeOptions])) as {
    file: string
  }
  return file
}
