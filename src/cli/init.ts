import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { applianceKeyFile, configFile } from '../app/files.js'
import { systemClock } from '../clock/index.js'
import { packageFile, withoutPassword } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import { firstLink, sayFirstLink } from './first-link.js'
import { port, storeUrl } from './option-values.js'
import { say, sayFields, sayJson, sayNext } from './output.js'
import {
  becomeOwner,
  type CommandPlace,
  databaseIn,
  databaseOf,
  placeOf,
  refuseHalfRestored,
  settingsOf,
  storeSettingsOf,
} from './place.js'
import { type SandboxPorts, sandboxSettings, setUpSandbox } from './sandbox-set-up.js'

/** Options of `posthorn init`. */
interface InitOptions extends Partial<SandboxPorts> {
  sandbox?: boolean
  store?: string
  passwordFile?: string
}

/** `posthorn init`: makes a data directory, or brings an existing one up to date. */
export function initCommand(program: Command): void {
  program
    .command('init')
    .description('make the data directory: database, appliance key, settings')
    .option(
      '--store <url>',
      'keep everything in this PostgreSQL, instead of a file beside the key',
      storeUrl,
    )
    .option('--password-file <file>', 'with --store: the file that has its password')
    .option('--sandbox', 'for trying out: also an account, an API key and the domain example.test')
    .option('--private-port <port>', 'with --sandbox: port of the API (default: 8080)', port)
    .option(
      '--public-port <port>',
      'with --sandbox: port of the public pages (default: 8081)',
      port,
    )
    .option(
      '--smtp-port <port>',
      'with --sandbox: port of the built-in inbox (default: 2525)',
      port,
    )
    .option(
      '--inbound-port <port>',
      'with --sandbox: port of the listener for bounces (default: 2526)',
      port,
    )
    .addHelpText(
      'after',
      `
What is there already is kept, whatever the options say; only --sandbox makes a new API key each
time, as the old one cannot be shown again. The address and the file of the password are written into
the settings, and an address of POSTHORN_STORE_URL too, without its password. Where there are settings
already, url and password_file have their place in [store] there, and --store is left out.

Examples:
  $ posthorn init --data /var/lib/posthorn
  $ posthorn init --store 'postgres://posthorn@db.example.net/posthorn?sslmode=verify-full' \\
      --password-file /etc/posthorn/store-password
  $ posthorn init --sandbox --json`,
    )
    .action(async (options: InitOptions, command: Command) => {
      const { privatePort, publicPort, smtpPort, inboundPort } = options
      const ports = [privatePort, publicPort, smtpPort, inboundPort]
      if (!options.sandbox && ports.some((given) => given !== undefined)) {
        command.error(
          'error: ports can be given only with --sandbox; otherwise they are in the settings',
        )
      }
      if (options.passwordFile !== undefined && options.store === undefined) {
        command.error('error: --password-file is for --store')
      }
      await initialise(placeOf(command), options)
    })
}

/**
 * May be run again at any time. It keeps what is there, as a second appliance key would make all
 * sealed data unreadable.
 */
async function initialise(found: CommandPlace, options: InitOptions): Promise<void> {
  const { dataDir, json } = found
  const tell = json ? () => {} : say
  const own = configFile(dataDir)
  // A sandbox does not use the settings of the machine's real appliance (/etc).
  const file = options.sandbox && !found.configNamed ? own : (found.configFile ?? own)
  const place = { ...found, configFile: file }
  const settingsThere = found.configNamed || existsSync(file)
  refuseHalfRestored(dataDir)
  // Before anything is made, so that wrong settings leave nothing behind.
  if (settingsThere) checkSettings(place, options)
  const settings = settingsThere ? undefined : initialSettings(options)
  // A missing file of a password is a wrong setting too.
  if (settings !== undefined) databaseIn(place, settings)

  tell(`Data directory ${dataDir}: ${existsSync(dataDir) ? 'exists and is kept' : 'made'}`)
  // Nobody else may read the key, mails and addresses.
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  becomeOwner(place)
  // Loaded only here: loading the database takes longer than a refusal.
  const { makeDatabase, refuseForeignKey } = await import('../app/own-database.js')
  await refuseForeignKey(settings === undefined ? databaseOf(place) : databaseIn(place, settings))
  tell(`Settings ${file}: ${settingsThere ? 'exist and are kept' : 'written'}`)
  if (settings !== undefined) writeFileSync(file, settings, { flag: 'wx', mode: 0o600 })
  const keyFile = applianceKeyFile(dataDir)
  tell(`Appliance key ${keyFile}: ${existsSync(keyFile) ? 'exists and is kept' : 'made'}`)
  const wasThere = await makeDatabase(databaseOf(place), systemClock)
  tell(`Database: ${wasThere ? 'up to date' : 'made'}`)
  if (options.sandbox) await finishSandbox(place, tell)
  else await finish(place, keyFile)
}

