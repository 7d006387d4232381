import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { type Command, Option } from 'commander'
import { shownBytes } from '../amounts/index.js'
import { applianceKeyFile } from '../app/files.js'
import {
  askArchive,
  type BackupStage,
  checkPassphrase,
  findBackups,
  hasDatabase,
  type MadeBackup,
  makeBackup,
  passphraseOf,
  readPublicHead,
  verifyBackup,
} from '../backup/index.js'
import { systemClock } from '../clock/index.js'
import { keyNameOf } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { jsonTime, remark, say, sayFields, sayJson, sayTable, shownTime } from './output.js'
import {
  becomeOwner,
  type CommandPlace,
  databaseOf,
  placeOf,
  requireDataDir,
  settingsOf,
} from './place.js'

/** Options of `posthorn backup`. */
interface MakeOptions {
  withoutKey?: boolean
  withKey?: boolean
  compress?: boolean
  encrypt?: boolean
  passphraseFile?: string
}

/** The same words in help of `backup` and `restore`. */
export const passphraseHelp =
  'a file whose first line is the passphrase (else POSTHORN_BACKUP_PASSPHRASE)'

/** Where a passphrase is set, a file that is not encrypted may come from anybody. */
export const plainOption = () =>
  new Option('--plain', 'take one that is not encrypted, though a passphrase is set')

/**
 * `posthorn backup`: makes a backup when it is called alone, and has `verify` and `list` below it.
 */
export function backupCommands(program: Command): void {
  const backup = program
    .command('backup [dir]')
    .description('make a backup, while the appliance runs or not; check and list backups')
    .option('--without-key', 'leave the appliance key out, to be kept apart')
    .option('--with-key', 'put the appliance key in, whatever backup.with_key says')
    .option('--no-compress', 'do not compress it')
    .option('--encrypt', 'encrypt it, with a passphrase that is asked for if none is given')
    .option('--passphrase-file <file>', `encrypt it with ${passphraseHelp}`)
    .addHelpText(
      'after',
      `
Examples:
  $ posthorn backup                          into backup.dir, else 'backups' in the data directory
  $ posthorn backup /mnt/other --encrypt
  $ posthorn backup verify /mnt/other/posthorn-20261122T030000000Z.tar.gz
  $ posthorn restore FILE                    its way back

One file has everything: a copy of the database (but of a PostgreSQL, whose backups are of its own), checked, the operator's files, and the appliance key,
without which the database is worth little; so whoever reads the file can sign as your domains. Encrypt it,
or leave the key out by --without-key (backup.with_key) and keep a copy of it apart: it never changes.
Not in it: /etc/posthorn/environment, files that the settings name (passphrase, certificates, keys,
authorities), what 'systemctl edit' wrote, the log, and all that comes in after it.`,
    )
    .action(async (dir: string | undefined, options: MakeOptions, command: Command) => {
      if (options.withKey && options.withoutKey) {
        command.error('error: --with-key and --without-key exclude each other')
      }
      await make(placeOf(command), dir, options)
    })
  addCommands(backup, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'verify <file>',
    about: 'open a backup as a restore does, and check all of it; status 1 when it is damaged',
    options: [
      new Option(
        '--key <file>',
        'the appliance key of a backup without it (default: that of the data directory)',
      ),
      new Option('--passphrase-file <file>', passphraseHelp),
      plainOption(),
      new Option('--scratch <dir>', 'where there is room to unpack it (default: beside it)'),
    ],
    help: 'Example:\n  $ posthorn backup verify posthorn-20261122T030000000Z.tar.gz',
    run: runVerify,
  },
  {
    usage: 'list [dir]',
    about: 'list the backups of a directory, newest first',
    help: 'Example:\n  $ posthorn backup list /mnt/other',
    run: runList,
  },
]

/** Commander gives the options between the argument and the command. */
async function runList(
  dir: string | undefined,
  _options: unknown,
  command: Command,
): Promise<void> {
  await list(placeOf(command), dir)
}

/**
 * The backup runs beside the appliance: the copy is made between the appliance's writes, and given
 * up when it would cost mail (`store/sqlite/copy.ts`). As root, the command first becomes the owner
 * of the data directory: the nightly job could not remove files of root's.
 */
