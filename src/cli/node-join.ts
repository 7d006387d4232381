import { chmodSync, chownSync, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Command, Option } from 'commander'
import { configFile } from '../app/files.js'
import { invitingOrigin, prepareInvitation, requireNodes } from '../app/invite-node.js'
import {
  placeBundle,
  placeSettings,
  readBundle,
  refuseOccupied,
  withOwnSettings,
} from '../app/node-bundle.js'
import { settings } from '../config/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import { joinPath, readInviteCode } from '../nodes/index.js'
import type { CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { jsonTime, remark, say, sayJson, sayNext } from './output.js'
import {
  becomeOwner,
  type CommandPlace,
  databaseOf,
  placeOf,
  settingsOf,
  systemConfigFile,
  systemDataDir,
} from './place.js'

/** `posthorn node invite` and `join`: how a further machine becomes a node. */
export const nodeJoinRows: readonly CommandRow[] = [
  {
    usage: 'invite',
    about: 'make a code by which one more machine joins, good once and for an hour',
    options: [
      new Option(
        '--at <url>',
        'where that machine reaches a running appliance (default: http.public.url)',
      ),
    ],
    help: `Examples:
  $ posthorn node invite
  $ posthorn node invite --at http://10.0.0.1:8080

Who has the code is given the appliance key, the database with its password and the settings that are no machine's own,
sealed with it: hand it on as you would these. The private and the public listener of each node answer it.`,
    run: runInvite,
  },
  {
    usage: 'join <code>',
    about: 'make this machine one of the nodes, by a code that one of them has given',
    options: [
      new Option('--name <name>', 'by which the others are to know it (default: the host name)'),
      new Option('--address <ip:port>', 'where the others reach it (node.address)'),
      new Option('--host-name <name>', 'as other mail servers know it (outbound.helo_name)'),
      new Option('--private-host <ip>', 'where its API and pages listen (http.private.host)'),
    ],
    help: `Examples:
  $ sudo posthorn node join 'CODE'
  $ sudo posthorn node join - --name mail2 --address 10.0.0.2:8027 --host-name mail2.example.com --private-host 10.0.0.2

Writes the key into an empty data directory, for its owner alone, and the settings beside it, of the packaged service
into /etc/posthorn; nothing is written over. What no option says and each machine has for itself is named. '-' reads the code from standard input, so that no list of processes shows it.`,
    run: runJoin,
  },
]

async function runInvite(options: { at?: string }, command: Command): Promise<void> {
  const place = placeOf(command)
  const whole = { ...place, config: settingsOf(place) }
  const url = requireNodes(whole)
  const at = addressOf(options.at ?? whole.config.http.public.url)
  // Before the process becomes the data directory's owner.
  const keep = prepareInvitation(whole, at)
  const { code, until, left, notHandedOn } = await withStore(place, keep)
  if (place.json) return sayJson({ code, until: jsonTime(until), left, notHandedOn })
  say(code)
  sayNext(`\nNext, on the other machine, within an hour:\n  sudo posthorn node join '${code}'`)
  if (notHandedOn.length > 0)
    remark(`Not handed on, as they are of this process's environment: ${notHandedOn.join(', ')}`)
  if (/@(localhost|127\.|\[::1\])/.test(`@${new URL(url).hostname}`))
    remark(
      'The database is named by an address of this machine itself (store.url), which another machine does not reach',
    )
}

function addressOf(text: string): string {
  if (text === '')
    throw new OperatorError(
      'http.public.url is empty: say by --at where the other machine reaches an appliance, such as --at http://10.0.0.1:8080',
    )
  const at = invitingOrigin(text)
  if (at === undefined)
    throw new OperatorError(`--at: ${text} is no address such as http://10.0.0.1:8080`)
  return at
}

const askedMs = 15_000

interface JoinOptions {
  name?: string
  address?: string
  hostName?: string
  privateHost?: string
}

/** The options' settings. */
function ownSettingsOf(options: JoinOptions): Readonly<Record<string, string>> {
  const { node, outbound, http } = settings
  const all = [
    ['--name', 'node.name', node.name, options.name],
    ['--address', 'node.address', node.address, options.address],
    ['--host-name', 'outbound.helo_name', outbound.heloName, options.hostName],
    ['--private-host', 'http.private.host', http.private.host, options.privateHost],
  ] as const
  const own: Record<string, string> = {}
  for (const [option, setting, { read }, value] of all) {
    if (value === undefined) continue
    const found = read(value)
    if ('expected' in found) throw new OperatorError(`${option}: it must be ${found.expected}`)
    own[setting] = value
  }
  return own
}

/** Where the settings go: of the packaged service to where it reads them, which only root may write. */
const isOfService = (dataDir: string) =>
  process.getuid?.() === 0 && dataDir === systemDataDir && existsSync(dirname(systemConfigFile))

async function runJoin(given: string, options: JoinOptions, command: Command): Promise<void> {
  const place = placeOf(command)
  const { dataDir } = place
  const isService = isOfService(dataDir)
  const settingsFile = isService ? systemConfigFile : configFile(dataDir)
  if (place.configNamed)
    throw new OperatorError(
      `The settings are written to ${settingsFile}: run this without --config and POSTHORN_CONFIG, which name others`,
    )
  const invite = readInviteCode(given === '-' ? readFileSync(0, 'utf8') : given)
  const own = ownSettingsOf(options)
  if (!isService) becomeOwner(place)
  // Before the code is used up.
  refuseOccupied(dataDir, settingsFile)
  const { nodeNameOf } = await import('../config/index.js')
  const called = nodeNameOf({ name: options.name ?? '' })
  const bundle = withOwnSettings(readBundle(invite.unseal(await ask(invite, called))), own)
  placeSettings(dataDir, settingsFile, bundle)
  if (isService) {
    // They have the database's password, and the service reads them by its group.
    chownSync(settingsFile, 0, statSync(dataDir).gid)
    chmodSync(settingsFile, 0o640)
    becomeOwner(place)
  }
  placeBundle(dataDir, bundle)
  const problem = await whyNotReached(place, settingsFile)
  const { left } = bundle
  if (place.json) return sayJson({ dataDir, configFile: settingsFile, node: called, left, problem })
  say(`Key and settings are written: ${dataDir}, ${settingsFile}`)
  if (problem !== null) remark(`The database does not answer from here yet: ${problem}`)
  sayNext(`
Next:${left.length === 0 ? '' : `\n  set in ${settingsFile} what is this machine's own: ${left.join(', ')}`}
  posthorn config check
  posthorn serve                run the appliance, or: systemctl enable --now posthorn
  posthorn node list            all of them`)
}

async function ask({ at, lookup }: { at: string; lookup: string }, name: string): Promise<Buffer> {
  let response: Response
  try {
    response = await fetch(at + joinPath, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ lookup, name }),
      redirect: 'error',
      signal: AbortSignal.timeout(askedMs),
    })
  } catch (error) {
    throw new OperatorError(
      `${at} cannot be asked from here: ${messageOf(error)}. 'posthorn node invite --at URL' names another address of an appliance that runs`,
    )
  }
  const answer: unknown = await response.json().catch(() => undefined)
  const said = (name: string) =>
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined
  const sealed = said('sealed')
  if (response.ok && typeof sealed === 'string') return Buffer.from(sealed, 'base64')
  if (response.status === 404 && said('code') === 'not_found')
    throw new OperatorError(
      `${said('error')}. 'posthorn node invite' makes another; if nobody of yours has used this one, change the password of the database: who used it has that, and the appliance key`,
    )
  throw new OperatorError(`${at} does not hand it out: it answers with ${response.status}`)
}

/** Null if the database is reached and belongs to this key. */
async function whyNotReached(place: CommandPlace, settingsFile: string): Promise<string | null> {
  try {
    const { openOwnKey } = await import('../app/own-database.js')
    await openOwnKey(databaseOf({ ...place, configFile: settingsFile }))
    return null
  } catch (error) {
    return messageOf(error)
  }
}
