import { type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import { applianceKeyFile } from '../app/files.js'
import { lockDataDir } from '../app/lock.js'
import {
  addNewestKey,
  dropEndedKeys,
  endOlderKeys,
  keyNameOf,
  openApplianceKey,
  readKeyFile,
} from '../config/index.js'
import { addCommands, type CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed } from './confirm.js'
import { type CliDeps, withStore } from './database.js'
import { span } from './option-values.js'
import { jsonTime, remark, say, sayJson, sayTable, shownTime, warn } from './output.js'
import { becomeOwner, type CommandPlace, databaseOf, placeOf, settingsOf } from './place.js'

/** `posthorn key-file`: the appliance key, which seals the secrets of the database and signs links. */
export function keyFileCommands(program: Command): void {
  const key = program
    .command('key-file')
    .description('the appliance key: it seals the secrets in the database and signs links in mail')
  addCommands(key, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'show',
    isDefault: true,
    about: 'show which keys are in the file, by their names, and until when each is understood',
    help: `Example:
  $ posthorn key-file show

By the name of a key a backup says which one it needs ('posthorn backup verify'). No secret is shown.`,
    run: runShow,
  },
  {
    usage: 'rotate',
    about: 'make a new appliance key, and seal every secret of the database by it',
    options: [
      ...askOptions(),
      new Option(
        '--old-links <span>',
        'how long links of before go on to work: 90d; 0s for a key that leaked (default: key_file.old_links)',
      ).argParser(span('90d', '0s', '3650d')),
    ],
    help: `The appliance has to be stopped: with some thousand domains it takes seconds.

Example:
  $ sudo systemctl stop posthorn
  $ sudo posthorn key-file rotate
  $ sudo systemctl start posthorn

A kill anywhere is finished by the next start. Backups of before need the key of before, which the file has until links of
before work no more: keep a copy of it for older ones.`,
    run: runRotate,
  },
]

/** The keys by their names, the newest first. */
async function runShow(_options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  becomeOwner(place)
  const keys = keysOf(place)
  if (place.json) {
    return sayJson({ keys: keys.map(({ name, until }) => ({ name, until: jsonTime(until) })) })
  }
  sayTable(
    ['KEY', 'SEALS AND SIGNS', 'UNDERSTOOD UNTIL'],
    keys.map(({ name, until }, i) => [
      name,
      i === 0 ? 'yes' : 'no',
      until === null ? 'it is replaced' : shownTime(until),
    ]),
    '',
  )
}

function keysOf({ dataDir }: CommandPlace) {
  const file = applianceKeyFile(dataDir)
  const { checks } = openApplianceKey(file)
  return readKeyFile(file).map(({ until }, i) => ({ name: keyNameOf(checks[i] ?? ''), until }))
}

/** The file is changed first, by one rename: each start from then on finishes the rest. */
async function runRotate(
  options: AskOptions & { oldLinks?: number },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { oldLinks = settingsOf(place).keyFile.oldLinks } = options
  const done = await withStore(place, async (deps) => {
    const { dataDir } = place
    // No appliance may start meanwhile, and a running one has the old key in memory.
    const unlock = lockDataDir(dataDir)
    try {
      return await rotate(place, deps, { ...options, oldLinks })
    } finally {
      unlock()
    }
  })
  if (done === undefined) return
  const { resealed, unreadable, isBrokenOff } = done
  const [newest, before] = keysOf(place)
  const names = Object.entries(unreadable).map(([name, count]) => `${name} (${count})`)
  if (names.length > 0) {
    warn(`no key opens some secrets, which were left as they are: ${names.join(', ')}`)
  }
  if (place.json) {
    const until = jsonTime(before?.until ?? null)
    return sayJson({ key: newest?.name, resealed, unreadable, oldLinksUntil: until, isBrokenOff })
  }
  if (isBrokenOff) say('The rotation that was broken off is finished; no other key was made')
  say(
    `The appliance key is ${newest?.name} now; ${counted(resealed, 'secret', 'secrets')} sealed anew`,
  )
  if (before?.until) remark(`Links of before work until ${shownTime(before.until)}`)
  remark('Keep a copy of the key file apart from the database; make a backup now')
}

async function rotate(
  place: CommandPlace,
  { store, clock }: CliDeps,
  options: AskOptions & { oldLinks: number },
) {
  const { finishRotation, refuseOthers, secretsNow } = await import('../app/reseal.js')
  const database = databaseOf(place)
  const file = applianceKeyFile(place.dataDir)
  await refuseOthers(database)
  const now = clock.now()
  const until = now + options.oldLinks
  const { secrets, isBrokenOff } = await secretsNow(store.read, openApplianceKey(file))
  const [newest] = keysOf(place)
  const all = counted(secrets, 'secret', 'secrets')
  const intent = {
    to: isBrokenOff
      ? `finish the rotation of the appliance key of ${place.dataDir} that was broken off`
      : `replace the appliance key of ${place.dataDir}`,
    facts: [
      options.oldLinks === 0
        ? 'Links in mail that was sent stop working at once, those to unsubscribe too, and bounces of it are not understood'
        : `Links in mail that was sent work until ${shownTime(until)}`,
      isBrokenOff
        ? `${newest?.name} stands first already, and seals ${all} then; no other key is made`
        : `The key is ${newest?.name} now; ${all} are sealed anew`,
      'Backups of before need the key of before',
    ],
    counts: {
      keys: readKeyFile(file).length,
      key: newest?.name,
      secrets,
      isBrokenOff,
      oldLinksUntil: jsonTime(until),
    },
    how: 'moderate',
  } as const
  if (!(await confirmed(place, options, intent))) return undefined
  // A rotation that was broken off has already made its key: each further try would make one more.
  if (!isBrokenOff) addNewestKey(file, until)
  const done = await finishRotation({ store, key: openApplianceKey(file), database })
  // Not before, as data sealed with the older keys could no longer be opened.
  if (isBrokenOff) endOlderKeys(file, until)
  dropEndedKeys(file, now)
  return { ...done, isBrokenOff }
}