async function make(
  place: CommandPlace,
  dir: string | undefined,
  options: MakeOptions,
): Promise<void> {
  const { backup } = settingsOf(place)
  // Read before the process becomes another user: only root may be able to read the passphrase.
  const given = givenPassphrase(options.passphraseFile, backup.passphraseFile)
  becomeOwner(place)
  await requireDataDir(place)
  // Checked now: a backup with another database's key would be found out only at its restore.
  const { openOwnKey } = await import('../app/own-database.js')
  await openOwnKey(databaseOf(place))
  const made = await makeBackup({
    ...databaseOf(place),
    configFile: place.configFile,
    dir: directoryOf(place, dir, backup.dir),
    clock: systemClock,
    withKey: options.withKey ?? (options.withoutKey ? false : backup.withKey),
    compress: options.compress === false ? false : backup.compress,
    passphrase: await passphraseFor(options, given),
    // Progress is for people: cron would mail it.
    onStage: process.stderr.isTTY && !place.json ? progress() : undefined,
    signal: stopSignal('The backup was stopped; nothing of it is left'),
  })
  await sayMade(place, made)
}

/**
 * Aborts at Ctrl-C and at a shutdown. Work under way stops between two pieces, so that nothing of it stays behind.
 * The exit status is the one a shell reports for a signal, so that scripts can tell the two apart.
 */
function stopSignal(message: string): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      const status = 128 + constants.signals[signal]
      stop.abort(new OperatorError(message, { status, code: 'interrupted' }))
    })
  }
  return stop.signal
}

/**
 * A named directory wins over backup.dir. Without either the backup goes beside the database, which
 * is better than nowhere.
 */
const directoryOf = (
  { dataDir }: CommandPlace,
  named: string | undefined,
  setting: string,
): string => resolve(named ?? (setting === '' ? join(dataDir, 'backups') : setting))

/**
 * A typed passphrase is asked for twice: a typing mistake would be found out at the restore, when
 * it is too late. One from a file is taken as it is.
 */
async function passphraseFor(
  options: MakeOptions,
  given: string | undefined,
): Promise<string | undefined> {
  if (given !== undefined || !options.encrypt) return given && checkPassphrase(given)
  const passphrase = checkPassphrase(await askPassphrase('Passphrase of the backup'))
  if (passphrase === (await askPassphrase('The same passphrase again'))) return passphrase
  throw new OperatorError('The two passphrases are not the same')
}

/** A remark for each new percent, not for each page: stderr of cron is mailed to somebody. */
function progress(): (stage: BackupStage) => void {
  let last = ''
  return (stage) => {
    const line =
      stage.kind === 'copy'
        ? `Copying: ${Math.floor((100 * Math.min(stage.copied, stage.ofBytes)) / stage.ofBytes)} %`
        : stage.kind === 'check'
          ? 'Checking the copy'
          : 'Packing'
    if (line !== last) remark(line)
    last = line
  }
}

/**
 * Whoever holds a backup with the key can sign as every domain of the appliance; whoever holds one
 * without it can restore nothing alone. Both are said now, when the operator can still act on it.
 */
async function sayMade(
  place: CommandPlace,
  { file, sizeBytes, tookMs, manifest, problem }: MadeBackup,
) {
  const { json } = place
  const { url } = databaseOf(place)
  const encrypted = (await readPublicHead(file)) !== undefined
  const problems = problem === undefined ? [] : [`${problem.found}: '${problem.fix}'`]
  if (json) return sayJson({ file, sizeBytes, tookMs, encrypted, ...manifest, problems })
  const size = sizeBytes < 1_024 ? `${sizeBytes} bytes` : shownBytes(sizeBytes)
  say(`Made ${file}: ${size}, checked, in ${(tookMs / 1_000).toFixed(1)} s`)
  for (const text of problems) remark(`warning: ${text}`)
  if (url !== undefined) {
    const { says } = await askArchive(url, systemClock)
    remark(
      `It has the appliance key and the settings. The database is not in it, as it is a PostgreSQL with backups of its own: ${says}`,
    )
  }
  if (!manifest.withKey) {
    const key = manifest.keyCheck === null ? '' : ` ${keyNameOf(manifest.keyCheck)}`
    remark(
      `The appliance key${key} is not in it: keep a copy of that apart, or nobody can use the backup`,
    )
  } else if (!encrypted) {
    remark(
      'It has the appliance key and is not encrypted: whoever reads it can sign as your domains (--encrypt, --without-key)',
    )
  }
}

/** Options of `backup verify`. */
interface VerifyOptions {
  key?: string
  passphraseFile?: string
  plain?: true
  scratch?: string
}

/**
 * Unpacks and checks the whole backup, as a restore would; the running appliance is not touched.
 */
