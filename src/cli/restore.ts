import { existsSync, readFileSync, type Stats, statSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, Option } from 'commander'
import { counted, shownBytes } from '../amounts/index.js'
import { applianceKeyFile, configFile, restoreScratch } from '../app/files.js'
import { lockDataDir } from '../app/lock.js'
import {
  databaseName,
  hasDatabase,
  type Manifest,
  makeDirectory,
  manifestOf,
  openBackup,
  restoreBackup,
} from '../backup/index.js'
import { systemClock } from '../clock/index.js'
import { loadConfig } from '../config/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import { withoutSecrets } from '../store/index.js'
import { opening, passphraseHelp, plainOption } from './backup.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { jsonTime, remark, say, sayJson, shownTime, visibleLines } from './output.js'
import { becomeOwner, type CommandPlace, placeOf, storeSettingsOf } from './place.js'

/** Options of `posthorn restore`. */
interface RestoreOptions extends AskOptions {
  to?: string
  key?: string
  passphraseFile?: string
  plain?: true
}

/** `posthorn restore`: the way back of `posthorn backup`. */
export function restoreCommand(program: Command): void {
  addCommands(program, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'restore <file>',
    about: 'put a backup into a data directory on which no appliance runs',
    options: [
      ...askOptions(),
      new Option('--to <dir>', 'the directory (default: the data directory)'),
      new Option('--key <file>', 'the appliance key of a backup that was made without it'),
      new Option('--passphrase-file <file>', passphraseHelp),
      plainOption(),
    ],
    help: `Examples:
  $ posthorn restore posthorn-20261122T030000000Z.tar.gz --to /var/lib/posthorn
  $ posthorn queue held                      then: what waited when the backup was made

A database that is there is replaced after a question, or with --yes, and the old one is kept beside
it; --dry-run says what is in the backup. Everything is checked before it replaces anything; if the
command is ended before that, run it again. What waited at the time of the backup may have been sent
since: the next start holds it, and nothing of it leaves before 'posthorn queue release'; webhooks go
out only by 'posthorn webhook replay ID --failed'. What came in after the backup is not in it: mail,
unsubscribes, bounces.

A PostgreSQL is restored by who makes its backups; a backup of Posthorn has key and settings then, which
go into the data directory. A backup of SQLite comes into a PostgreSQL by a new directory:
  $ posthorn restore FILE --to DIR
  $ posthorn database copy --data DIR --to postgres://posthorn@db.example.net/posthorn`,
    run: runRestore,
  },
]

/**
 * The existing database is moved aside and not overwritten, and the backup is checked in full
 * before it gets its place: a restore is done on a bad day, and must not make it worse.
 */
async function runRestore(given: string, options: RestoreOptions, command: Command): Promise<void> {
  // Opened before the question and before the process becomes another user, as only root may be able to read
  // the file.
  const place = placeOf(command)
  const opened = opening(place, options)
  const file = await openBackup(resolve(given))
  try {
    await restoreFrom(file, given, { place, options, opened })
  } finally {
    await file.close()
  }
}

/** How the backup is restored. */
interface RestoreWith {
  place: CommandPlace
  options: RestoreOptions
  opened: ReturnType<typeof opening>
}

