import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { isServed } from '../app/lock.js'
import { systemClock } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import {
  checkFile,
  finishBroken,
  isPackaged,
  type Layout,
  makeLayout,
  makeService,
  readJournal,
  runWell,
  type Switched,
  type SwitchProgress,
  type SwitchStep,
  thisMachine,
  type UpgradeDeps,
  type Upgraded,
  type UpgradePlan,
  upgrade,
  whileAlone,
} from '../release/index.js'
import { readSchemaState, schemaState } from '../store/index.js'
import { askAppliance } from './ask.js'
import { addCommands, type CommandRow } from './command-row.js'
import { askOptions, confirmed } from './confirm.js'
import { wholeNumber } from './option-values.js'
import { remark, say, sayFields, sayJson, warn } from './output.js'
import { actAsOwner, type CommandPlace, databaseOf, placeOf } from './place.js'

/** Options of `posthorn upgrade`. */
interface Options {
  back?: true
  sha256?: string
  backup: boolean
  timeout: number
  prefix: string
  service: string
  manager: string
  yes?: true
  dryRun?: true
}

/** `posthorn upgrade`: from one release to another and back, on one machine. */
export function upgradeCommand(program: Command): void {
  addCommands(program, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'upgrade [file]',
    about: 'install another release and switch to it, or say what is installed',
    options: [
      new Option('--back', 'go back to the release before, or give up one that was broken off'),
      new Option(
        '--sha256 <sum>',
        'the SHA-256 that the file must have (else of FILE.sha256 beside it)',
      ),
      new Option('--no-backup', 'make no backup first'),
      new Option('--timeout <seconds>', 'how long the new release may take to be healthy')
        .default(600)
        .argParser(wholeNumber(1, 999_999)),
      new Option('--prefix <dir>', 'where releases are installed').default('/usr/lib/posthorn'),
      new Option('--service <name>', 'the service that runs the appliance').default('posthorn'),
      new Option(
        '--manager <program>',
        "what starts and stops it, called as 'PROGRAM stop NAME'",
      ).default('systemctl'),
      ...askOptions(),
    ],
    help: `Examples:
  $ posthorn upgrade                                    what is installed, and what was broken off
  $ posthorn upgrade posthorn-0.2.0-linux-x64.tar.xz    or a .deb, or a folder with a release
  $ posthorn upgrade posthorn_0.2.0_amd64.deb --dry-run
  $ posthorn upgrade --back

All is checked before anything is stopped: the file, that the release starts on this machine, takes the settings
and reads the database; then a backup is made. The new release starts without taking or sending anything; when it is
healthy it begins, and if not, the old one is started again, with its database as it was. If this
command is killed, run it again: it finishes, or goes back. If the new release cannot even run it, run the one
of the old release: /usr/lib/posthorn/VERSION/bin/posthorn upgrade --back.`,
    run: runUpgrade,
  },
]

/**
 * Without a file it tells what is installed, and finishes or undoes a killed upgrade: an operator
 * who comes back to a machine does not know which of these it needs.
 */
async function runUpgrade(
  file: string | undefined,
  options: Options,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const deps = depsOf(place, options)
  if (options.back && file !== undefined) {
    command.error('error: --back goes back to the release before: it takes no file')
  }
  if (options.sha256 !== undefined && file === undefined) {
    command.error('error: --sha256 is the sum of a file: name that too')
  }
  if (file?.endsWith('.deb') && !options.dryRun && (await isPackaged())) {
    return await byPackage(place, resolve(file), options)
  }
  const isLook = file === undefined && !options.back
  if (isLook && readJournal(deps.layout.prefix) === undefined) {
    return showInstalled(place, deps.layout)
  }
  await whileAlone(deps, async () => {
    if (await finish(place, deps, { ...options, isAlone: file === undefined })) return
    if (isLook) return showInstalled(place, deps.layout)
    const source = file === undefined ? 'previous' : { file: resolve(file), sha256: options.sha256 }
    const done = await upgrade(deps, {
      source,
      backup: options.backup,
      trust: (release) => trusted(place, options, release, file ?? release),
      confirm: (plan) => confirmed(place, options, intentOf(plan)),
    })
    sayDone(place, done)
  })
}