async function runVerify(given: string, _options: unknown, command: Command): Promise<void> {
  // --passphrase-file is an option of 'backup' as well, which takes it first.
  const options = command.optsWithGlobals<VerifyOptions>()
  const place = placeOf(command)
  const file = resolve(given)
  const own = applianceKeyFile(place.dataDir)
  // Without a key file only the database itself can be checked, which the answer then says.
  const keyFile = options.key ?? (existsSync(own) ? own : undefined)
  const { manifest, key } = await verifyBackup(file, {
    scratch: resolve(options.scratch ?? dirname(file)),
    keyFile,
    ...opening(place, options),
    signal: stopSignal('The check was stopped; nothing of it is left'),
  })
  if (place.json) return sayJson({ file, sound: true, key, ...manifest })
  say(`${file} is sound`)
  sayFields({
    Made: shownTime(Date.parse(manifest.madeAt)),
    By: `Posthorn ${manifest.posthorn}, schema ${manifest.schema}`,
    ...(hasDatabase(manifest)
      ? {
          Rows: Object.values(manifest.rows)
            .reduce((sum, count) => sum + count, 0)
            .toLocaleString('en-GB'),
        }
      : { Database: 'not in it, as it is a PostgreSQL with backups of its own' }),
    Key: manifest.withKey
      ? 'in it, and belongs to the database'
      : key === 'apart'
        ? 'not in it, and not compared (--key)'
        : `not in it; that of ${keyFile} belongs to the database`,
    ...(manifest.keyCheck !== null && { 'Needs the key': keyNameOf(manifest.keyCheck) }),
  })
}

/**
 * The passphrase of an encrypted backup, given or asked for. A given one is read at once, as the command may
 * become a user who may not read it; a fault in it is told only if it is needed. Where a passphrase is set, only
 * an encrypted backup is taken, unless `plain` says otherwise.
 */
export function opening(
  place: CommandPlace,
  { passphraseFile, plain }: { passphraseFile?: string; plain?: true },
): { passphrase: () => Promise<string>; onlyEncrypted: boolean } {
  let given: () => string | undefined
  let isSet = true
  try {
    const passphrase = givenPassphrase(passphraseFile, settingsOf(place).backup.passphraseFile)
    isSet = passphrase !== undefined
    given = () => passphrase
  } catch (error) {
    given = () => {
      throw error
    }
  }
  return {
    passphrase: async () => given() ?? (await askPassphrase('Passphrase of the backup')),
    onlyEncrypted: isSet && plain !== true,
  }
}

/**
 * Read from the files themselves, not from a record of them: backups may have been copied here from
 * elsewhere.
 */
async function list(place: CommandPlace, named: string | undefined): Promise<void> {
  const dir = directoryOf(place, named, settingsOf(place).backup.dir)
  const found = await Promise.all(
    (await findBackups(dir)).map(async (one) => {
      // Where the file may be read, its bytes decide; its name only claims it.
      const isEncrypted = await readPublicHead(one.file).then(
        (head) => head !== undefined,
        () => one.encrypted,
      )
      return { ...one, encrypted: isEncrypted, isMisnamed: one.encrypted && !isEncrypted }
    }),
  )
  if (place.json) {
    return sayJson(
      found.map(({ madeAt, isMisnamed: _, ...one }) => ({ ...one, madeAt: jsonTime(madeAt) })),
    )
  }
  sayTable(
    ['MADE', 'SIZE', 'ENCRYPTED', 'FILE'],
    found.map(({ madeAt, sizeBytes, encrypted, isMisnamed, file }) => [
      shownTime(madeAt),
      shownBytes(sizeBytes),
      encrypted ? 'yes' : isMisnamed ? 'NO, though its name says so' : 'no',
      file,
    ]),
    `No backups in ${dir}`,
  )
}

/** Where the passphrase of a backup is: the option's file, else the settings' file, else the environment. */
const givenPassphrase = (option: string | undefined, setting: string) =>
  passphraseOf(option ?? setting, process.env)

/**
 * Asks for the passphrase at the terminal without showing it; throws OperatorError without a terminal.
 */
async function askPassphrase(question: string): Promise<string> {
  if (!process.stdin.isTTY) {
    throw new OperatorError(
      'The passphrase is missing: --passphrase-file names a file that has it, or put it into POSTHORN_BACKUP_PASSPHRASE',
    )
  }
  process.stderr.write(`${question}: `)
  // readline shows what is typed on its output, so it gets an output that shows nothing.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    const answer = await lines.question('')
    if (answer === '') throw new OperatorError('No passphrase was given')
    return answer
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