async function restoreFrom(
  file: FileHandle,
  given: string,
  { place, options, opened }: RestoreWith,
): Promise<void> {
  const { passphrase, onlyEncrypted } = opened
  const to = resolve(options.to ?? place.dataDir)
  const there = join(to, databaseName)
  // Also undefined if `to` is a file, which is refused below.
  const database = existsSync(there) ? statSync(there) : undefined
  const server = serverOf(place, to)
  if (options.dryRun || database !== undefined || server !== undefined) {
    const manifest = options.dryRun
      ? await manifestOf(resolve(given), passphrase, { onlyEncrypted })
      : undefined
    if (!(await confirmed(place, options, restoringOf(to, { database, server }, manifest)))) return
  }
  const givenKey = options.key === undefined ? undefined : readKey(resolve(options.key))
  await makeDirectory(to)
  becomeOwner({ ...place, dataDir: to })
  // Throws where an appliance serves this directory.
  const unlock = lockDataDir(to)
  try {
    const { manifest, keptIn, etcIn } = await restoreBackup(file, {
      to,
      scratch: restoreScratch(to),
      replace: database !== undefined,
      givenKey,
      passphrase,
      onlyEncrypted,
      name: resolve(given),
      clock: systemClock,
    })
    const madeAt = Date.parse(manifest.madeAt)
    const settings = [
      ...(manifest.files.some(({ name }) => name === 'data/posthorn.toml') ? [configFile(to)] : []),
      ...(etcIn === undefined ? [] : [configFile(etcIn)]),
    ]
    const programs = settings.flatMap(programsOf)
    if (place.json) {
      return sayJson({
        dataDir: to,
        madeAt: jsonTime(madeAt),
        keptIn: keptIn ?? null,
        etcIn: etcIn ?? null,
        programs,
        rows: manifest.rows,
      })
    }
    say(`Restored to ${to}, as it was at ${shownTime(madeAt)}`)
    if (keptIn !== undefined) say(`What was there before is in ${keptIn}`)
    if (etcIn !== undefined)
      say(
        `The files of /etc/posthorn are in ${etcIn}: put them there, or name its posthorn.toml by --config`,
      )
    for (const program of programs) {
      remark(
        `The settings of the backup run ${visibleLines(program)}: if it was in the hands of others, look at ${settings.join(' and ')} before the start`,
      )
    }
    remark(
      !hasDatabase(manifest)
        ? 'The backup has the key and the settings; its database is a PostgreSQL, which is restored by who makes its backups'
        : "The next start holds the mail that waited then, as it may have been sent since: 'posthorn queue held' lists it, 'queue release' sends it",
    )
  } finally {
    unlock()
  }
}

/** Read now, while this may still be root. */
function readKey(file: string): { bytes: Buffer; file: string } {
  try {
    return { bytes: readFileSync(file), file }
  } catch (cause) {
    throw new OperatorError(`Cannot read the appliance key of --key: ${messageOf(cause)}`, {
      cause,
    })
  }
}

/** The address of the PostgreSQL that this directory's appliance uses; undefined without one. */
function serverOf(place: CommandPlace, to: string): string | undefined {
  if (!existsSync(applianceKeyFile(to))) return undefined
  const own = configFile(to)
  const others = to === place.dataDir ? place.configFile : undefined
  const { url } = storeSettingsOf({ configFile: existsSync(own) ? own : others })
  return url === '' ? undefined : url
}

/** The age and the number of rows are what shows a wrong file. */
function restoringOf(
  to: string,
  { database, server }: { database: Stats | undefined; server: string | undefined },
  manifest?: Manifest,
): Intent {
  const rows = manifest && Object.values(manifest.rows).reduce((sum, count) => sum + count, 0)
  return {
    to: `put the backup into ${to}`,
    facts: [
      ...(manifest === undefined
        ? []
        : [
            `It was made ${shownTime(Date.parse(manifest.madeAt))} and has ${counted(rows ?? 0, 'row')}`,
          ]),
      ...(server === undefined
        ? []
        : [
            `The appliance there keeps everything in the PostgreSQL ${withoutSecrets(server)}. Its key and its settings are replaced, and the old ones kept beside: with a backup of SQLite it starts from the file, and no more from there`,
          ]),
      database === undefined
        ? `No database ${server === undefined ? 'is there yet' : 'is in the directory itself'}`
        : `The database that is there (${shownBytes(database.size)}, written ${shownTime(database.mtimeMs)}) is replaced, and the old one is kept beside it`,
    ],
    counts: {
      dataDir: to,
      databaseBytes: database?.size ?? null,
      ...(manifest && { madeAt: manifest.madeAt, rows: manifest.rows }),
    },
    how: 'moderate',
  }
}

/** The programs that settings name, whoever wrote the settings: `backup.hook: rclone copy …`. */
function programsOf(file: string): string[] {
  let config: ReturnType<typeof loadConfig>
  try {
    config = loadConfig({ env: {}, file })
  } catch {
    // The start tells what is wrong with such settings, and runs nothing.
    return []
  }
  const { backup, operator } = config
  return Object.entries({ 'backup.hook': backup.hook, 'operator.command': operator.command })
    .filter(([, words]) => words.length > 0)
    .map(([name, words]) => `${name}: ${JSON.stringify(words)}`)
}