/**
 * Files in the data directory are made as its owner, and everything else as root: the appliance
 * does not run as root, and could not open root's files there.
 */
function depsOf(place: CommandPlace, { prefix, service, manager, timeout }: Options): UpgradeDeps {
  const { dataDir, configFile } = place
  const asOwner = <T>(work: () => T): T => {
    const back = actAsOwner(place)
    try {
      return work()
    } finally {
      back()
    }
  }
  // When the appliance was stopped, to tell for how long it took no mail.
  let stoppedAt = 0
  return {
    dataDir,
    asOwner,
    isOnServer: databaseOf(place).url !== undefined,
    async readState() {
      const database = databaseOf(place)
      if (database.url !== undefined) return await schemaState(database)
      return asOwner(() => readSchemaState(dataDir, { names: [], contracting: new Set() }))
    },
    clock: systemClock,
    timeoutMs: timeout * 1_000,
    layout: makeLayout(resolve(prefix)),
    service: makeService(manager, service),
    machine: thisMachine(),
    placeOptions: [
      '--data',
      dataDir,
      ...(configFile === undefined ? [] : ['--config', configFile]),
    ],
    isServed: () => asOwner(() => isServed(dataDir)),
    async appliance() {
      const overview = (await askAppliance(place, { overview: true }))?.overview
      if (overview === undefined) return undefined
      const api = overview.listeners.find(({ name }) => name === 'API')?.at
      return { release: overview.release ?? overview.version, api }
    },
    tell(progress) {
      const now = systemClock.now()
      if (progress.state === 'begins') {
        const line = lineOf(progress)
        if (line !== undefined) remark(line)
        if (progress.step === 'stop') {
          stoppedAt = now
          goOnAfterSignals()
        }
      } else if (progress.step === 'release' && stoppedAt > 0) {
        remark(`Nothing was taken or sent for ${((now - stoppedAt) / 1_000).toFixed(1)} s`)
      }
    },
  }
}

/**
 * From the stop on nothing serves until the upgrade has ended, so neither Ctrl-C nor a broken connection ends it. A
 * step that they break fails, and the old release comes back.
 */
function goOnAfterSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () =>
      remark(`${signal}: it goes on, as no mail is taken until it has ended`),
    )
  }
  // The terminal may be gone.
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    stream.on('error', () => {})
  }
}

/** The text of a step; undefined for steps that nobody needs to know of. */
function lineOf({
  step,
  journal: { from, to, migrates, why },
}: SwitchProgress): string | undefined {
  const lines: Partial<Record<SwitchStep | 'back', string>> = {
    stop: `Stopping ${from}`,
    ...(migrates ? { copy: 'Copying the database', migrate: 'Bringing it up to date' } : {}),
    switch: `Switching to ${to}`,
    judge: 'Waiting until it is healthy',
    back: `Going back to ${from}: ${why}`,
  }
  return lines[step]
}

/** Deals first with what a killed upgrade left; true when nothing else was asked for. */
async function finish(
  place: CommandPlace,
  deps: UpgradeDeps,
  options: Options & { isAlone: boolean },
): Promise<boolean> {
  const journal = readJournal(deps.layout.prefix)
  if (journal === undefined) return false
  const { from, to } = journal
  const isBack = options.back === true || journal.direction === 'back'
  remark(`An upgrade from ${from} to ${to} was broken off (${journal.direction}, ${journal.step})`)
  const doing = isBack ? `go back to ${from}` : `finish it, and go back to ${from} if it fails`
  if (!(await confirmed(place, options, { to: doing, facts: [], how: 'moderate' }))) return true
  const done = await finishBroken(deps, { back: isBack })
  if (done === undefined) return false
  if (options.isAlone) sayDone(place, done)
  else if (done.kind === 'went back' && !isBack) throw wentBack(done)
  return options.isAlone
}

/** dpkg unpacks the package, whose script comes back here with a folder. */
async function byPackage(place: CommandPlace, file: string, { sha256, ...options }: Options) {
  const checked = await checkFile(file, sha256)
  if (!checked && options.yes) warn(unchecked(file))
  const facts = [
    'dpkg installs the package, which switches to its release',
    ...(checked ? [] : [unchecked(file)]),
  ]
  if (!(await confirmed(place, options, { to: `install ${file}`, facts, how: 'moderate' }))) return
  const said = await runWell('dpkg', ['--install', file])
  if (place.json) sayJson({ result: 'installed by dpkg', file })
  else say(said.trimEnd())
}