/**
 * A sandbox never sends anything off the machine. Existing settings that would do so are refused
 * before anything is made.
 */
function checkSettings(place: CommandPlace, options: InitOptions): void {
  const { sandbox, store: wanted } = options
  const { outbound, store } = settingsOf(place)
  const file = options.passwordFile && resolve(options.passwordFile)
  if (wanted !== undefined && withoutPassword(store.url) !== wanted) {
    throw new OperatorError(
      `store.url is ${store.url === '' ? 'not set' : 'another one'} in ${place.configFile}, which is kept. Write url = ${JSON.stringify(wanted)} into [store] there, and run this without --store`,
    )
  }
  if (file !== undefined && store.passwordFile !== file) {
    throw new OperatorError(
      `store.password_file is ${store.passwordFile === '' ? 'not set' : 'another one'} in ${place.configFile}, which is kept. Write password_file = ${JSON.stringify(file)} into [store] there, and run this without --password-file`,
    )
  }
  if (!sandbox || outbound.route === 'sandbox') return
  throw new OperatorError(
    `outbound.route is "${outbound.route}" in ${place.configFile}, so mail would leave this machine. Choose another --data directory for the sandbox`,
  )
}

/** The example file has every setting with its default as a comment, so it is the reference too. */
function initialSettings(options: InitOptions): string {
  const text = options.sandbox
    ? sandboxSettings(options)
    : readFileSync(packageFile('config/posthorn.example.toml'), 'utf8')
  const lines = storeLines(options)
  if (options.sandbox) {
    const all = Object.values(lines).join('')
    return all === '' ? text : `${text}\n[store]\n${all}`
  }
  return Object.entries(lines).reduce(
    (written, [name, line]) =>
      written.replace(
        new RegExp(`(\\n\\[store\\]\\n[^[]*?)# ${name} = ""\\n`),
        (_, before: string) => before + line,
      ),
    text,
  )
}

/**
 * Writes into the settings a PostgreSQL that an option or the environment names, so that a shell without it finds the
 * database too.
 */
function storeLines({ store, passwordFile }: InitOptions): Record<string, string> {
  const named = storeSettingsOf({ configFile: undefined })
  const url = store ?? withoutPassword(named.url)
  const file = passwordFile === undefined ? named.passwordFile : resolve(passwordFile)
  const line = (name: string, value: string) => `${name} = ${JSON.stringify(value)}\n`
  return {
    ...(url !== '' && { url: line('url', url) }),
    ...(url !== '' && file !== '' && { password_file: line('password_file', file) }),
  }
}

/** As long as nobody can log in, each run prints a new link for the first operator (`first-link.ts`). */
async function finish(place: CommandPlace, keyFile: string): Promise<void> {
  const { dataDir, configFile: file, json } = place
  const setupUrl = await firstLink(place)
  if (json) {
    const firstUrl = setupUrl ?? null
    sayJson({ dataDir, configFile: file ?? null, applianceKeyFile: keyFile, setupUrl: firstUrl })
    return
  }
  sayNext(`
Next:
  posthorn account create NAME  who sends
  posthorn key create NAME      how its application shows who it is
  posthorn domain add NAME      what it sends from, with the DNS records to publish
  posthorn serve                run the appliance`)
  sayFirstLink(setupUrl, settingsOf(place).outbound.heloName)
  say(
    `\nKeep a copy of ${keyFile} elsewhere: without it no domain can sign. 'posthorn backup' makes one of ${databaseOf(place).url === undefined ? 'everything' : 'all but the database, whose backups are of its own'}; with backup.dir in ${file ?? 'the settings'} one is made each night.`,
  )
}

/**
 * A sandbox is usable at once: account, key and a domain that counts as verified. The key is new
 * each time, since only the hash of an earlier key is stored.
 */
async function finishSandbox(place: CommandPlace, tell: (line: string) => void): Promise<void> {
  const sandbox = await setUpSandbox(place, settingsOf(place).http, tell)
  const setupUrl = await firstLink(place)
  if (place.json) return sayJson({ ...sandbox, setupUrl: setupUrl ?? null })
  say()
  sayFields({
    'Account id': sandbox.accountId,
    'API key': sandbox.apiKey,
    Domain: sandbox.domain,
    'Private URL': sandbox.privateUrl,
    'Public URL': sandbox.publicUrl,
  })
  sayNext('\nNext: posthorn serve')
  sayFirstLink(setupUrl, settingsOf(place).outbound.heloName)
}
