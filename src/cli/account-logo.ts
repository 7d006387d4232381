import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import {
  type Account,
  findAccount,
  logoOf,
  maxLogoBytes,
  readLogo,
  removeLogo,
  setLogo,
} from '../accounts/index.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { withStore } from './database.js'
import { say, sayJson } from './output.js'
import { placeOf } from './place.js'

/** The picture on the pages that an account's recipients see. */
export const accountLogoRows: readonly CommandRow[] = [
  {
    usage: 'logo <account> [file]',
    about: "set, show or remove the logo on an account's preference centre",
    options: [...askOptions(), new Option('--remove', 'take the logo away')],
    help: `The file (- reads stdin) is a PNG, JPEG or WebP picture of at most ${maxLogoBytes / 1024} KiB, shown 64 pixels high or less.
Without it, the command tells what is set.

Examples:
  $ posthorn account logo 'City library' logo.png
  $ posthorn account logo 'City library' --remove`,
    run: runLogo,
  },
]

/**
 * The picture is read and judged before the database is opened, so that a wrong file changes
 * nothing. The bytes decide what the picture is, not its name, as recipients' browsers get it from
 * us.
 */
async function runLogo(
  idOrName: string,
  file: string | undefined,
  options: { remove?: true } & AskOptions,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { remove } = options
  if (remove && file !== undefined) command.error('error: give a file or --remove, not both')
  // 0 is the file descriptor of stdin.
  const logo = file === undefined ? undefined : readLogo(readFileSync(file === '-' ? 0 : file))
  const done = await withStore(place, async ({ store }) => {
    const found = await findAccount(store.read, idOrName)
    const before = await logoOf(store.read, found.id)
    // A first logo takes nothing away, so it needs no question.
    const replaces = before !== undefined && (remove || logo !== undefined)
    if (replaces || options.dryRun) {
      const intent = replacingOf(found, before, logo)
      if (!(await confirmed(place, options, intent))) return
    }
    if (logo !== undefined) await store.write((tx) => setLogo(tx, found.id, logo))
    if (remove) await store.write((tx) => removeLogo(tx, found.id))
    return { found, now: await logoOf(store.read, found.id) }
  })
  if (done === undefined) return
  const { found, now } = done
  const shown = now && { contentType: now.contentType, sizeBytes: now.bytes.length }
  if (place.json) return sayJson({ id: found.id, name: found.name, logo: shown ?? null })
  say(
    shown === undefined
      ? `"${found.name}" has no logo`
      : `"${found.name}" has a logo: ${shown.contentType}, ${shown.sizeBytes} bytes`,
  )
}

type Logo = NonNullable<Awaited<ReturnType<typeof logoOf>>>

/** The old picture is not kept anywhere, which is why a replacement asks first. */
function replacingOf(
  { id, name }: Account,
  before: Logo | undefined,
  logo: Logo | undefined,
): Intent {
  const sizeOf = (one: Logo | undefined) => one?.bytes.length ?? null
  return {
    to: `${logo === undefined ? 'take the logo away from' : 'set the logo of'} "${name}"`,
    facts: [
      before === undefined
        ? 'It has no logo now'
        : `The one it has (${before.contentType}, ${before.bytes.length} bytes) is not kept`,
    ],
    counts: { id, beforeBytes: sizeOf(before), thenBytes: sizeOf(logo) },
    how: 'mild',
  }
}