/** Said in the question, or as a warning if there is no question. */
const unchecked = (file: string) =>
  `${file} was not checked against anything: no --sha256, FILE.sha256 or SHA256SUMS says whose bytes these are`

/** Asks first, as the release's own program is run to examine it, with this command's rights. */
async function trusted(place: CommandPlace, options: Options, release: string, file: string) {
  if (options.yes) {
    warn(unchecked(file))
    return true
  }
  return await confirmed(place, options, {
    to: `run ${release} of ${file}, to see whether it fits`,
    facts: [unchecked(file)],
    how: 'moderate',
  })
}

/** The question before anything is stopped, with what it means for the way back. */
function intentOf({ from, to, migrates, isOnServer, running }: UpgradePlan) {
  const facts = [
    running
      ? 'The appliance is stopped for some seconds, and goes back to the old release by itself if the new one is not healthy'
      : 'No appliance runs: the next start is of that release',
    migrates && isOnServer
      ? "The database, which is on a server, is added to by the new release: the old one works beside that, and --back leads to it, until 'posthorn database contract'"
      : migrates
        ? `The database is brought up to date; ${running ? 'a copy is kept until the new release is healthy' : 'the old release does not read it then'}`
        : 'The database stays as it is, so that --back works later too',
  ]
  const what = from === undefined ? `install ${to}` : `upgrade from ${from} to ${to}`
  return {
    to: what,
    facts,
    counts: { from: from ?? null, to, migrates, running },
    how: 'moderate' as const,
  }
}

/** How it ended. An upgrade that was undone is an error, unless the operator wanted that. */
function sayDone(place: CommandPlace, done: Upgraded) {
  switch (done.kind) {
    case 'not confirmed':
      return
    case 'in use':
      if (place.json) return sayJson({ result: 'in use', release: done.name })
      return say(`${done.name} is in use already`)
    case 'installed': {
      const { from, to } = done.plan
      if (place.json) {
        return sayJson({ result: 'installed', from: from ?? null, to, backup: done.backup ?? null })
      }
      say(`${to} is installed${from === undefined ? '' : ` in the place of ${from}`}`)
      if (done.backup !== undefined) say(`The backup of before is ${done.backup}`)
      return
    }
    case 'upgraded': {
      const { from, to, backup } = done.journal
      if (place.json) return sayJson({ result: 'upgraded', from, to, backup })
      say(`${to} runs; ${from} was before it`)
      if (backup !== null) say(`The backup of before is ${backup}`)
      return
    }
    case 'went back': {
      const { from, to, direction } = done.journal
      if (!done.asked) throw wentBack(done)
      if (place.json) return sayJson({ result: 'went back', from: to, to: from, direction })
      return say(`${from} runs again, with its database as it was`)
    }
  }
}

/**
 * An error although everything is as before: the upgrade did not happen, and scripts look at the
 * status.
 */
function wentBack({
  journal: { from, to, backup },
  why,
}: Extract<Switched, { kind: 'went back' }>) {
  const kept = backup === null ? '' : `. The backup of before is ${backup}`
  return new OperatorError(
    `The upgrade to ${to} was undone: ${why}. ${from} runs again, with its database as it was; nothing that was accepted is lost${kept}`,
  )
}

/** Shows which releases are on this machine, and which one is in use. */
function showInstalled({ json, dataDir }: CommandPlace, layout: Layout) {
  const [current, previous] = [layout.current(), layout.previous()]
  const all = layout.all().map(({ name }) => name)
  if (json) {
    return sayJson({
      prefix: layout.prefix,
      current: current ?? null,
      previous: previous ?? null,
      releases: all,
      dataDir,
    })
  }
  if (current === undefined) return say(`No release is installed in ${layout.prefix}`)
  sayFields({
    'In use': `${current} (${layout.treeOf(current)})`,
    Before: previous ?? 'none',
    ...(all.length > 2 ? { 'Also there': all.filter((name) => name !== current).join(', ') } : {}),
    'Data directory': dataDir,
  })
}
