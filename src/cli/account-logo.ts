import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import {
  findAccount,
  logoOf,
  maxLogoBytes,
  readLogo,
  removeLogo,
  setLogo,
} from '../accounts/index.js'
import { OperatorError } from '../errors/index.js'
import { withStore } from './database.js'
import { say, sayJson } from './output.js'
import { placeOf } from './place.js'

/** The picture on the pages that an account's recipients see. */
export function accountLogoCommand(account: Command): void {
  account
    .command('logo <account> [file]')
    .description("set, show or remove the logo on an account's preference centre")
    .option('--remove', 'take the logo away')
    .addHelpText(
      'after',
      `
The file is a PNG, JPEG or WebP picture of at most ${maxLogoBytes / 1024} KiB, shown 64 pixels high or less.
Without it, the command tells what is set.

Examples:
  $ posthorn account logo 'City library' logo.png
  $ posthorn account logo 'City library' --remove`,
    )
    .action(
      async (
        idOrName: string,
        file: string | undefined,
        { remove }: { remove?: true },
        command: Command,
      ) => {
        const place = placeOf(command)
        if (remove && file !== undefined) {
          throw new OperatorError('Give a file or --remove, not both')
        }
        const logo = file === undefined ? undefined : readLogo(readFileSync(file))
        const { found, now } = await withStore(place, async ({ store }) => {
          const found = await findAccount(store.read, idOrName)
          if (logo !== undefined) await store.write((tx) => setLogo(tx, found.id, logo))
          if (remove) await store.write((tx) => removeLogo(tx, found.id))
          return { found, now: await logoOf(store.read, found.id) }
        })
        const shown = now && { contentType: now.contentType, sizeBytes: now.bytes.length }
        if (place.json) return sayJson({ id: found.id, name: found.name, logo: shown ?? null })
        say(
          shown === undefined
            ? `"${found.name}" has no logo`
            : `"${found.name}" has a logo: ${shown.contentType}, ${shown.sizeBytes} bytes`,
        )
      },
    )
}
